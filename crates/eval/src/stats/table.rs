//! Several systems on the same questions, resampled together.

use rayon::prelude::*;

use super::clusters::Clustered;
use super::draws::{Draws, Flips, RESAMPLES};
use super::permutation::bar;

/// The scores of several systems on the same questions, summed by document.
#[derive(Debug, Clone)]
pub struct Table {
    systems: usize,
    /// By document, its questions.
    counts: Vec<f64>,
    /// By document, then by system: the sum of the scores.
    sums: Vec<f64>,
}

/// A figure of every system in every resample.
#[derive(Debug, Clone)]
pub struct Replicates {
    systems: usize,
    /// By resample, then by system.
    values: Vec<f64>,
}

impl Table {
    /// Sums scores by document. `scores[s][q]` is system s on question q, `documents[q]` the number of the document that
    /// answers it, from 0 without a gap. `None` where there is no question, where the lists differ in length, a score is
    /// not finite or a document has no question.
    #[must_use]
    pub fn new(scores: &[Vec<f64>], documents: &[usize]) -> Option<Self> {
        let many = documents.iter().max()? + 1;
        let fits = |of: &Vec<f64>| of.len() == documents.len() && of.iter().all(|score| score.is_finite());
        if !scores.iter().all(fits) || many > documents.len() {
            return None;
        }
        let systems = scores.len();
        let (mut counts, mut sums) = (vec![0.0; many], vec![0.0; many * systems]);
        for (q, document) in documents.iter().enumerate() {
            *counts.get_mut(*document)? += 1.0;
            for (s, of) in scores.iter().enumerate() {
                *sums.get_mut(document * systems + s)? += of.get(q)?;
            }
        }
        counts.iter().all(|count| *count > 0.0).then_some(Self { systems, counts, sums })
    }

    /// One system, whose score is the difference of two.
    pub(super) fn single(clustered: &Clustered) -> Self {
        Self { systems: 1, counts: clustered.counts().to_vec(), sums: clustered.sums().to_vec() }
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn documents(&self) -> usize {
        self.counts.len()
    }

    /// Returns the mean score of each system over all questions.
    #[must_use]
    pub fn means(&self) -> Vec<f64> {
        let questions: f64 = self.counts.iter().sum();
        self.totals().into_iter().map(|total| total / questions).collect()
    }

    fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.sums.chunks_exact(self.systems.max(1))
    }

    /// Returns the number of systems.
    pub(super) fn systems(&self) -> usize {
        self.systems
    }

    /// Returns the sum of each system's scores.
    pub(super) fn totals(&self) -> Vec<f64> {
        let mut totals = vec![0.0; self.systems];
        for row in self.rows() {
            totals.iter_mut().zip(row).for_each(|(total, sum)| *total += sum);
        }
        totals
    }

    /// Returns by pair of systems the root of the squared differences of their sums by document, added up.
    pub(super) fn norms(&self) -> Vec<f64> {
        let mut norms = vec![0.0; self.systems * self.systems];
        for row in self.rows() {
            let pairs = row.iter().flat_map(|x| row.iter().map(move |y| (x - y).powi(2)));
            norms.iter_mut().zip(pairs).for_each(|(norm, square)| *norm += square);
        }
        norms.iter_mut().for_each(|norm| *norm = norm.sqrt());
        norms
    }

    /// Returns the mean score of each system in every resample of the documents. The draws are for as many documents.
    #[must_use]
    pub fn resampled(&self, draws: &Draws) -> Replicates {
        self.replicated(RESAMPLES, draws.documents(), |resample, (buffer, _), out| {
            let mut questions = 0.0;
            let weights = draws.weights(resample, buffer).iter();
            for ((weight, count), row) in weights.zip(&self.counts).zip(self.rows()).filter(|((w, _), _)| **w > 0) {
                let weight = f64::from(*weight);
                questions += weight * count;
                out.iter_mut().zip(row).for_each(|(sum, score)| *sum += weight * score);
            }
            out.iter_mut().for_each(|sum| *sum /= questions);
        })
    }

    /// Returns the sum of each system's scores under every pattern of signs. The patterns are for as many documents.
    #[must_use]
    pub fn flipped(&self, flips: &Flips) -> Replicates {
        self.replicated(flips.patterns(), flips.documents(), |pattern, (_, words), out| {
            flips.pattern(pattern, words);
            for (at, row) in self.rows().enumerate() {
                let flip = words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1);
                let sign = if flip { -1.0 } else { 1.0 };
                out.iter_mut().zip(row).for_each(|(sum, score)| *sum += sign * score);
            }
        })
    }

    fn replicated(
        &self,
        many: usize,
        documents: usize,
        fill: impl Fn(usize, &mut (Vec<u8>, Vec<u64>), &mut [f64]) + Sync,
    ) -> Replicates {
        let fits = documents == self.documents() && self.systems > 0;
        let mut values = vec![0.0; if fits { many * self.systems } else { 0 }];
        if fits {
            let rows = values.par_chunks_mut(self.systems).enumerate();
            rows.for_each_init(|| (Vec::new(), Vec::new()), |buffers, (at, out)| fill(at, buffers, out));
        }
        Replicates { systems: self.systems, values }
    }
}

