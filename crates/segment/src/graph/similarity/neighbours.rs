use std::borrow::Cow;
use std::cell::LazyCell;

use pericope_api::{Document, SegmentError};
use rayon::prelude::*;

use super::Similarity;
use crate::embedding::shortened;
use crate::language;

/// Similarities of each of n sentences with its k next ones: a matrix of n rows and k columns.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NeighbourSimilarities {
    k: usize,
    values: Vec<f64>,
}

impl NeighbourSimilarities {
    /// Wraps n rows of `k` values; a remainder is cut off. Column l - 1 of row i belongs to the pair (i, i + l); where
    /// there is no sentence i + l, the value is not read.
    #[must_use]
    pub fn new(k: usize, mut values: Vec<f64>) -> Self {
        let whole = values.len().checked_div(k).unwrap_or(0) * k;
        values.truncate(whole);
        Self { k, values }
    }

    /// Number of sentences that each is compared with.
    #[must_use]
    pub fn k(&self) -> usize {
        self.k
    }

    /// Bytes that the similarities take.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    /// The pairs (i, j, similarity), i < j, in order of i and then j.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let n = self.values.len().checked_div(self.k).unwrap_or(0);
        let rows = self.values.chunks_exact(self.k.max(1)).enumerate();
        rows.flat_map(move |(i, row)| (i + 1..n).zip(row).map(move |(j, &value)| (i, j, value)))
    }
}

/// Fills the matrix batch by batch: prepared sentences are dropped when the last pair that needs them is done.
pub(super) fn fill<S: Similarity>(
    similarity: &S,
    document: &Document,
    sentences: &[usize],
    k: usize,
) -> Result<NeighbourSimilarities, SegmentError> {
    let n = sentences.len();
    let k = k.min(n.saturating_sub(1));
    if k == 0 {
        return Ok(NeighbourSimilarities::default());
    }
    let language = LazyCell::new(|| language::of(document));
    let mut values = Vec::with_capacity(n * k);
    // Prepared sentences from the first whose row is not filled yet.
    let mut held: Vec<S::Prepared> = Vec::new();
    let mut done = 0;
    for part in sentences.chunks(similarity.batch().max(1)) {
        let texts: Vec<Cow<'_, str>> = part.iter().map(|&i| shortened(document, i, similarity.most_bytes())).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let found = similarity.prepare_in(&texts, &|| *language)?;
        if found.len() != part.len() {
            let name = similarity.name();
            let text = format!("{name}: {} texts were prepared where {} were given", found.len(), part.len());
            return Err(SegmentError::Unsupported(text));
        }
        held.extend(found);
        let ready = if done + held.len() == n { held.len() } else { held.len().saturating_sub(k) };
        let row = |i: usize| (1..=k).map(move |l| (i, i + l));
        let weight = |(i, j): (usize, usize)| match (held.get(i), held.get(j)) {
            (Some(left), Some(right)) => similarity.compare(left, right),
            _ => 0.0,
        };
        values.par_extend((0..ready).into_par_iter().flat_map_iter(|i| row(i).map(weight)));
        held.drain(..ready);
        done += ready;
    }
    Ok(NeighbourSimilarities { k, values })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::{Document, SegmentError};

    use super::NeighbourSimilarities;
    use crate::graph::similarity::{PairWeights, Similarity};

    /// 100 times the earlier number plus the later one.
    struct Digits(usize);

    impl Similarity for Digits {
        type Prepared = f64;

        fn name(&self) -> &'static str {
            "digits"
        }

        fn prepare(&self, texts: &[&str]) -> Result<Vec<f64>, SegmentError> {
            assert!(texts.len() <= self.0);
            Ok(texts.iter().map(|text| text.parse().unwrap()).collect())
        }

        fn compare(&self, left: &f64, right: &f64) -> f64 {
            100.0 * left + right
        }

        fn batch(&self) -> usize {
            self.0
        }
    }

    #[test]
    fn each_pair_is_compared_once_whatever_the_batches() {
        let document = Document::from_sentences("d", &(0..12).map(|i| i.to_string()).collect::<Vec<_>>());
        let chosen: Vec<usize> = (0..12).filter(|i| i % 5 != 2).collect();
        for k in [1, 3, 40] {
            let mut expected = Vec::new();
            for (i, a) in chosen.iter().enumerate() {
                let near = chosen[i + 1..].iter().take(k).enumerate();
                expected.extend(near.map(|(l, b)| (i, i + l + 1, (100 * a + b) as f64)));
            }
            for batch in [1, 2, 4, 100] {
                let similarities = Digits(batch).similarities(&document, &chosen, k).unwrap();
                assert_eq!(similarities.pairs().collect::<Vec<_>>(), expected, "k = {k}, batches of {batch}");
            }
        }
    }

    #[test]
    fn no_pairs_of_fewer_than_two_sentences() {
        let document = Document::from_sentences("d", &["1"]);
        for sentences in [&[][..], &[0]] {
            let similarities = Digits(4).similarities(&document, sentences, 5).unwrap();
            assert_eq!((similarities.pairs().count(), similarities), (0, NeighbourSimilarities::default()));
        }
    }
}
