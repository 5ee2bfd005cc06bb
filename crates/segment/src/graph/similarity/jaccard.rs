use std::hash::{DefaultHasher, Hash, Hasher};

use pericope_api::SegmentError;
use rayon::prelude::*;
use unicode_segmentation::UnicodeSegmentation;

use super::Similarity;

/// Words in both sentences over words in either, by their lower-case forms; 0 where neither has a word.
#[derive(Debug, Clone, Copy, Default)]
pub struct Jaccard;

impl Similarity for Jaccard {
    /// The words' hashes, in order, without repeats. At 64 bits, two words of a sentence pair share one by chance less
    /// often than memory fails.
    type Prepared = Vec<u64>;

    fn name(&self) -> &'static str {
        "jaccard"
    }

    fn prepare(&self, texts: &[&str]) -> Result<Vec<Vec<u64>>, SegmentError> {
        Ok(texts.par_iter().map(|text| word_set(text)).collect())
    }

    fn compare(&self, left: &Vec<u64>, right: &Vec<u64>) -> f64 {
        let (mut i, mut j, mut both) = (0, 0, 0usize);
        while let (Some(a), Some(b)) = (left.get(i), right.get(j)) {
            both += usize::from(a == b);
            i += usize::from(a <= b);
            j += usize::from(b <= a);
        }
        let either = left.len() + right.len() - both;
        if either == 0 { 0.0 } else { both as f64 / either as f64 }
    }
}

fn word_set(text: &str) -> Vec<u64> {
    let hash = |word: &str| {
        let mut hasher = DefaultHasher::new();
        word.to_lowercase().hash(&mut hasher);
        hasher.finish()
    };
    let mut words: Vec<u64> = text.unicode_words().map(hash).collect();
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Jaccard;
    use crate::graph::similarity::Similarity;

    fn jaccard(a: &str, b: &str) -> f64 {
        let sets = Jaccard.prepare(&[a, b]).unwrap();
        Jaccard.compare(&sets[0], &sets[1])
    }

    #[test]
    fn words_are_counted_once_whatever_their_case() {
        assert_eq!(jaccard("The cat, the cat!", "A CAT sat."), 0.25);
        assert_eq!(jaccard("Été.", "été"), 1.0);
        assert_eq!(jaccard("one two", "three"), 0.0);
        assert_eq!(jaccard("...", "?!"), 0.0);
        assert_eq!(jaccard("", "word"), 0.0);
    }
}