impl Replicates {
    /// Returns the values by resample, then by system.
    pub(super) fn into_values(self) -> Vec<f64> {
        self.values
    }

    /// Returns the number of systems.
    pub(super) fn systems(&self) -> usize {
        self.systems
    }

    /// The values of all systems, resample by resample.
    pub(super) fn rows(&self) -> std::slice::ChunksExact<'_, f64> {
        self.values.chunks_exact(self.systems.max(1))
    }

    /// Returns a system's value in every resample.
    #[must_use]
    pub fn of(&self, system: usize) -> Vec<f64> {
        self.rows().filter_map(|row| row.get(system).copied()).collect()
    }

    /// Returns a system's value less another's, in every resample.
    #[must_use]
    pub fn difference(&self, a: usize, b: usize) -> Vec<f64> {
        self.rows().filter_map(|row| Some(row.get(a)? - row.get(b)?)).collect()
    }

    /// Returns the p-value of the paired permutation test of two systems, where these are sums under patterns of signs;
    /// `clustered` holds the differences. As [`super::permutation_p`] by other random patterns, and with as many for every
    /// pair.
    #[must_use]
    pub fn flipped_p(&self, a: usize, b: usize, clustered: &Clustered, flips: &Flips) -> f64 {
        let bar = bar(clustered.sums());
        let extreme = self.rows().filter(|row| match (row.get(a), row.get(b)) {
            (Some(x), Some(y)) => (x - y).abs() >= bar,
            _ => false,
        });
        flips.p(extreme.count())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::permutation_p;
    use super::*;

    fn scores(documents: usize) -> (Vec<Vec<f64>>, Vec<usize>) {
        let of: Vec<usize> = (0..documents).flat_map(|d| vec![d; d % 4 + 1]).collect();
        let score = |s: usize, q: usize| ((q * 7 + s * 13) as f64 * 0.61).sin().abs() + 0.05 * s as f64;
        ((0..3).map(|s| (0..of.len()).map(|q| score(s, q)).collect()).collect(), of)
    }

    fn clustered(scores: &[Vec<f64>], documents: &[usize], a: usize, b: usize) -> Clustered {
        let differences: Vec<f64> = scores[a].iter().zip(&scores[b]).map(|(x, y)| x - y).collect();
        Clustered::new(&differences, documents).unwrap()
    }

    #[test]
    fn a_difference_in_a_resample_is_that_of_the_means() {
        let (scores, documents) = scores(30);
        let table = Table::new(&scores, &documents).unwrap();
        let draws = Draws::new(30, 3);
        let pair = clustered(&scores, &documents, 2, 0);
        let alone = Table::single(&pair).resampled(&draws).into_values();
        let together = table.resampled(&draws).difference(2, 0);
        assert_eq!(alone.len(), RESAMPLES);
        assert!(alone.iter().zip(&together).all(|(x, y)| (x - y).abs() < 1e-12));
        assert!((table.means()[2] - table.means()[0] - pair.estimate()).abs() < 1e-12);
    }

    #[test]
    fn few_documents_have_the_exact_p() {
        let (scores, documents) = scores(9);
        let table = Table::new(&scores, &documents).unwrap();
        let flips = Flips::new(9, 3);
        let pair = clustered(&scores, &documents, 1, 0);
        let shared = table.flipped(&flips).flipped_p(1, 0, &pair, &flips);
        assert!((shared - permutation_p(pair.sums(), 10_000, 3)).abs() < 1e-12);
    }

    #[test]
    fn shared_patterns_give_the_p_of_patterns_of_its_own() {
        let (scores, documents) = scores(60);
        let table = Table::new(&scores, &documents).unwrap();
        let flips = Flips::new(60, 3);
        let flipped = table.flipped(&flips);
        for (a, b) in [(1, 0), (2, 0), (2, 1)] {
            let pair = clustered(&scores, &documents, a, b);
            let (shared, own) = (flipped.flipped_p(a, b, &pair, &flips), permutation_p(pair.sums(), 10_000, 99));
            assert!((shared - own).abs() < 0.03, "{shared} {own}");
        }
    }

    #[test]
    fn what_does_not_fit_is_nothing() {
        assert!(Table::new(&[vec![0.5, f64::NAN]], &[0, 1]).is_none());
        assert!(Table::new(&[vec![0.5]], &[0, 1]).is_none());
        assert!(Table::new(&[vec![0.5, 0.1]], &[0, 2]).is_none());
        assert!(Table::new(&[], &[]).is_none());
        let table = Table::new(&[vec![0.5, 0.1]], &[0, 1]).unwrap();
        assert!(table.resampled(&Draws::new(3, 1)).of(0).is_empty(), "draws for other documents");
    }
}
