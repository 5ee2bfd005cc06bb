use std::sync::Arc;

use pericope_api::{Document, SegmentError, Segmentation, Segmenter, Span, TokenCounter};

use crate::Resources;
use crate::breaks::Level;
use crate::chars::floor;
use crate::kernels;
use crate::packing::{Measure, Packing, is_plain, pack};
use crate::policy::Overlap;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::SpecError;
use crate::token_meter::TokenMeter;

pub(crate) const FIXED: SegmenterEntry = SegmenterEntry {
    name: "fixed",
    summary: "chunks of at most a number of words or tokens, whatever they say",
    keys: &[
        SettingKey {
            name: "words",
            default: "100",
            doc: "words a chunk, a word being what stands between white space (by a dictionary where a script has none)",
        },
        SettingKey {
            name: "tokens",
            default: "",
            doc: "instead: tokens a chunk (special tokens not counted), cut between words",
        },
    ],
    example: "fixed:words=100",
    needs: Needs::None,
    needs_of: None,
    has_scores: false,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let Some(tokens) = args.maybe_count("tokens", 1)? else {
        return Ok(BuiltSegmenter::new(Fixed::words(args.count("words", 100, 1)?)));
    };
    args.excludes("tokens", "words")?;
    let overlap = args.overlap();
    if overlap >= tokens {
        return Err(args.bad("overlap", overlap, "fewer tokens of overlap than `tokens`"));
    }
    let counter = resources.counter().map_err(|reason| args.unavailable(reason))?;
    let built = BuiltSegmenter::new(Fixed::tokens(tokens, overlap, counter));
    Ok(built.with_overlap(Overlap::Tokens { tokens: overlap, limit: tokens }))
}

/// Chunks of at most a set number of words (the "fixed-size" chunks of Abbasi 2024, section 5.3.7) or tokens.
///
/// Code blocks and tables that fit the bound are kept whole: the chunk before one ends early. A larger one is cut at
/// its lines. Words are what stands between white space; in scripts without spaces, what a dictionary takes for one.
pub struct Fixed {
    bound: Bound,
}

enum Bound {
    Words(usize),
    Tokens { tokens: usize, overlap: usize, counter: Arc<dyn TokenCounter> },
}

impl Fixed {
    /// At most `words` words a chunk (0 counts as 1).
    #[must_use]
    pub fn words(words: usize) -> Self {
        Self { bound: Bound::Words(words.max(1)) }
    }

    /// At most `tokens` tokens a chunk (0 counts as 1), special tokens not counted. The cuts leave room for `overlap`
    /// tokens in front of every chunk but the first; the size policy puts them there.
    #[must_use]
    pub fn tokens(tokens: usize, overlap: usize, counter: Arc<dyn TokenCounter>) -> Self {
        let tokens = tokens.max(1);
        Self { bound: Bound::Tokens { tokens, overlap: overlap.min(tokens - 1), counter } }
    }
}

impl Segmenter for Fixed {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let source: &str = &document.source;
        Ok(Segmentation::Spans(match &self.bound {
            Bound::Words(words) if is_plain(document) => kernels::fixed_words(source, *words),
            Bound::Words(words) => {
                pack(document, &Words { source, words: *words }, &Packing { levels: &[], keep_headings: false })
            }
            Bound::Tokens { tokens, overlap, counter } => {
                let levels = &[Level::Space, Level::Word, Level::Grapheme];
                let measure = Tokens::new(source, *tokens, *overlap, counter.as_ref());
                pack(document, &measure, &Packing { levels, keep_headings: false })
            }
        }))
    }
}

struct Words<'a> {
    source: &'a str,
    words: usize,
}

impl Measure for Words<'_> {
    fn reach(&self, from: usize) -> usize {
        kernels::nth_word_end(self.source, from, self.words)
    }

    fn fits(&self, span: Span) -> bool {
        kernels::count_words(span.of(self.source)) <= self.words
    }
}

/// A limit in tokens, special tokens not counted.
pub(crate) struct Tokens<'a> {
    meter: TokenMeter<'a>,
    tokens: usize,
    overlap: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) fn new(source: &'a str, tokens: usize, overlap: usize, counter: &'a dyn TokenCounter) -> Self {
        Self { meter: TokenMeter::new(source, counter), tokens, overlap }
    }
}

impl Measure for Tokens<'_> {
    fn reach(&self, from: usize) -> usize {
        let first = self.meter.index(from) == 0;
        self.meter.ahead(from, self.tokens - if first { 0 } else { self.overlap })
    }

    fn fits(&self, span: Span) -> bool {
        self.meter.fits(span, self.tokens)
    }

    fn verify(&self, start: usize, end: usize) -> Result<(), usize> {
        let span = Span::new(start, end);
        let real = self.meter.exact(span);
        if real <= self.tokens {
            return Ok(());
        }
        // Fewer tokens by the share that was too much, and by one at least.
        let here = self.meter.estimate(span);
        let fewer = (here * self.tokens / real).min(here.saturating_sub(1));
        let shorter = self.meter.ahead(start, fewer);
        Err(if shorter < end { shorter } else { floor(self.meter.source, start + (end - start) / 2) })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Document, Kind, Segmentation, Segmenter};

    use super::Fixed;
    use crate::counters::WordCounter;

    fn texts(segmenter: &Fixed, document: &Document) -> Vec<String> {
        let Segmentation::Spans(spans) = segmenter.segment(document).unwrap() else { unreachable!() };
        spans.iter().map(|s| document.text(*s).to_owned()).collect()
    }

    fn with_code(code: &str) -> Document {
        let mut document = Document::from_sentences("d", &["one two three", code, "four five six"]);
        document.sentences[1].kind = Kind::Code;
        document
    }

    #[test]
    fn a_block_that_fits_is_not_cut() {
        let document = with_code("let a = 1;");
        assert_eq!(texts(&Fixed::words(5), &document), ["one two three", "let a = 1;\nfour", "five six"]);
        let tokens = Fixed::tokens(6, 0, Arc::new(WordCounter));
        assert_eq!(texts(&tokens, &document), ["one two three", "let a = 1;\nfour", "five six"]);
    }

    #[test]
    fn a_block_that_does_not_is_cut_at_its_lines() {
        let mut document = Document::from_sentences("d", &["one two", "a b\nc d\ne f\ng h", "three"]);
        document.sentences[1].kind = Kind::Code;
        assert_eq!(texts(&Fixed::words(5), &document), ["one two\na b", "c d\ne f", "g h\nthree"]);
        assert_eq!(texts(&Fixed::words(1), &document).len(), 11);
    }

    #[test]
    fn plain_documents_take_the_kernel_and_agree_with_it() {
        let plain = Document::from_sentences("d", &["one two three.", "four five six", "seven"]);
        let mut marked = plain.clone();
        marked.sentences[2].kind = Kind::Table;
        for words in 1..8 {
            assert_eq!(texts(&Fixed::words(words), &plain), texts(&Fixed::words(words), &marked));
        }
    }

    #[test]
    fn tokens_without_spaces_are_cut_between_characters() {
        let document = Document::from_sentences("d", &["漢字仮名交じり文"]);
        assert_eq!(texts(&Fixed::tokens(3, 0, Arc::new(WordCounter)), &document), ["漢字仮", "名交じ", "り文"]);
    }
}
