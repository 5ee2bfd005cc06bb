//! Two systems on the same questions.

use serde::{Deserialize, Serialize};

use super::bootstrap::{Interval, replicates};
use super::clusters::Clustered;
use super::draws::RESAMPLES;
use super::permutation::{TIE, permutation_p};
use super::power::detectable;

/// The level of a single test and of the intervals: 95 %.
pub const ALPHA: f64 = 0.05;

/// Two systems compared on n questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// Questions.
    pub n: usize,
    /// Documents that answer them: the units that are drawn and flipped.
    pub documents: usize,
    /// Mean over the questions of a's score minus b's.
    pub difference: f64,
    /// Lower end of the 95 % bootstrap interval of the mean difference, see [`Interval`]; NaN with a single document.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Two-sided p-value of the paired permutation test, above 0, at most 1.
    pub p: f64,
    /// Questions on which a scores higher.
    pub wins: usize,
    /// Questions on which both score the same (to 1e-12).
    pub ties: usize,
    /// Questions on which b scores higher.
    pub losses: usize,
    /// The smallest true difference that a sample of this size and spread finds with 80 % power at 0.05, see
    /// [`detectable`]; infinite for a single document.
    pub detectable: f64,
    /// See [`Clustered::design_effect`].
    pub design_effect: Option<f64>,
}

/// Compares a with b on questions that are independent of each other; as [`compare_by`] where each has a document of its
/// own.
#[must_use]
pub fn compare(a: &[f64], b: &[f64], seed: u64) -> Option<Paired> {
    compare_by(a, b, &(0..a.len()).collect::<Vec<_>>(), seed)
}

/// Compares a with b. `a[i]` and `b[i]` are their scores on the same question, `documents[i]` is the number of the document
/// that answers it. `None` where there is no question, where the lengths differ and where a score is not finite.
///
/// The same input and seed give the same bits for every number of threads.
#[must_use]
pub fn compare_by(a: &[f64], b: &[f64], documents: &[usize], seed: u64) -> Option<Paired> {
    if a.len() != b.len() {
        return None;
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let clustered = Clustered::new(&differences, documents)?;
    let mut values = replicates(&clustered, seed);
    let (low, high) = Interval::of(&clustered, &mut values).ends(ALPHA);
    let (wins, ties, losses) = counted(&differences);
    Some(Paired {
        n: differences.len(),
        documents: clustered.documents(),
        difference: clustered.estimate(),
        low,
        high,
        p: permutation_p(clustered.sums(), RESAMPLES, seed),
        wins,
        ties,
        losses,
        detectable: detectable(&clustered, ALPHA),
        design_effect: clustered.design_effect(),
    })
}

/// Returns how many differences are above 0, 0 (to 1e-12) and below.
#[must_use]
pub fn counted(differences: &[f64]) -> (usize, usize, usize) {
    let count = |of: fn(f64) -> bool| differences.iter().filter(|d| of(**d)).count();
    (count(|d| d > TIE), count(|d| d.abs() <= TIE), count(|d| d < -TIE))
}

/// Returns true where two one-sided tests at 5 % each call two systems equal: where the 90 % interval of their difference
/// lies inside -margin..margin (Schuirmann 1987). Only this is a reason to say that there is no difference that matters.
#[must_use]
pub fn equivalent(interval: (f64, f64), margin: f64) -> bool {
    interval.0 > -margin && interval.1 < margin
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn odd_input() {
        assert_eq!(compare(&[], &[], 1), None);
        assert_eq!(compare(&[1.0], &[1.0, 2.0], 1), None);
        assert_eq!(compare(&[f64::NAN], &[1.0], 1), None);
        assert_eq!(compare(&[f64::INFINITY], &[1.0], 1), None);
        let one = compare(&[0.75], &[0.25], 1).unwrap();
        assert_eq!((one.n, one.documents, one.difference, one.p), (1, 1, 0.5, 1.0));
        assert!(one.low.is_nan() && one.high.is_nan() && one.detectable.is_infinite());
        let same = compare(&[0.5; 40], &[0.5; 40], 1).unwrap();
        assert_eq!((same.difference, same.low, same.high, same.p, same.ties), (0.0, 0.0, 0.0, 1.0, 40));
        assert_eq!((same.detectable, same.design_effect), (0.0, None));
    }

    #[test]
    fn questions_of_one_document_count_together() {
        // Twelve documents with ten like questions each; the difference goes one way in nine of them.
        let way = |d: usize| if d < 9 { 0.1 } else { -0.1 };
        let a: Vec<f64> = (0..120).map(|q| 0.5 + way(q / 10)).collect();
        let (b, documents) = (vec![0.5; 120], (0..120).map(|q| q / 10).collect::<Vec<usize>>());
        let by_document = compare_by(&a, &b, &documents, 7).unwrap();
        let by_question = compare(&a, &b, 7).unwrap();
        // Exactly: 9 or more of 12 coins on one side, 2 * (220 + 66 + 12 + 1) of 4,096.
        assert!((by_document.p - 598.0 / 4096.0).abs() < 1e-12, "{by_document:?}");
        assert!(by_question.p < 0.001 && by_document.low < 0.0 && by_question.low > 0.0);
        assert_eq!((by_document.documents, by_question.documents, by_document.wins), (12, 120, 90));
        assert!(by_document.design_effect.unwrap() > 9.0);
    }

    #[test]
    fn equal_within_a_margin() {
        assert!(equivalent((-0.01, 0.019), 0.02));
        assert!(!equivalent((-0.01, 0.03), 0.02) && !equivalent((f64::NAN, f64::NAN), 0.02));
    }

    proptest! {
        // Each case is two bootstraps and up to two sampled tests.
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn shapes_hold(differences in prop::collection::vec((-1.0..1.0_f64, 0..9_usize), 1..30), seed in any::<u64>()) {
            let (differences, documents): (Vec<f64>, Vec<usize>) = differences.into_iter().unzip();
            let zeros = vec![0.0; differences.len()];
            let there = compare_by(&differences, &zeros, &documents, seed).unwrap();
            let back = compare_by(&zeros, &differences, &documents, seed).unwrap();
            prop_assert!(there.p > 0.0 && there.p <= 1.0);
            prop_assert_eq!(there.p, back.p, "the test is symmetric");
            prop_assert_eq!((there.wins, there.losses), (back.losses, back.wins));
            prop_assert_eq!(there.wins + there.ties + there.losses, there.n);
            if there.documents > 1 {
                let (least, most) = (differences.iter().copied().fold(f64::MAX, f64::min),
                    differences.iter().copied().fold(f64::MIN, f64::max));
                prop_assert!(there.low <= there.high);
                prop_assert!(there.low >= least - 1e-12 && there.high <= most + 1e-12);
            }
        }
    }
}
