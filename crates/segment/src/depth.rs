//! Valleys in a row of similarities, and the statistics that thresholds are set by.

/// Mean of each value and its neighbours (of those that there are).
pub(crate) fn smoothed(values: &[f64]) -> Vec<f64> {
    let mean = |i: usize| {
        let near = &values[i.saturating_sub(1)..(i + 2).min(values.len())];
        near.iter().sum::<f64>() / near.len() as f64
    };
    (0..values.len()).map(mean).collect()
}

/// How far the similarity rises from each place to the nearest peak on its left, plus the same on its right (Hearst
/// 1997, section 5.3). Peaks are found by climbing while the values do not fall. Linear time.
pub(crate) fn depths(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    let mut left = values.to_vec();
    for i in 1..n {
        if values[i - 1] >= values[i] {
            left[i] = left[i - 1];
        }
    }
    let mut right = values.to_vec();
    for i in (0..n.saturating_sub(1)).rev() {
        if values[i + 1] >= values[i] {
            right[i] = right[i + 1];
        }
    }
    (0..n).map(|i| left[i] + right[i] - 2.0 * values[i]).collect()
}

/// Mean and standard deviation (of the values themselves: divided by n); zeros for no values.
pub(crate) fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    if values.is_empty() {
        return (0.0, 0.0);
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
    (mean, variance.sqrt())
}

/// The `percent`-th percentile with linear interpolation between order statistics, as `numpy.percentile` has it; NaN
/// for no values.
pub(crate) fn percentile(values: &[f64], percent: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    pericope_util::percentile(&sorted, percent / 100.0).unwrap_or(f64::NAN)
}

/// Half the difference of each value's neighbours, and at the two ends the difference to the only one, as
/// `numpy.gradient` has it; empty for fewer than two values.
pub(crate) fn gradient(values: &[f64]) -> Vec<f64> {
    let n = values.len();
    if n < 2 {
        return Vec::new();
    }
    let slope = |i: usize| match i {
        0 => values[1] - values[0],
        i if i == n - 1 => values[i] - values[i - 1],
        i => (values[i + 1] - values[i - 1]) / 2.0,
    };
    (0..n).map(slope).collect()
}

#[cfg(test)]
mod tests {
    use super::{depths, gradient, percentile, smoothed};

    #[test]
    fn a_valley_is_as_deep_as_both_its_sides() {
        assert_eq!(depths(&[0.75, 0.5, 0.25, 0.5, 1.0]), [0.0, 0.25, 0.5 + 0.75, 0.5, 0.0]);
        assert_eq!(depths(&[]), [0.0; 0]);
        assert_eq!(smoothed(&[0.0, 3.0, 6.0]), [1.5, 3.0, 4.5]);
    }

    #[test]
    fn small_cases_of_percentile_and_gradient() {
        assert_eq!(percentile(&[3.0, 1.0, 2.0], 50.0), 2.0);
        assert_eq!(percentile(&[1.0], 95.0), 1.0);
        assert!(percentile(&[], 50.0).is_nan());
        assert_eq!(gradient(&[1.0, 2.0, 4.0]), [1.0, 1.5, 2.0]);
        assert_eq!(gradient(&[1.0]), [0.0; 0]);
    }
}
