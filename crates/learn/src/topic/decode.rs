//! From probabilities to boundaries.

/// The number of boundaries with the highest expected F1, where gap i has a boundary with probability p(i): those k gaps with the
/// highest probabilities for which 2 (their sum) / (k + sum of all) is greatest (Ye et al. 2012, to first order).
///
/// A document whose boundaries are uncertain throughout thus gets them at lower probabilities than one where they are plain. None at
/// all is right, with an F1 of 1, where there is none: with the probability that no gap has one.
#[must_use]
pub fn best_count(probabilities: &[f64]) -> usize {
    best_f1(probabilities).0
}

/// That number, and the F1 that it promises, in `[0, 1]`.
pub(super) fn best_f1(probabilities: &[f64]) -> (usize, f64) {
    let mut sorted: Vec<f64> = probabilities.to_vec();
    sorted.sort_by(|a, b| b.total_cmp(a));
    let expected: f64 = sorted.iter().sum();
    let none: f64 = sorted.iter().map(|p| 1.0 - p).product();
    let (mut found, mut best, mut sum) = (0, none, 0.0);
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
    use super::{best_count, best_f1};

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
        assert!(
            (best_f1(&[0.9, 0.1]).1 - 1.8 / 2.0).abs() < 1e-9 && (best_f1(&[0.1; 5]).1 - 0.9f64.powi(5)).abs() < 1e-9
        );
    }
}
