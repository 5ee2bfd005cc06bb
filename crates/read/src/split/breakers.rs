//! The crates that find sentence breaks, brought to one shape.

use icu_segmenter::options::SentenceBreakInvariantOptions;
use icu_segmenter::{SentenceSegmenter, SentenceSegmenterBorrowed};
use unicode_segmentation::UnicodeSegmentation;

/// Finds the ends of sentences in a piece of text of bounded length.
pub(super) trait Breaker: Send + Sync {
    /// Hands the byte offset after each sentence (and the white space behind it) to `sink`, in order. The end of the
    /// text may or may not be among them.
    fn breaks(&self, text: &str, sink: &mut dyn FnMut(usize));
}

/// `icu_segmenter`: Unicode Annex 29, driven by tables.
pub(super) struct Icu(SentenceSegmenterBorrowed<'static>);

impl Icu {
    pub(super) fn new() -> Self {
        Self(SentenceSegmenter::new(SentenceBreakInvariantOptions::default()))
    }
}

impl Breaker for Icu {
    fn breaks(&self, text: &str, sink: &mut dyn FnMut(usize)) {
        self.0.segment_str(text).skip(1).for_each(sink);
    }
}

/// `unicode-segmentation`: the same annex, by rules in code.
pub(super) struct Unicode;

impl Breaker for Unicode {
    fn breaks(&self, text: &str, sink: &mut dyn FnMut(usize)) {
        text.split_sentence_bound_indices().skip(1).for_each(|(at, _)| sink(at));
    }
}

/// `sentencex`: rules and abbreviations of many languages, of which we take English.
pub(super) struct Sentencex;

impl Breaker for Sentencex {
    fn breaks(&self, text: &str, sink: &mut dyn FnMut(usize)) {
        for sentence in sentencex::get_sentence_boundaries("en", text) {
            sink(sentence.end_byte);
        }
    }
}
