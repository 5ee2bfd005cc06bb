//! Segmenters that read prose alone: which sentences that is, and where what they find between them belongs.

use pericope_api::Document;

pub use crate::packing::parts_heading;

/// The indices of the sentences that are language: not code, not tables.
#[must_use]
pub fn sentences(document: &Document) -> Vec<usize> {
    (0..document.len()).filter(|&i| document.sentences[i].kind.is_language()).collect()
}

/// Numbers at the gaps between the sentences `read` of a document of `n`, each moved to the gap just before the later one,
/// behind any code or table in between; 0 at the other gaps.
#[must_use]
pub fn spread(values: &[f64], read: &[usize], n: usize) -> Vec<f64> {
    let mut spread = vec![0.0; n.saturating_sub(1)];
    for (&value, &next) in values.iter().zip(read.iter().skip(1)) {
        spread[next - 1] = value;
    }
    spread
}
