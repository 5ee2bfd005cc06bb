//! The paired permutation test, by document.

use rayon::prelude::*;

use super::draws::{EXACT_UP_TO, RESAMPLES, signs};

/// Differences up to this size are ties: what is left of equal scores that were summed in another order.
pub(super) const TIE: f64 = 1e-12;

/// Patterns that are looked at before it is asked again whether enough is known.
const BLOCK: usize = 1_000;

/// Extreme patterns after which the p-value is plainly large enough: at this number its standard error is 4.5 % of it.
const ENOUGH: usize = 500;

/// Returns how many random patterns a stable decision in a family of so many comparisons needs: 20 * family / level, at
/// least [`RESAMPLES`]. With m patterns no p-value is below 1 / (m + 1), so with fewer a correction could make every
/// difference of a large family one that cannot be shown.
#[must_use]
pub fn resamples_for(family: usize, level: f64) -> usize {
    let needed = (20.0 * family as f64 / level).ceil();
    // A family of ten thousand is the most that is provided for.
    if needed.is_finite() { (needed as usize).clamp(RESAMPLES, 400 * RESAMPLES) } else { RESAMPLES }
}

/// Returns the smallest p-value that the test can give, whatever the data: with few documents there are few patterns.
#[must_use]
pub fn smallest_p(documents: usize, most: usize) -> f64 {
    if documents == 0 {
        1.0
    } else if documents <= EXACT_UP_TO {
        2.0 / f64::from(1_u32 << documents)
    } else {
        1.0 / (most as f64 + 1.0)
    }
}

/// Returns the smallest p-value that the test can give of these sums of differences, whatever their signs: documents with a
/// difference of zero change nothing.
#[must_use]
pub fn smallest_p_of(sums: &[f64], most: usize) -> f64 {
    smallest_p(sums.iter().filter(|d| d.abs() > TIE).count(), most)
}

/// Two-sided p-value of the paired permutation test: how often the sum of all differences is at least as far from 0 when
/// each document's keeps or changes its sign at random, as it may where the two systems are alike. `sums[j]` is the sum of
/// the differences of document j's questions.
///
/// Documents with a difference of zero change nothing and are left out. With up to [`EXACT_UP_TO`] others, all sign
/// patterns are gone through. With more, up to `most` random ones are: p = (count + 1) / (most + 1), which counts the
/// pattern that was seen (Phipson and Smyth 2010) and is never 0. Where 500 patterns were at least as extreme after l of
/// them, p = 500 / l and no more are drawn (Besag and Clifford 1991). 1 where no difference is left.
///
/// The same input and seed give the same bits for every number of threads.
#[must_use]
pub fn permutation_p(sums: &[f64], most: usize, seed: u64) -> f64 {
    let moving: Vec<f64> = sums.iter().copied().filter(|d| d.abs() > TIE).collect();
    if moving.is_empty() {
        return 1.0;
    }
    let bar = bar(&moving);
    if moving.len() <= EXACT_UP_TO {
        let patterns = 1_usize << moving.len();
        let extreme = (0..patterns).filter(|&signs| flipped_sum(&moving, signs as u64).abs() >= bar).count();
        return extreme as f64 / patterns as f64;
    }
    let most = most.max(1);
    let (mut extreme, mut drawn) = (0, 0);
    while drawn < most {
        let block = drawn..(drawn + BLOCK).min(most);
        let hits: Vec<bool> = (block.clone().into_par_iter())
            .map_init(Vec::new, |words, resample| {
                words.clear();
                signs(seed, resample, moving.len(), words);
                let sum: f64 = moving.chunks(64).zip(words.iter()).map(|(chunk, word)| flipped_sum(chunk, *word)).sum();
                sum.abs() >= bar
            })
            .collect();
        for (at, _) in block.clone().zip(hits).filter(|(_, hit)| *hit) {
            extreme += 1;
            if extreme == ENOUGH {
                return ENOUGH as f64 / (at + 1) as f64;
            }
        }
        drawn = block.end;
    }
    (extreme + 1) as f64 / (most + 1) as f64
}

/// What a sum must reach to be as extreme as the one that was seen; sums that are equal on paper may differ in their last
/// bits.
pub(super) fn bar(sums: &[f64]) -> f64 {
    sums.iter().sum::<f64>().abs() - 1e-12 * sums.iter().map(|d| d.abs()).sum::<f64>()
}

/// Sum of up to 64 values, the i-th with its sign changed where bit i is set.
fn flipped_sum(values: &[f64], signs: u64) -> f64 {
    let flip = |(at, value): (usize, &f64)| f64::from_bits(value.to_bits() ^ (((signs >> at) & 1) << 63));
    values.iter().enumerate().map(flip).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let sampled = permutation_p(&differences, RESAMPLES, 5);
        assert!(sampled != exact && (sampled - exact).abs() < 0.02, "{sampled} against {exact}");
    }

    #[test]
    fn plain_cases_stop_early_and_small_ones_go_on() {
        // Differences of both signs that nearly cancel: half of all patterns are more extreme.
        let even: Vec<f64> = (0..60).map(|i| if i % 2 == 0 { 1.0 } else { -1.01 } + f64::from(i) * 1e-3).collect();
        let p = permutation_p(&even, 1_000_000, 3);
        let drawn = 500.0 / p;
        assert!(p > 0.5 && (drawn - drawn.round()).abs() < 1e-6, "{p} is 500 of a whole number");
        // All of one sign: no pattern is as extreme, however many are drawn.
        let sure = [1.0; 60];
        assert_eq!(permutation_p(&sure, 20_000, 3), 1.0 / 20_001.0);
        assert_eq!(permutation_p(&[0.0; 60], 20_000, 3), 1.0);
    }

    #[test]
    fn a_large_family_gets_the_patterns_that_it_needs() {
        assert_eq!(resamples_for(11, 0.05), RESAMPLES);
        assert_eq!(resamples_for(528, 0.05), 211_200);
        // The smallest p-value there is survives the correction for the whole family.
        for family in [1, 11, 500, 528, 5_000] {
            assert!(smallest_p(60, resamples_for(family, 0.05)) * (family as f64) < 0.05 / 10.0);
        }
        assert_eq!(smallest_p(4, RESAMPLES), 0.125);
        assert_eq!((smallest_p(0, 10), smallest_p(13, 10)), (1.0, 2.0 / 8192.0));
        assert_eq!(resamples_for(3, 0.0), RESAMPLES);
        // Twenty documents of which four differ say no more than four.
        let mut sums = [0.0; 20];
        sums[3..7].fill(-0.2);
        assert_eq!(smallest_p_of(&sums, RESAMPLES), 0.125);
        assert_eq!(permutation_p(&sums, RESAMPLES, 3), 0.125);
    }
}
