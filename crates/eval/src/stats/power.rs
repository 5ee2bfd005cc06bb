//! What a sample can find, and how large one would have to be.

use super::clusters::Clustered;
use super::normal::{normal_quantile, t_quantile};
use super::permutation::TIE;

/// Documents below which an exact test by their signs cannot reach p < `level`, whatever they score: the least p of n is 2 / 2^n.
fn fewest(level: f64) -> usize {
    (2.0 / level).log2().floor() as usize + 1
}

/// The share of samples in which a difference is to be found.
const POWER: f64 = 0.8;

/// The minimal detectable difference: the true mean difference that a two-sided test at `level` on these documents finds
/// in 80 % of samples, (t(1 - level / 2) + t(0.8)) * the standard error by document, t with D - 1 degrees of freedom.
/// In a family of f comparisons the level of a single one is level / f, the strictest that Holm's correction asks for.
/// Infinite for a single document: nothing can be found with it.
#[must_use]
pub fn detectable(clustered: &Clustered, level: f64) -> f64 {
    let Some(error) = clustered.standard_error() else { return f64::INFINITY };
    let df = clustered.documents() - 1;
    (t_quantile(1.0 - level / 2.0, df) + t_quantile(POWER, df)) * error
}

/// How many documents in all, with as many questions each as here, find a true difference of this size in 80 % of samples
/// at `level`: D * ((z(1 - level / 2) + z(0.8)) * standard error / difference)^2, from the variance by document; at 0.05 six at least,
/// since fewer cannot show any. `None` where nothing can be said: a difference of 0, a single document, or no variance.
#[must_use]
pub fn documents_needed(clustered: &Clustered, difference: f64, level: f64) -> Option<usize> {
    let error = clustered.standard_error().filter(|error| *error > TIE)?;
    let z = normal_quantile(1.0 - level / 2.0) + normal_quantile(POWER);
    let needed = clustered.documents() as f64 * (z * error / difference).powi(2);
    (difference.abs() > TIE && needed.is_finite()).then(|| (needed.ceil() as usize).max(fewest(level)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn alternating(n: usize) -> Clustered {
        let values: Vec<f64> = (0..n).map(|i| (i % 2) as f64).collect();
        Clustered::new(&values, &(0..n).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn detectable_shrinks_with_the_root_of_n_and_grows_with_the_family() {
        let (few, many) = (alternating(50), alternating(5000));
        assert!((detectable(&few, 0.05) / detectable(&many, 0.05) - 10.0).abs() < 0.5);
        assert!(detectable(&few, 0.05 / 12.0) > 1.3 * detectable(&few, 0.05));
        assert_eq!(detectable(&alternating(1), 0.05), f64::INFINITY);
    }

    #[test]
    fn a_sample_of_the_needed_size_finds_the_difference() {
        let sample = alternating(100);
        let found = detectable(&alternating(100_000), 0.05);
        let needed = documents_needed(&sample, found, 0.05).unwrap();
        assert!((needed as f64 / 100_000.0 - 1.0).abs() < 0.03, "{needed}");
        assert_eq!(documents_needed(&sample, 0.0, 0.05), None);
        // However large a difference is, fewer than six documents cannot show it.
        assert_eq!(documents_needed(&sample, 100.0, 0.05), Some(6));
        assert_eq!(documents_needed(&alternating(1), 0.1, 0.05), None);
        let flat = Clustered::new(&[0.2; 6], &[0, 1, 2, 3, 4, 5]).unwrap();
        assert_eq!(documents_needed(&flat, 0.2, 0.05), None);
    }
}
