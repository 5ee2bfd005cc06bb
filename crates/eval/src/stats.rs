//! Paired statistics: two chunkers are compared on the same questions, question by question.
//!
//! ```
//! use pericope_eval::stats::compare;
//!
//! let (a, b) = ([0.9, 0.7, 0.8, 1.0, 0.6, 0.9], [0.5, 0.7, 0.4, 0.8, 0.5, 0.3]);
//! let paired = compare(&a, &b, 7).ok_or("no question in common")?;
//! assert!((paired.difference - 1.7 / 6.0).abs() < 1e-12);
//! assert_eq!((paired.wins, paired.ties, paired.losses), (5, 1, 0));
//! // Five differences that are not zero: the exact test cannot go below 2 of 32 sign patterns.
//! assert_eq!(paired.p, 2.0 / 32.0);
//! # Ok::<(), &str>(())
//! ```

use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Bootstrap and permutation resamples.
pub const RESAMPLES: usize = 10_000;

/// Up to this many differences that are not zero, all sign patterns are gone through instead of sampled.
pub const EXACT_UP_TO: usize = 13;

/// Differences up to this size are ties: what is left of equal scores that were summed in another order.
const TIE: f64 = 1e-12;

/// Standard normal quantiles: of 0.975, for a two-sided test at 0.05, and of 0.8, for a power of 80 %.
const Z_ALPHA: f64 = 1.959_963_984_540_054;
const Z_POWER: f64 = 0.841_621_233_572_914_3;

/// Two systems compared on n questions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Paired {
    /// Questions.
    pub n: usize,
    /// Mean over the questions of a's score minus b's.
    pub difference: f64,
    /// Lower end of the 95 % bootstrap interval of the mean difference.
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
    /// [`detectable`]; infinite for a single question.
    pub detectable: f64,
}

/// Compares a with b. `a[i]` and `b[i]` are their scores on the same question. `None` where there is no question, where
/// the lengths differ and where a score is not finite.
///
/// The same input and seed give the same bits for every number of threads: each resample has a random stream of its
/// own.
#[must_use]
pub fn compare(a: &[f64], b: &[f64], seed: u64) -> Option<Paired> {
    if a.is_empty() || a.len() != b.len() {
        return None;
    }
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    if !differences.iter().all(|d| d.is_finite()) {
        return None;
    }
    let (low, high) = bootstrap_interval(&differences, seed);
    Some(Paired {
        n: differences.len(),
        difference: mean(&differences),
        low,
        high,
        p: permutation_p(&differences, seed),
        wins: differences.iter().filter(|&&d| d > TIE).count(),
        ties: differences.iter().filter(|d| d.abs() <= TIE).count(),
        losses: differences.iter().filter(|&&d| d < -TIE).count(),
        detectable: detectable(&differences),
    })
}

/// Mean; 0 of nothing.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The random numbers of one resample. Permutation and bootstrap draw from streams apart.
fn stream(seed: u64, resample: usize, purpose: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(2 * resample as u64 + purpose);
    random
}

/// The 95 % percentile interval of the mean (Efron and Tibshirani 1993, chapter 13): [`RESAMPLES`] samples of n
/// differences with replacement, and of their means the quantiles 0.025 and 0.975, interpolated between neighbours.
/// (0, 0) of nothing.
#[must_use]
pub fn bootstrap_interval(differences: &[f64], seed: u64) -> (f64, f64) {
    let n = differences.len();
    if n == 0 {
        return (0.0, 0.0);
    }
    let mut means: Vec<f64> = (0..RESAMPLES)
        .into_par_iter()
        .map(|resample| {
            let mut random = stream(seed, resample, 0);
            // The high half of a 64 x 64 bit product is uniform to one part in 2^64 / n.
            let draw = |word: u64| ((u128::from(word) * n as u128) >> 64) as usize;
            let sum: f64 = (0..n).map(|_| differences.get(draw(random.next_u64())).copied().unwrap_or(0.0)).sum();
            sum / n as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    (quantile(&means, 0.025), quantile(&means, 0.975))
}

/// The quantile `q` of sorted values, linear between neighbours (R's type 7, numpy's default); 0 of nothing.
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return 0.0 };
    let at = q * last as f64;
    let below = (at.floor() as usize).min(last);
    let above = (below + 1).min(last);
    let (low, high) = (sorted[below], sorted[above]);
    low + (high - low) * (at - below as f64)
}

