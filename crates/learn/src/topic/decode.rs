//! From probabilities to boundaries.

/// The number of boundaries with the highest expected F1, where gap i has a boundary with probability p(i): those k gaps with the
/// highest probabilities for which 2 (their sum) / (k + sum of all) is greatest (Ye et al. 2012, to first order).
///
/// A document whose boundaries are uncertain throughout thus gets them at lower probabilities than one where they are plain. None at
/// all is right, with an F1 of 1, where there is none: with the probability that no gap has one.
#[must_use]
pub fn best_count(probabilities: &[f64]) -> usize {
    let none: f64 = probabilities.iter().map(|p| 1.0 - p).product();
    let (count, f1) = best_boundaries(probabilities);
    if f1 > none { count } else { 0 }
}

/// The number of boundaries, at least one, with the highest expected F1, and that F1, in `[0, 1]`. Nothing where no gap can have one.
pub(super) fn best_boundaries(probabilities: &[f64]) -> (usize, f64) {
    let mut sorted: Vec<f64> = probabilities.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let expected: f64 = sorted.iter().sum();
    let (mut found, mut best, mut sum) = (0, 0.0, 0.0);
    for (k, p) in (1..).zip(sorted) {
        sum += p;
        let f1 = 2.0 * sum / (k as f64 + expected);
        if f1 > best {
            (found, best) = (k, f1);
        }
    }
    (found, best)
}

#[cfg(test)]
mod tests {
    use super::{best_boundaries, best_count};

    #[test]
    fn as_many_as_promise_most() {
        assert_eq!(best_count(&[]), 0);
        assert_eq!(best_count(&[0.0, 0.0]), 0);
        assert_eq!(best_count(&[0.9, 0.01, 0.8, 0.02]), 2);
        // Uncertain throughout: all of them are worth it.
        assert_eq!(best_count(&[0.3; 10]), 10);
        // One that is certain makes the others too expensive.
        assert_eq!(best_count(&[1.0, 0.1, 0.1, 0.1]), 1);
        // A short text without a change of topic stays whole, however little speaks against one.
        assert_eq!(best_count(&[0.1; 5]), 0);
        // Were there boundaries to be proposed all the same, they would be right less often.
        let (count, f1) = best_boundaries(&[0.1; 5]);
        assert!(count == 5 && (f1 - 1.0 / 5.5).abs() < 1e-9);
        assert_eq!(best_boundaries(&[]), (0, 0.0));
    }
}
