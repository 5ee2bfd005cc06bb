use pericope_api::{Chunk, Document};

use crate::Resources;
use crate::fixed::Fixed;
use crate::kernels::count_words;
use crate::registry::args::SpecArgs;
use crate::registry::entry::{BuiltSegmenter, Needs, POLICY_KEYS, SegmenterEntry, SettingKey};
use crate::spec::{REFERENCE, Spec, SpecError};

/// The setting that says what is made equal.
const MATCH: &str = "match";

pub(crate) const SAME_SIZE: SegmenterEntry = SegmenterEntry {
    name: "same-size",
    summary: "fixed, with the mean chunk size of another segmenter: the fair control for a semantic one",
    keys: &[
        SettingKey {
            name: REFERENCE,
            default: "",
            doc: "the segmenter whose mean chunk size in words, on the same corpus, is taken",
        },
        SettingKey {
            name: MATCH,
            default: "mean",
            doc: "mean: the bound whose chunks have that size on average, within 1 %; bound: that size is the bound, as published",
        },
    ],
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
    let fixed = || Spec::new("fixed");
    let words = if args.choice(MATCH, &["mean", "bound"])? == 0 {
        // As the chunks will be cut: with the same limits.
        let mut alike = fixed()?;
        for key in POLICY_KEYS {
            if let Some(value) = args.get(key.name) {
                alike = alike.with(key.name, value)?;
            }
        }
        // A chunk has as many tokens as words, at least.
        resources.matched_bound(reference, &alike, args.max_tokens().unwrap_or(usize::MAX))
    } else {
        resources.mean_words(reference).and_then(|mean| rounded(reference, mean))
    };
    let words = words.map_err(|reason| args.unavailable(reason))?.max(1);
    Ok(BuiltSegmenter::new(Fixed::words(words)).resolved(fixed()?.with("words", words)?))
}

/// The published bound: the mean size itself (Abbasi 2024, section 5.3.7).
pub(crate) fn rounded(reference: &str, mean: f64) -> Result<usize, String> {
    if !mean.is_finite() || mean < 0.0 {
        return Err(format!("the mean chunk size of `{reference}` is {mean} words"));
    }
    Ok((mean.round() as usize).max(1))
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
