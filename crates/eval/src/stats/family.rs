//! Several comparisons at once.

/// Holm's step-down correction (Holm 1979) over a family of p-values: adjusted values in the same order, each at most 1
/// and at least the raw one; rejecting where they are at most 0.05 keeps the chance of any false rejection in the family
/// at 0.05. A value that is not a number stands as 1.
#[must_use]
pub fn holm(p: &[f64]) -> Vec<f64> {
    let p: Vec<f64> = p.iter().map(|&p| if p.is_nan() { 1.0 } else { p }).collect();
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut adjusted = vec![1.0; p.len()];
    let mut largest = 0.0_f64;
    for (rank, at) in order.into_iter().enumerate() {
        largest = largest.max(p[at] * (p.len() - rank) as f64).min(1.0);
        adjusted[at] = largest;
    }
    adjusted
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn odd_families() {
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
    }

    proptest! {
        #[test]
        fn holm_is_between_raw_and_bonferroni(p in prop::collection::vec(0.0..=1.0_f64, 0..20)) {
            for (adjusted, raw) in holm(&p).into_iter().zip(&p) {
                prop_assert!(adjusted >= *raw && adjusted <= (raw * p.len() as f64).min(1.0));
            }
        }
    }
}
