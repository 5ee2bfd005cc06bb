//! The bootstrap of any statistic, not of a mean alone ([`crate::stats`]), by clusters: what depends on each other is drawn
//! together.

use std::collections::BTreeMap;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

use crate::stats::{RESAMPLES, below, quantile};

/// Values in clusters: the questions of a document share its cuts.
pub(super) struct Clusters(Vec<Vec<usize>>);

impl Clusters {
    /// The places of equal names are one cluster.
    pub(super) fn by<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let mut found: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, name) in names.into_iter().enumerate() {
            found.entry(name).or_default().push(at);
        }
        Self(found.into_values().collect())
    }

    /// Number of clusters.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The 95 % percentile interval of a statistic of the values at some places (Cameron, Gelbach and Miller 2008: whole
    /// clusters are drawn with replacement, as many as there are). Resamples in which the statistic is not a number are left
    /// out; none with fewer than two clusters, or where half of the resamples are left out.
    ///
    /// The same input and seed give the same bits for every number of threads.
    pub(super) fn interval(&self, seed: u64, statistic: impl Fn(&[usize]) -> f64 + Sync) -> Option<[f64; 2]> {
        let n = self.0.len();
        if n < 2 {
            return None;
        }
        let mut found: Vec<f64> = (0..RESAMPLES)
            .into_par_iter()
            .map(|resample| {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                random.set_stream(resample as u64);
                let drawn = (0..n).filter_map(|_| self.0.get(below(&mut random, n))).flatten().copied();
                statistic(&drawn.collect::<Vec<usize>>())
            })
            .filter(|value| value.is_finite())
            .collect();
        if found.len() * 2 < RESAMPLES {
            return None;
        }
        found.sort_unstable_by(f64::total_cmp);
        Some([quantile(&found, 0.025), quantile(&found, 0.975)])
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn mean(values: &[f64], at: &[usize]) -> f64 {
        at.iter().map(|&i| values[i]).sum::<f64>() / at.len() as f64
    }

    #[test]
    fn clusters_of_equal_values_make_the_interval_wider() {
        // 20 clusters of 5 equal values each hold what 20 values hold, not 100.
        let values: Vec<f64> = (0..100).map(|i| f64::from((i / 5) % 2)).collect();
        let names: Vec<String> = (0..100).map(|i| (i / 5).to_string()).collect();
        let clustered = Clusters::by(names.iter().map(String::as_str));
        let single: Vec<String> = (0..100).map(|i| i.to_string()).collect();
        let alone = Clusters::by(single.iter().map(String::as_str));
        assert_eq!((clustered.len(), alone.len()), (20, 100));
        let width = |clusters: &Clusters| {
            let [low, high] = clusters.interval(7, |at| mean(&values, at)).unwrap();
            assert!(low < 0.5 && 0.5 < high);
            high - low
        };
        // The standard errors are sqrt(0.25 / 20) and sqrt(0.25 / 100); an interval is 3.92 of them wide.
        // Means of 20 zeros and ones lie 0.05 apart.
        assert!((width(&clustered) - 3.92 * 0.1118).abs() < 0.06, "{}", width(&clustered));
        assert!((width(&alone) - 3.92 * 0.05).abs() < 0.02, "{}", width(&alone));
    }

    #[test]
    fn what_cannot_be_said_is_not_said() {
        let one = Clusters::by(["a", "a"]);
        assert!(one.interval(7, |at| at.len() as f64).is_none());
        let two = Clusters::by(["a", "b"]);
        assert!(two.interval(7, |_| f64::NAN).is_none());
        assert_eq!(two.interval(7, |_| 3.0), Some([3.0, 3.0]));
        assert_eq!(quantile(&[1.0, 2.0, 4.0], 0.75), 3.0);
    }
}
