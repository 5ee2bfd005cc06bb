//! Intervals from resamples of documents.

use pericope_util::neighbours;

use super::clusters::Clustered;
use super::draws::{Draws, RESAMPLES};
use super::normal::{normal_cdf, normal_quantile, t_quantile};
use super::table::Table;

/// Under so many documents the interval is BCa, from there on percentile.
const BCA_UNDER: usize = 40;

/// The 95 % interval of a mean of independent values, see [`Interval`]. (NaN, NaN) for fewer than two values.
#[must_use]
pub fn bootstrap_interval(values: &[f64], seed: u64) -> (f64, f64) {
    let units: Vec<usize> = (0..values.len()).collect();
    interval_by(values, &units, seed)
}

/// The 95 % interval of the mean over questions whose documents are drawn: `documents[i]` is the number of the document
/// of question i. (NaN, NaN) for fewer than two documents.
#[must_use]
pub fn interval_by(values: &[f64], documents: &[usize], seed: u64) -> (f64, f64) {
    let Some(clustered) = Clustered::new(values, documents) else { return (f64::NAN, f64::NAN) };
    let mut replicates = replicates(&clustered, seed);
    Interval::of(&clustered, &mut replicates).ends(0.05)
}

/// The estimate in every resample.
pub(super) fn replicates(clustered: &Clustered, seed: u64) -> Vec<f64> {
    let draws = Draws::new(clustered.documents(), seed);
    Table::single(clustered).resampled(&draws).into_values()
}

/// Intervals of an estimate from its values in [`RESAMPLES`] draws of documents.
///
/// From 40 documents on the ends are quantiles of these values (Efron and Tibshirani 1993, chapter 13), under 40 those of
/// BCa (chapter 14), which corrects bias and skew. Either way the quantiles lie a little further out than the level says
/// (Hesterberg 2015, "What Teachers Should Know About the Bootstrap", section 5.1): a resample varies as if the true mean
/// were the sample's, which is too little by sqrt((D - 1) / D) and by what Student's t is wider than the normal.
#[derive(Debug)]
pub struct Interval<'a> {
    sorted: &'a [f64],
    estimate: f64,
    documents: usize,
    /// Acceleration, where BCa is due.
    acceleration: Option<f64>,
}

impl<'a> Interval<'a> {
    /// Sorts the values in the resamples.
    pub fn of(clustered: &Clustered, replicates: &'a mut [f64]) -> Self {
        replicates.sort_unstable_by(f64::total_cmp);
        let documents = clustered.documents();
        let acceleration = (documents < BCA_UNDER).then(|| clustered.acceleration());
        Self { sorted: replicates, estimate: clustered.estimate(), documents, acceleration }
    }

    /// Returns the ends of the interval that leaves out the share `level`, half of it at either end; (NaN, NaN) for fewer
    /// than two documents.
    #[must_use]
    pub fn ends(&self, level: f64) -> (f64, f64) {
        if self.documents < 2 || self.sorted.len() != RESAMPLES {
            return (f64::NAN, f64::NAN);
        }
        let d = self.documents as f64;
        let outer = normal_cdf(-(d / (d - 1.0)).sqrt() * t_quantile(1.0 - level / 2.0, self.documents - 1));
        let (low, high) = match self.acceleration {
            None => (outer, 1.0 - outer),
            Some(acceleration) => self.bca(outer, acceleration),
        };
        (quantile(self.sorted, low), quantile(self.sorted, high))
    }

    /// The shares that BCa takes instead of `tail` and `1 - tail`; those themselves where it has none.
    fn bca(&self, tail: f64, acceleration: f64) -> (f64, f64) {
        // Values that are equal on paper may differ in their last bits.
        let near = 1e-12 * self.estimate.abs().max(1e-3);
        let below = self.sorted.partition_point(|x| *x < self.estimate - near);
        let at_most = self.sorted.partition_point(|x| *x <= self.estimate + near);
        let bias = normal_quantile((below + at_most) as f64 / (2 * self.sorted.len()) as f64);
        if !bias.is_finite() {
            return (tail, 1.0 - tail);
        }
        let end = |z: f64| {
            let moved = bias + z;
            let scale = 1.0 - acceleration * moved;
            // Of a handful of documents the correction may have no solution.
            (scale > 0.0).then(|| normal_cdf(bias + moved / scale))
        };
        let z = normal_quantile(tail);
        match (end(z), end(-z)) {
            (Some(low), Some(high)) if low <= high => (low, high),
            _ => (tail, 1.0 - tail),
        }
    }
}

/// The quantile `q` of sorted values, linear between neighbours (R's type 7, numpy's default); 0 of nothing.
pub(crate) fn quantile(sorted: &[f64], q: f64) -> f64 {
    // Always from the lower end, unlike `percentile`: the intervals of runs on record keep their last bit.
    neighbours(sorted, q).map_or(0.0, |(low, high, share)| low + (high - low) * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let differences: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 101) / 101.0 - 0.4).collect();
        let documents: Vec<usize> = (0..100).map(|i| i / 3).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
            pool.map(|pool| pool.install(|| interval_by(&differences, &documents, 11)))
        };
        let one = run(1);
        assert!(one.is_some() && one == run(3));
        assert_ne!(one, Some(interval_by(&differences, &documents, 12)), "the seed is used");
    }

    #[test]
    fn too_little_for_an_interval() {
        assert!(bootstrap_interval(&[], 3).0.is_nan());
        assert!(bootstrap_interval(&[0.5], 3).1.is_nan());
        assert!(interval_by(&[0.5, 0.7], &[1, 1], 3).0.is_nan());
        assert_eq!(bootstrap_interval(&[0.5, 0.5, 0.5], 3), (0.5, 0.5));
        assert_eq!(quantile(&[], 0.5), 0.0);
    }

    #[test]
    fn documents_of_many_like_questions_widen_an_interval() {
        let values: Vec<f64> = (0..600).map(|i| f64::from(i / 10 % 7) / 7.0).collect();
        let documents: Vec<usize> = (0..600).map(|i| i / 10).collect();
        let width = |(low, high): (f64, f64)| high - low;
        let ratio = width(interval_by(&values, &documents, 1)) / width(bootstrap_interval(&values, 1));
        assert!((ratio - 10.0_f64.sqrt()).abs() < 0.25, "{ratio}");
    }
}