/// Two-sided p-value of the paired permutation test: how often the mean difference is at least as far from 0 when each
/// difference keeps or changes its sign at random, as it may where the two systems are alike.
///
/// Differences of zero change nothing and are left out. With up to [`EXACT_UP_TO`] others, all sign patterns are gone
/// through. With more, [`RESAMPLES`] random ones are, and p = (count + 1) / (resamples + 1), which counts the pattern
/// that was seen (Phipson and Smyth 2010): it is never 0. 1 where no difference is left.
#[must_use]
pub fn permutation_p(differences: &[f64], seed: u64) -> f64 {
    let moving: Vec<f64> = differences.iter().copied().filter(|d| d.abs() > TIE).collect();
    if moving.is_empty() {
        return 1.0;
    }
    let observed = moving.iter().sum::<f64>().abs();
    // Sums that are equal on paper may differ in their last bits.
    let bar = observed - 1e-12 * moving.iter().map(|d| d.abs()).sum::<f64>();
    if moving.len() <= EXACT_UP_TO {
        let patterns = 1_usize << moving.len();
        let extreme = (0..patterns).filter(|&signs| flipped_sum(&moving, signs as u64).abs() >= bar).count();
        return extreme as f64 / patterns as f64;
    }
    let extreme = (0..RESAMPLES)
        .into_par_iter()
        .filter(|&resample| {
            let mut random = stream(seed, resample, 1);
            let sum: f64 = moving.chunks(64).map(|chunk| flipped_sum(chunk, random.next_u64())).sum();
            sum.abs() >= bar
        })
        .count();
    (extreme + 1) as f64 / (RESAMPLES + 1) as f64
}

/// Sum of up to 64 values, the i-th with its sign changed where bit i is set.
fn flipped_sum(values: &[f64], signs: u64) -> f64 {
    let flip = |(at, value): (usize, &f64)| f64::from_bits(value.to_bits() ^ (((signs >> at) & 1) << 63));
    values.iter().enumerate().map(flip).sum()
}

/// The minimal detectable difference: (z(0.975) + z(0.8)) * sd / sqrt(n), the true mean difference that a two-sided test
/// at 0.05 on n questions finds in 80 % of samples. sd is the sample standard deviation of the differences (n - 1); the
/// mean is taken to be normal, which for shares and n of 30 or more is close, and flatters smaller samples a little.
/// Infinite for fewer than two questions: nothing can be found with them.
#[must_use]
pub fn detectable(differences: &[f64]) -> f64 {
    standard_error(differences).map_or(f64::INFINITY, |error| (Z_ALPHA + Z_POWER) * error)
}

/// The standard error of a mean: sd / sqrt(n), sd being the sample standard deviation (n - 1). `None` for fewer than two
/// values.
#[must_use]
pub fn standard_error(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let center = mean(values);
    let variance = values.iter().map(|x| (x - center).powi(2)).sum::<f64>() / (n - 1) as f64;
    Some((variance / n as f64).sqrt())
}

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

/// What a mean difference comes to when the questions of any one document are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaveOneOut {
    /// Lowest mean difference over all documents left out.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// The document whose questions move the mean furthest.
    pub document: String,
}

