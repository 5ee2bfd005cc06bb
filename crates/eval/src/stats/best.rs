//! Which of several systems is the best, and which may be.

use rayon::prelude::*;

use super::permutation::TIE;
use super::table::Replicates;

/// Returns, for each system, the share of resamples in which it has the highest mean; equals share one. The shares sum to
/// 1, or to 0 where nothing was resampled.
#[must_use]
pub fn p_best(replicates: &Replicates) -> Vec<f64> {
    let mut shares = vec![0.0; replicates.systems()];
    let mut resamples = 0_usize;
    for row in replicates.rows() {
        let highest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tied = row.iter().filter(|x| **x >= highest - TIE).count().max(1);
        for (share, _) in shares.iter_mut().zip(row).filter(|(_, x)| **x >= highest - TIE) {
            *share += 1.0 / tied as f64;
        }
        resamples += 1;
    }
    shares.iter_mut().for_each(|share| *share /= resamples.max(1) as f64);
    shares
}

/// Returns, for each system, the p-value with which it leaves the set of those that may be the best: the model confidence
/// set (Hansen, Lunde and Nason 2011) with the range statistic.
///
/// Of the systems that are left, the largest |mean difference| / standard error is compared with the same of every resample
/// about what was seen. Where it is larger in at least a share p of them, nothing more can be told apart; else the system
/// that lies furthest below another, in standard errors, goes, with the highest p so far. The systems with a value of at
/// least 0.1 hold the best with 90 % confidence. The last one has 1.
///
/// `means` are those of all questions, `replicates` those of the resamples of documents: the bootstrap that the standard
/// errors and the distribution of the range are taken from (section 3.2 there, with documents instead of blocks of time).
#[must_use]
pub fn confidence_set(means: &[f64], replicates: &Replicates) -> Vec<f64> {
    let systems = means.len().min(replicates.systems());
    let mut p = vec![1.0; systems];
    let errors = errors(means, replicates);
    let mut left: Vec<usize> = (0..systems).collect();
    let mut highest = 0.0_f64;
    while left.len() > 1 {
        let apart = |a: usize, b: usize| standardised(means[a] - means[b], errors[a * systems + b]);
        let pairs: Vec<(usize, usize)> =
            left.iter().enumerate().flat_map(|(i, &a)| left[i + 1..].iter().map(move |&b| (a, b))).collect();
        let range = pairs.iter().map(|&(a, b)| apart(a, b).abs()).fold(0.0, f64::max);
        let rows: Vec<&[f64]> = replicates.rows().collect();
        let reached = rows.par_iter().filter(|row| {
            pairs.iter().any(|&(a, b)| {
                let moved = (row[a] - means[a]) - (row[b] - means[b]);
                standardised(moved, errors[a * systems + b]).abs() >= range - 1e-9
            })
        });
        highest = highest.max(reached.count() as f64 / rows.len().max(1) as f64);
        let behind = |a: usize| left.iter().map(|&b| apart(b, a)).fold(f64::NEG_INFINITY, f64::max);
        // The later of equals goes.
        let worst = left.iter().copied().max_by(|&a, &b| behind(a).total_cmp(&behind(b)));
        let Some(worst) = worst else { break };
        p[worst] = highest;
        left.retain(|system| *system != worst);
    }
    p
}

/// By pair, the root of the mean squared deviation of the difference in a resample from that of all questions.
fn errors(means: &[f64], replicates: &Replicates) -> Vec<f64> {
    let systems = means.len().min(replicates.systems());
    let mut errors = vec![0.0; systems * systems];
    let resamples = replicates.rows().len().max(1) as f64;
    for (a, b) in (0..systems).flat_map(|a| (0..a).map(move |b| (a, b))) {
        let moved = |row: &[f64]| ((row[a] - means[a]) - (row[b] - means[b])).powi(2);
        let error = (replicates.rows().map(moved).sum::<f64>() / resamples).sqrt();
        (errors[a * systems + b], errors[b * systems + a]) = (error, error);
    }
    errors
}

/// A difference in standard errors; 0 where there is none, infinite where it never varies.
fn standardised(difference: f64, error: f64) -> f64 {
    if difference.abs() <= TIE { 0.0 } else { difference / error.max(TIE) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::{Draws, Table};
    use super::*;

    /// Systems whose scores differ by `step` from one to the next, and by noise of their own.
    fn measured(systems: usize, step: f64) -> (Vec<f64>, Replicates) {
        let documents: Vec<usize> = (0..80).collect();
        let noise = |s: usize, d: usize| ((d * 37 + s * 101) as f64 * 12.9898).sin() * 0.3;
        let scores: Vec<Vec<f64>> =
            (0..systems).map(|s| documents.iter().map(|d| 0.5 + step * s as f64 + noise(s, *d)).collect()).collect();
        let table = Table::new(&scores, &documents).unwrap();
        (table.means(), table.resampled(&Draws::new(80, 7)))
    }

    #[test]
    fn systems_that_lie_far_apart_are_told_apart() {
        let (means, replicates) = measured(4, 0.4);
        let p = confidence_set(&means, &replicates);
        assert_eq!(p[3], 1.0);
        assert!(p[..3].iter().all(|p| *p < 0.001), "{p:?}");
        let best = p_best(&replicates);
        assert!(best[3] > 0.999 && (best.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn like_systems_stay_and_a_bad_one_goes() {
        let (_, replicates) = measured(4, 0.0);
        let mut means: Vec<f64> = (0..4).map(|s| replicates.of(s).iter().sum::<f64>() / 10_000.0).collect();
        // The same but for a shift of one.
        means[1] -= 0.5;
        let p = confidence_set(&means, &replicates.mapped(|system, x| if system == 1 { x - 0.5 } else { x }));
        assert!(p[1] < 0.001 && [p[0], p[2], p[3]].iter().all(|p| *p > 0.1), "{p:?}");
    }

    #[test]
    fn equals_share_the_first_place() {
        let documents: Vec<usize> = (0..20).collect();
        let scores: Vec<f64> = documents.iter().map(|d| *d as f64 / 20.0).collect();
        let table = Table::new(&[scores.clone(), scores], &documents).unwrap();
        let replicates = table.resampled(&Draws::new(20, 1));
        let best = p_best(&replicates);
        assert!((best[0] - 0.5).abs() < 1e-9 && (best[1] - 0.5).abs() < 1e-9, "{best:?}");
        assert_eq!(confidence_set(&table.means(), &replicates), [1.0, 1.0]);
    }
}
