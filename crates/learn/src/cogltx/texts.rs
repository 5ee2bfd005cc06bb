use std::sync::Arc;

use pericope_api::{Span, TokenCounter};
use pericope_encode::Subwords;
use pericope_segment::blocks::blocks;

/// Bytes of text that are cut into blocks together: bounds the memory that this takes.
const PAGE: usize = 1 << 18;

/// Parts of a text, each ending at a line end of its second half, else at white space where there is some.
fn pages(text: &str) -> Vec<Span> {
    let mut found = Vec::new();
    let mut start = 0;
    while text.len() - start > PAGE {
        let near = text.floor_char_boundary(start + PAGE);
        let page = &text[start..near];
        let line = page.rfind('\n').filter(|&at| at > PAGE / 2);
        // What the page before was cut at begins this one.
        let white = line.or_else(|| page.rfind(char::is_whitespace)).filter(|&at| at > 0);
        let end = white.map_or(near, |at| start + at);
        found.push(Span::new(start, end));
        start = end;
    }
    found.push(Span::new(start, text.len()));
    found
}

/// Counts the tokens that the judge reads.
pub(crate) struct Counter(pub(crate) Arc<Subwords>);

impl TokenCounter for Counter {
    fn name(&self) -> &str {
        "judge"
    }

    fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
        ends.extend(self.0.located(text, usize::MAX).into_iter().map(|(_, range)| range.end));
    }
}

/// Texts, cut into blocks: what is kept of each block is its place, 24 bytes. Texts of more than 256 kB are cut at a line end first.
#[derive(Debug)]
pub struct Texts<'a> {
    texts: &'a [&'a str],
    blocks: Vec<(usize, Span)>,
    words: Arc<Subwords>,
    limit: usize,
}

impl<'a> Texts<'a> {
    /// Cuts texts into blocks of at most `limit` tokens, in the order of the texts.
    #[must_use]
    pub fn new(texts: &'a [&'a str], words: &Arc<Subwords>, limit: usize) -> Self {
        let counter = Counter(Arc::clone(words));
        let mut found = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            for page in pages(text) {
                let cut = blocks(page.of(text), &counter, limit).into_iter();
                found.extend(cut.map(|span| (i, Span::new(page.start + span.start, page.start + span.end))));
            }
        }
        Self { texts, blocks: found, words: Arc::clone(words), limit }
    }

    /// The number of blocks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks.len()
    }

    /// True where there is no block.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// The text of block `i` by its index, and its bytes there.
    #[must_use]
    pub fn place(&self, i: usize) -> Option<(usize, Span)> {
        self.blocks.get(i).copied()
    }

    /// The ids of block `i`.
    #[must_use]
    pub fn ids(&self, i: usize) -> Vec<u32> {
        self.text(i).map(|text| self.words.ids(text, self.limit)).unwrap_or_default()
    }

    /// The bytes of each token of block `i`, counted in its text.
    #[must_use]
    pub fn tokens(&self, i: usize) -> Vec<Span> {
        let (Some((_, span)), Some(text)) = (self.place(i), self.text(i)) else { return Vec::new() };
        let located = self.words.located(text, self.limit).into_iter();
        located.map(|(_, range)| Span::new(span.start + range.start, span.start + range.end)).collect()
    }

    fn text(&self, i: usize) -> Option<&'a str> {
        let (text, span) = self.place(i)?;
        self.texts.get(text)?.get(span.start..span.end)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::path::Path;

    use pericope_encode::Base;

    use super::{PAGE, Texts, pages};

    /// 24 bytes a block, however long the text and its blocks are: no ids and no text are kept.
    #[test]
    fn what_is_kept_of_a_block_is_its_place() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/training");
        let base = Base::open(&folder.display().to_string()).unwrap();
        for (sentences, limit) in [(300, 6), (3_000, 6), (3_000, 40)] {
            let own = "bread flour violin tune ridge. ".repeat(sentences);
            let own = [own.as_str()];
            let found = Texts::new(&own, &base.tokens, limit);
            assert!(found.len() * limit >= sentences, "{}", found.len());
            assert_eq!(size_of_val(found.blocks.as_slice()), 24 * found.len());
            assert!(found.blocks.capacity() <= 2 * found.len());
        }
    }

    #[test]
    fn long_texts_are_cut_into_pages_at_line_ends() {
        assert_eq!(pages("").len(), 1);
        let line = format!("{}\n", "word ".repeat(20));
        let titled = format!("Title\n{}", "word ".repeat(120_000));
        for text in [line.repeat(9_000), "word ".repeat(200_000), titled, "é".repeat(400_000)] {
            let found = pages(&text);
            assert!(found.len() > 2 && found.iter().all(|page| page.len() <= PAGE));
            assert_eq!(found.iter().map(|page| page.of(&text)).collect::<String>(), text);
            let ends = found.iter().skip(1).map(|page| text[page.start..].chars().next());
            let white = ends.filter(|c| c.is_some_and(char::is_whitespace)).count();
            assert!(white == found.len() - 1 || !text.contains(' '));
        }
    }
}
