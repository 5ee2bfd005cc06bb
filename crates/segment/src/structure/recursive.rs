use std::sync::Arc;

use pericope_api::{Document, SegmentError, Segmentation, Segmenter, Span, TokenCounter};

use crate::Resources;
use crate::fixed::Tokens;
use crate::kernels::{self, LEVELS};
use crate::packing::{Measure, Packing, is_plain, pack};
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;

pub(crate) const RECURSIVE: SegmenterEntry = SegmenterEntry {
    name: "recursive",
    summary: "chunks up to a size, cut at the coarsest of paragraph, line, sentence, word that fits",
    keys: &[
        SettingKey { name: "chars", default: "1000", doc: "most characters (code points) a chunk" },
        SettingKey { name: "tokens", default: "", doc: "instead: most tokens a chunk, special tokens not counted" },
    ],
    example: "recursive:chars=1000",
    needs: Needs::None,
    needs_of: None,
    has_scores: false,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let Some(tokens) = args.maybe_count("tokens", 1)? else {
        return Ok(BuiltSegmenter::new(Recursive::chars(args.count("chars", 1000, 1)?)));
    };
    args.excludes("tokens", "chars")?;
    let counter = resources.counter().map_err(|reason| args.unavailable(reason))?;
    Ok(BuiltSegmenter::new(Recursive::tokens(tokens, counter)))
}

/// Cuts each piece at the last paragraph end within the limit, else the last line end, sentence end, white space, word
/// end, grapheme cluster.
///
/// Code blocks and tables that fit the limit are kept whole, and a heading stays with what follows it.
pub struct Recursive {
    bound: Bound,
}

enum Bound {
    Chars(usize),
    Tokens(usize, Arc<dyn TokenCounter>),
}

impl Recursive {
    /// At most `chars` characters (code points) a piece (0 counts as 1).
    #[must_use]
    pub fn chars(chars: usize) -> Self {
        Self { bound: Bound::Chars(chars.max(1)) }
    }

    /// At most `tokens` tokens a piece (0 counts as 1), special tokens not counted.
    #[must_use]
    pub fn tokens(tokens: usize, counter: Arc<dyn TokenCounter>) -> Self {
        Self { bound: Bound::Tokens(tokens.max(1), counter) }
    }
}

impl Segmenter for Recursive {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let source: &str = &document.source;
        let packing = Packing { levels: &LEVELS, keep_headings: true };
        Ok(Segmentation::Spans(match &self.bound {
            Bound::Chars(chars) if is_plain(document) => kernels::recursive_chars(source, *chars),
            Bound::Chars(chars) => pack(document, &Chars { source, chars: *chars }, &packing),
            Bound::Tokens(tokens, counter) => {
                pack(document, &Tokens::new(source, *tokens, 0, counter.as_ref()), &packing)
            }
        }))
    }
}

struct Chars<'a> {
    source: &'a str,
    chars: usize,
}

impl Measure for Chars<'_> {
    fn reach(&self, from: usize) -> usize {
        kernels::advance(self.source, from, self.chars)
    }

    fn fits(&self, span: Span) -> bool {
        kernels::count(span.of(self.source)) <= self.chars
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::{Document, Kind, Segmentation, Segmenter, Sentence, Span};

    use super::{Chars, Recursive};
    use crate::kernels::{self, LEVELS};
    use crate::packing::{Packing, pack};

    fn document(parts: &[(&str, Kind)]) -> Document {
        let source: String = parts.iter().map(|(text, _)| format!("{text}\n\n")).collect();
        let mut document = Document::from_sentences("d", &[source.as_str()]);
        let mut at = 0;
        let place = |(i, (text, kind)): (usize, &(&str, Kind))| {
            let span = Span::new(at, at + text.len());
            at += text.len() + 2;
            Sentence { span, kind: *kind, paragraph: i as u32, section: 0 }
        };
        document.sentences = parts.iter().enumerate().map(place).collect();
        document
    }

    fn texts(chars: usize, document: &Document) -> Vec<&str> {
        let Segmentation::Spans(spans) = Recursive::chars(chars).segment(document).unwrap() else { unreachable!() };
        spans.iter().map(|s| document.text(*s)).collect()
    }

    #[test]
    fn a_code_block_with_blank_lines_stays_whole() {
        let code = "fn a() {\n\n    b()\n\n}";
        let doc = document(&[("Some text here.", Kind::Prose), (code, Kind::Code), ("And more text.", Kind::Prose)]);
        assert_eq!(texts(30, &doc), ["Some text here.", code, "And more text."]);
        assert_eq!(texts(41, &doc), [format!("Some text here.\n\n{code}").as_str(), "And more text."]);
        assert_eq!(texts(16, &doc), ["Some text here.", "fn a() {", "b()\n\n}", "And more text."]);
    }

    #[test]
    fn a_heading_goes_with_its_body() {
        let doc = document(&[
            ("# One", Kind::Heading(1)),
            ("Alpha beta gamma.", Kind::Prose),
            ("## Two", Kind::Heading(2)),
            ("Delta epsilon zeta eta.", Kind::Prose),
        ]);
        let expected = ["# One\n\nAlpha beta gamma.", "## Two\n\nDelta epsilon zeta", "eta."];
        assert_eq!(texts(32, &doc), ["# One\n\nAlpha beta gamma.", "## Two\n\nDelta epsilon zeta eta."]);
        assert_eq!(texts(28, &doc), expected);
    }

    #[test]
    fn documents_without_marks_agree_with_the_kernel() {
        let text = "One two three. Four five six.\nSeven\n\nEight nine ten. Eleven twelve";
        let document = Document::from_sentences("d", &[text]);
        for chars in 1..80 {
            let packing = Packing { levels: &LEVELS, keep_headings: true };
            let packed = pack(&document, &Chars { source: text, chars }, &packing);
            assert_eq!(packed, kernels::recursive_chars(text, chars), "chars={chars}");
        }
    }
}
