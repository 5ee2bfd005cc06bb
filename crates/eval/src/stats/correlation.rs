//! Correlations of two lists.

use super::mean;

/// Pearson's correlation; NaN with fewer than two pairs, lists of different lengths, and where one does not vary.
#[must_use]
pub fn pearson(a: &[f64], b: &[f64]) -> f64 {
    if a.len() != b.len() || a.len() < 2 {
        return f64::NAN;
    }
    let (mean_a, mean_b) = (mean(a), mean(b));
    let (mut both, mut of_a, mut of_b) = (0.0, 0.0, 0.0);
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x - mean_a, y - mean_b);
        both += x * y;
        of_a += x * x;
        of_b += y * y;
    }
    if of_a * of_b > 0.0 { both / (of_a * of_b).sqrt() } else { f64::NAN }
}

/// Spearman's correlation: Pearson's of the ranks, where equal values share the mean of theirs.
#[must_use]
pub fn spearman(a: &[f64], b: &[f64]) -> f64 {
    pearson(&ranks(a), &ranks(b))
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut from = 0;
    while from < order.len() {
        let same = order[from..].iter().take_while(|&&i| values[i] == values[order[from]]).count().max(1);
        let rank = from as f64 + (same as f64 + 1.0) / 2.0;
        for &i in &order[from..from + same] {
            ranks[i] = rank;
        }
        from += same;
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correlations_are_scipys() {
        // scipy.stats.pearsonr and spearmanr of the same lists.
        let (a, b) = ([1.0, 2.0, 2.0, 4.0, 7.5], [2.0, 1.0, 3.0, 3.5, 3.0]);
        assert!((pearson(&a, &b) - 0.507_062_987_344_105_4).abs() < 1e-12, "{}", pearson(&a, &b));
        assert!((spearman(&a, &b) - 0.605_263_157_894_737).abs() < 1e-12, "{}", spearman(&a, &b));
        assert!(pearson(&a, &[1.0; 5]).is_nan() && spearman(&a[..1], &b[..1]).is_nan());
    }
}
