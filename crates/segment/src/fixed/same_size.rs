use crate::Resources;
use crate::fixed::Fixed;
use crate::kernels::count_words;
use crate::registry::{Args, Built, Entry, Key};
use crate::spec::{Spec, SpecError};

pub(crate) const SAME_SIZE: Entry = Entry {
    name: "same-size",
    summary: "fixed, with the mean chunk size of another segmenter: the fair control for a semantic one",
    keys: &[Key {
        name: "reference",
        default: "",
        doc: "the segmenter whose mean chunk size in words, on the same corpus, is the bound",
    }],
    example: "same-size:reference=(window:k=5,pool=min)",
    needs_encoder: false,
    has_scores: false,
    build,
};

fn build(args: &Args<'_>, resources: &dyn Resources) -> Result<Built, SpecError> {
    let Some(reference) = args.get("reference") else {
        return Err(args.unavailable("it needs `reference`, the segmenter whose mean chunk size it takes".into()));
    };
    let mean = resources.mean_words(reference).map_err(|reason| args.unavailable(reason))?;
    if !mean.is_finite() || mean < 0.0 {
        return Err(args.unavailable(format!("the mean chunk size of `{reference}` is {mean} words")));
    }
    let words = (mean.round() as usize).max(1);
    Ok(Built::new(Fixed::words(words)).resolved(Spec::new("fixed")?.with("words", words)?))
}

/// Mean length of chunk texts in words (what stands between white space), the bound that `same-size` rounds; 0 for none.
///
/// ```
/// assert_eq!(pericope_segment::fixed::mean_words(["one two", "three four five six"]), 3.0);
/// ```
pub fn mean_words<'a>(texts: impl IntoIterator<Item = &'a str>) -> f64 {
    let (words, chunks) = texts.into_iter().fold((0usize, 0usize), |(w, n), text| (w + count_words(text), n + 1));
    if chunks == 0 { 0.0 } else { words as f64 / chunks as f64 }
}
