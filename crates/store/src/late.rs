//! What the encoder reads of the chunks of a document: each by itself, or within the text around it.

use std::borrow::Cow;
use std::sync::Arc;

use pericope_api::{Chunk, Document, Span};

/// Bytes of a document that are read together, at most: several times what a window of 8,192 tokens holds. A longer chunk is read alone.
const TOGETHER: usize = 1 << 18;

/// What an encoder reads for the vector of a chunk.
#[derive(Debug, Clone)]
pub enum Encoded {
    /// A text by itself.
    Alone(String),
    /// The text around the chunk, and the bytes of the chunk in it.
    Within(Arc<Surroundings>, Span),
}

/// Text of a document that is read together, as a person reads it: tags gone, entities as characters.
#[derive(Debug)]
pub struct Surroundings {
    text: String,
    hash: u128,
}

impl Encoded {
    /// Returns the text of the chunk alone, as it is read.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Alone(text) => text,
            Self::Within(around, span) => span.of(&around.text),
        }
    }

    /// Returns all of the text that is read, and the bytes whose vector is wanted.
    #[must_use]
    pub fn within(&self) -> (&str, Span) {
        match self {
            Self::Alone(text) => (text.as_str(), Span::new(0, text.len())),
            Self::Within(around, span) => (around.text.as_str(), *span),
        }
    }

    /// Returns a text that differs wherever the vectors could: of a chunk that is read alone its text, else a word that changes
    /// with the text around it too.
    #[must_use]
    pub fn key(&self) -> Cow<'_, str> {
        match self {
            Self::Alone(text) => Cow::Borrowed(text.as_str()),
            Self::Within(around, span) => Cow::Owned(format!("{}..{} of {:032x}", span.start, span.end, around.hash)),
        }
    }
}

impl Default for Encoded {
    fn default() -> Self {
        Self::Alone(String::new())
    }
}

/// What is read of a document's chunks, in their order, each within the text from the first chunk to the last.
pub(crate) fn within_document(document: &Document, chunks: &[Chunk]) -> Vec<Encoded> {
    let mut found = Vec::with_capacity(chunks.len());
    let mut rest = chunks;
    while !rest.is_empty() {
        let (group, others) = rest.split_at(together(rest));
        rest = others;
        within(document, group, &mut found);
    }
    found
}

/// The number of the first chunks that are read together, at least one.
fn together(chunks: &[Chunk]) -> usize {
    let mut hull: Option<Span> = None;
    let fitting = chunks.iter().take_while(|chunk| {
        let grown = hull.map_or(chunk.span, |hull| hull.hull(&chunk.span));
        let fits = hull.is_none() || grown.len() <= TOGETHER;
        hull = Some(grown);
        fits
    });
    fitting.count()
}

/// Appends what is read of chunks that are read together.
fn within(document: &Document, chunks: &[Chunk], found: &mut Vec<Encoded>) {
    let mut cuts: Vec<usize> = chunks.iter().flat_map(|chunk| [chunk.span.start, chunk.span.end]).collect();
    cuts.sort_unstable();
    cuts.dedup();
    let mut text = String::new();
    // Where each cut lies in the text.
    let mut places = Vec::with_capacity(cuts.len());
    let mut before = None;
    for &cut in &cuts {
        if let Some(before) = before {
            text.push_str(&document.visible(Span::new(before, cut)));
        }
        places.push(text.len());
        before = Some(cut);
    }
    let place = |cut: usize| cuts.binary_search(&cut).ok().and_then(|i| places.get(i)).copied().unwrap_or(0);
    let hash = Chunk::content_hash(&text);
    let around = Arc::new(Surroundings { text, hash });
    found.extend(
        chunks.iter().map(|Chunk { span, .. }| {
            Encoded::Within(Arc::clone(&around), Span::new(place(span.start), place(span.end)))
        }),
    );
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_api::Rewrite;

    use super::*;

    fn chunk(start: usize, end: usize) -> Chunk {
        let span = Span::new(start, end);
        Chunk { document: "d".into(), ordinal: 0, span, heading_path: vec![], tokens: 2, hash: 0, context: None }
    }

    fn keys(document: &Document, chunks: &[Chunk]) -> Vec<String> {
        within_document(document, chunks).iter().map(|one| one.key().into_owned()).collect()
    }

    #[test]
    fn chunks_lie_within_what_a_person_reads() {
        let mut document = Document::from_sentences("d", &["<b>fish</b> &amp; chips", "and peas"]);
        let rewrite = |start, end, with: &str| Rewrite { span: Span::new(start, end), with: with.into() };
        document.rewrites = vec![rewrite(0, 3, ""), rewrite(7, 11, ""), rewrite(12, 17, "&")];
        // The last two overlap.
        let found = within_document(&document, &[chunk(0, 17), chunk(18, 23), chunk(20, 32)]);
        let (whole, _) = found[0].within();
        assert_eq!(whole, "fish & chips\nand peas");
        let texts: Vec<&str> = found.iter().map(Encoded::as_str).collect();
        assert_eq!(texts, ["fish &", "chips", "ips\nand peas"]);
        assert!(found.iter().all(|one| std::ptr::eq(one.within().0, whole)));
        assert_eq!(found[2].within().1, Span::new(9, 21));
    }

    #[test]
    fn a_key_changes_with_the_document() {
        let read = |text: &str| keys(&Document::from_sentences("d", &[text]), &[chunk(0, 5), chunk(6, 12)]);
        let before = read("Water boils.");
        assert_eq!(read("Water boils."), before);
        assert!(before[0] != before[1] && read("Water cools.").iter().zip(&before).all(|(now, before)| now != before));
    }

    #[test]
    fn long_documents_are_read_in_parts() {
        let text = "Water boils. ".repeat(60_000);
        let document = Document::from_sentences("d", &[text.trim()]);
        let mut chunks: Vec<Chunk> = (0..20_000).map(|i| chunk(i * 13, i * 13 + 12)).collect();
        // One that is too long by itself.
        chunks.push(chunk(20_000 * 13, 60_000 * 13 - 1));
        let found = within_document(&document, &chunks);
        assert_eq!(found.len(), chunks.len());
        for (one, chunk) in found.iter().zip(&chunks) {
            assert_eq!(one.as_str(), document.text(chunk.span));
        }
        let mut lengths: Vec<usize> = found.iter().map(|one| one.within().0.len()).collect();
        lengths.dedup();
        assert_eq!(lengths, [20_000 * 13 - 1, 40_000 * 13 - 1]);
    }
}
