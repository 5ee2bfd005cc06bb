//! The default splitter: Unicode sentence breaks by `icu_segmenter`, corrected by the rules of `refine`.

use std::sync::Arc;

use icu_segmenter::options::SentenceBreakInvariantOptions;
use icu_segmenter::{SentenceSegmenter, SentenceSegmenterBorrowed};

use super::splitter::SentenceSplitter;
use super::windows::{BreakFinder, WindowedSplitter};

/// `icu_segmenter`: Unicode Annex 29, driven by tables.
pub(super) struct Icu(SentenceSegmenterBorrowed<'static>);

impl Icu {
    pub(super) fn new() -> Self {
        Self(SentenceSegmenter::new(SentenceBreakInvariantOptions::default()))
    }
}

impl BreakFinder for Icu {
    fn find_breaks(&self, text: &str, sink: &mut dyn FnMut(usize)) {
        self.0.segment_str(text).skip(1).for_each(sink);
    }
}

/// Returns the splitter that readers use unless told otherwise, `icu-refined`: the one with the best figures in the
/// README.
#[must_use]
pub fn default_splitter() -> Arc<dyn SentenceSplitter> {
    Arc::new(WindowedSplitter::new("icu-refined", Icu::new()).refined())
}