/// Leaves out each document's questions in turn: shows whether a difference hangs on one document. `documents[i]` is
/// where the answer to question i stands. `None` with fewer than two documents, or lists of different lengths.
#[must_use]
pub fn leave_one_out(differences: &[f64], documents: &[&str]) -> Option<LeaveOneOut> {
    if differences.len() != documents.len() {
        return None;
    }
    let mut groups: std::collections::BTreeMap<&str, (f64, usize)> = std::collections::BTreeMap::new();
    for (difference, document) in differences.iter().zip(documents) {
        let group = groups.entry(document).or_default();
        *group = (group.0 + difference, group.1 + 1);
    }
    let (sum, n) = (differences.iter().sum::<f64>(), differences.len());
    let all = mean(differences);
    let without = |(left_out, count): (f64, usize)| (sum - left_out) / (n - count).max(1) as f64;
    let first = groups.iter().filter(|_| groups.len() > 1);
    let moved = first.map(|(document, group)| (*document, without(*group)));
    moved
        .fold(None, |found: Option<(LeaveOneOut, f64)>, (document, value)| {
            let away = (value - all).abs();
            let document = document.to_owned();
            Some(match found {
                None => (LeaveOneOut { low: value, high: value, document }, away),
                Some((before, furthest)) => (
                    LeaveOneOut {
                        low: before.low.min(value),
                        high: before.high.max(value),
                        document: if away > furthest { document } else { before.document },
                    },
                    furthest.max(away),
                ),
            })
        })
        .map(|(found, _)| found)
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
        let expected = Paired {
            n: 1,
            difference: 0.5,
            low: 0.5,
            high: 0.5,
            p: 1.0,
            wins: 1,
            ties: 0,
            losses: 0,
            detectable: f64::INFINITY,
        };
        assert_eq!(one, expected);
        let same = compare(&[0.5; 40], &[0.5; 40], 1).unwrap();
        assert_eq!((same.difference, same.low, same.high, same.p, same.ties), (0.0, 0.0, 0.0, 1.0, 40));
        assert_eq!(same.detectable, 0.0);
        assert_eq!(bootstrap_interval(&[], 3), (0.0, 0.0));
        assert_eq!(quantile(&[], 0.5), 0.0);
        assert!(holm(&[]).is_empty());
        assert_eq!(holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
    }

    #[test]
    fn correlations_are_scipys() {
        // scipy.stats.pearsonr and spearmanr of the same lists.
        let (a, b) = ([1.0, 2.0, 2.0, 4.0, 7.5], [2.0, 1.0, 3.0, 3.5, 3.0]);
        assert!((pearson(&a, &b) - 0.507_062_987_344_105_4).abs() < 1e-12, "{}", pearson(&a, &b));
        assert!((spearman(&a, &b) - 0.605_263_157_894_737).abs() < 1e-12, "{}", spearman(&a, &b));
        assert!(pearson(&a, &[1.0; 5]).is_nan() && spearman(&a[..1], &b[..1]).is_nan());
    }

    #[test]
    fn one_document_may_carry_a_difference() {
        let differences = [0.0, 0.1, -0.1, 0.8, 0.7, 0.0];
        let documents = ["a", "b", "b", "c", "c", "d"];
        let found = leave_one_out(&differences, &documents).unwrap();
        assert_eq!(found.document, "c");
        assert!(found.low.abs() < 1e-12);
        assert!((found.high - 1.5 / 4.0).abs() < 1e-12, "without b: {}", found.high);
        assert_eq!(leave_one_out(&differences, &["a"; 6]), None);
        assert_eq!(leave_one_out(&differences, &["a"]), None);
    }

    #[test]
    fn the_number_of_threads_does_not_matter() {
        let differences: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 101) / 101.0 - 0.4).collect();
        let run = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| (bootstrap_interval(&differences, 11), permutation_p(&differences, 11)))
        };
        let one = run(1);
        assert_eq!(one, run(3));
        assert_ne!(one.0, bootstrap_interval(&differences, 12), "the seed is used");
    }

    #[test]
    fn sampled_p_is_close_to_the_exact_one() {
        // One difference more than is enumerated; the exact value by brute force over 2^14 patterns.
        let differences: Vec<f64> = (0..=EXACT_UP_TO).map(|i| (i as f64 * 0.7).sin() + 0.35).collect();
        let observed = differences.iter().sum::<f64>().abs();
        let patterns = 1_u32 << differences.len();
        let sum = |signs: u32| -> f64 {
            differences.iter().enumerate().map(|(i, d)| if signs >> i & 1 == 1 { -d } else { *d }).sum()
        };
        let exact = (0..patterns).filter(|&s| sum(s).abs() >= observed - 1e-9).count() as f64 / f64::from(patterns);
        let sampled = permutation_p(&differences, 5);
        assert!(sampled != exact && (sampled - exact).abs() < 0.02, "{sampled} against {exact}");
    }

    #[test]
    fn detectable_shrinks_with_the_root_of_n() {
        let few: Vec<f64> = (0..50).map(|i| f64::from(i % 2)).collect();
        let many: Vec<f64> = (0..5000).map(|i| f64::from(i % 2)).collect();
        assert!((detectable(&few) / detectable(&many) - 10.0).abs() < 0.2);
    }

    proptest! {
        // Each case is two bootstraps and up to two sampled tests.
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn shapes_hold(differences in prop::collection::vec(-1.0..1.0_f64, 1..30), seed in any::<u64>()) {
            let zeros = vec![0.0; differences.len()];
            let there = compare(&differences, &zeros, seed).unwrap();
            let back = compare(&zeros, &differences, seed).unwrap();
            prop_assert!(there.low <= there.high);
            prop_assert!(there.p > 0.0 && there.p <= 1.0);
            prop_assert_eq!(there.p, back.p, "the test is symmetric");
            prop_assert_eq!((there.wins, there.losses), (back.losses, back.wins));
            prop_assert_eq!(there.wins + there.ties + there.losses, there.n);
            let (least, most) = (differences.iter().copied().fold(f64::MAX, f64::min),
                differences.iter().copied().fold(f64::MIN, f64::max));
            prop_assert!(there.low >= least - 1e-12 && there.high <= most + 1e-12);
        }
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
