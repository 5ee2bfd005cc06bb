use std::fmt;

use pericope_segment::fixed::EQUAL;
use serde::{Deserialize, Serialize};

use super::null_as_nan;

/// The mean sizes of a `same-size` chunker and of the one that it is sized by.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct SameSize {
    /// Name or spec of the reference.
    pub reference: String,
    /// Mean words of the reference's chunks.
    #[serde(deserialize_with = "null_as_nan")]
    pub reference_words: f64,
    /// Mean words of its own.
    #[serde(deserialize_with = "null_as_nan")]
    pub words: f64,
    /// By how much they differ, as a share of the reference's: negative where its own are smaller.
    #[serde(deserialize_with = "null_as_nan")]
    pub miss: f64,
}

impl SameSize {
    /// Sets two means beside each other.
    #[must_use]
    pub fn new(reference: &str, reference_words: f64, words: f64) -> Self {
        let miss = if reference_words > 0.0 { words / reference_words - 1.0 } else { 0.0 };
        Self { reference: reference.to_owned(), reference_words, words, miss }
    }

    /// True where the means differ by 1 % at most.
    #[must_use]
    pub fn is_equal(&self) -> bool {
        self.miss.abs() <= EQUAL
    }
}

/// `112.1 words a chunk on average, 112.3 of semantic: -0.2 %`.
impl fmt::Display for SameSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reference, reference_words, words, miss } = self;
        write!(f, "{words:.1} words a chunk on average, {reference_words:.1} of {reference}: {:+.1} %", 100.0 * miss)
    }
}

#[cfg(test)]
mod tests {
    use super::SameSize;

    #[test]
    fn the_miss_has_a_sign() {
        let small = SameSize::new("semantic", 112.0, 103.04);
        assert!((small.miss + 0.08).abs() < 1e-12);
        assert_eq!(small.to_string(), "103.0 words a chunk on average, 112.0 of semantic: -8.0 %");
        assert_eq!(SameSize::new("empty", 0.0, 3.0).miss, 0.0);
    }
}
