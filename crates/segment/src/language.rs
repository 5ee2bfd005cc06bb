//! Segmenters that read prose alone: which sentences that is, its language, and where what they find between them belongs.

use pericope_api::Document;
use pericope_language::{Language, prose_language};

pub use crate::packing::parts_heading;

/// Names the way in which words are compared, in the fingerprints of segmenters that compare them: the second one, which
/// reads each document [in its language](of). The first took all documents for English.
pub const WORDS: &str = "words-2";

/// Returns the language in which the words of a document are compared: that of the beginning of its prose where it is
/// clear, else English ([`prose_language`]).
#[must_use]
pub fn of(document: &Document) -> Language {
    let prose = document.sentences.iter().filter(|sentence| sentence.kind.is_language());
    prose_language(prose.map(|sentence| document.visible(sentence.span)))
}

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
