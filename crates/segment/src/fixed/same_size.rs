use pericope_api::{Chunk, Document};

use crate::Resources;
use crate::fixed::Fixed;
use crate::kernels::count_words;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::{REFERENCE, Spec, SpecError};

pub(crate) const SAME_SIZE: SegmenterEntry = SegmenterEntry {
    name: "same-size",
    summary: "fixed, with the mean chunk size of another segmenter: the fair control for a semantic one",
    keys: &[SettingKey {
        name: REFERENCE,
        default: "",
        doc: "the segmenter whose mean chunk size in words, on the same corpus, is the bound",
    }],
    example: "same-size:reference=(window:k=5,pool=min)",
    needs: Needs::None,
    needs_of: None,
    has_scores: false,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let Some(reference) = args.get(REFERENCE) else {
        return Err(args.unavailable("it needs `reference`, the segmenter whose mean chunk size it takes".into()));
    };
    let mean = resources.mean_words(reference).map_err(|reason| args.unavailable(reason))?;
    if !mean.is_finite() || mean < 0.0 {
        return Err(args.unavailable(format!("the mean chunk size of `{reference}` is {mean} words")));
    }
    let words = (mean.round() as usize).max(1);
    Ok(BuiltSegmenter::new(Fixed::words(words)).resolved(Spec::new("fixed")?.with("words", words)?))
}

/// The mean length of a corpus's chunks in words, document by document: the bound that `same-size` rounds. A word is a
/// run of characters without white space.
///
/// ```
/// use pericope_api::Document;
/// use pericope_segment::fixed::MeanWords;
/// use pericope_segment::{Standalone, registry, spec::Spec};
///
/// let chunker = registry::build(&Spec::parse("sentence")?, &Standalone::default())?;
/// let mut mean = MeanWords::default();
/// assert_eq!(mean.value(), None);
/// for sentences in [&["One two.", "Three four five six."][..], &["Seven eight nine."]] {
///     let document = Document::from_sentences("d", sentences);
///     mean.add(&document, &chunker.chunks(&document)?);
/// }
/// assert_eq!(mean.value(), Some(3.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MeanWords {
    words: usize,
    chunks: usize,
}

impl MeanWords {
    /// Adds the chunks of a document.
    pub fn add(&mut self, document: &Document, chunks: &[Chunk]) {
        self.chunks += chunks.len();
        self.words += chunks.iter().map(|chunk| count_words(document.text(chunk.span))).sum::<usize>();
    }

    /// Returns the mean words of a chunk; `None` where no chunk was added.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.chunks > 0).then(|| self.words as f64 / self.chunks as f64)
    }
}
