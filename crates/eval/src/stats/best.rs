//! Which of several systems is the best, and which may be.

use rayon::prelude::*;

use super::draws::Flips;
use super::permutation::TIE;
use super::table::{Replicates, Table};

/// The level at which systems leave the [`confidence_set`]: what stays holds the best with 90 % confidence.
pub const SET_LEVEL: f64 = 0.1;

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

/// Returns, for each system, the p-value with which it leaves the set of those that may be the best: a model confidence set
/// (Hansen, Lunde and Nason 2011). The systems with a value of at least [`SET_LEVEL`] hold the best with 90 % confidence.
///
/// Of the systems that are left, the widest difference of two, |sum of d_j| / sqrt(sum of d_j^2) over the documents, is
/// compared with the widest under each pattern of signs. Where at least a share p of the patterns reach it, nothing more
/// can be told apart; else the system that lies furthest below another goes, with the highest p so far. The last one has 1.
///
/// That the signs of documents are flipped, for all pairs together, is the choice here; the paper resamples and takes the
/// standard errors as known. With a dozen systems on 60 documents of uneven size, resampling left out one of equally good
/// systems in 21 of 100 samples instead of 10, and flipping, which is exact where documents are as likely to favour one
/// system as the other, in no more than it should.
#[must_use]
pub fn confidence_set(table: &Table, flips: &Flips) -> Vec<f64> {
    let systems = table.systems();
    let (totals, norms, flipped) = (table.totals(), table.norms(), table.flipped(flips));
    let rows: Vec<&[f64]> = flipped.rows().collect();
    let mut p = vec![1.0; systems];
    let mut left: Vec<usize> = (0..systems).collect();
    let mut highest = 0.0_f64;
    while left.len() > 1 && !rows.is_empty() {
        let apart = |row: &[f64], a: usize, b: usize| standardised(row[a] - row[b], norms[a * systems + b]);
        let pairs: Vec<(usize, usize)> =
            left.iter().enumerate().flat_map(|(i, &a)| left[i + 1..].iter().map(move |&b| (a, b))).collect();
        let range = pairs.iter().map(|&(a, b)| apart(&totals, a, b).abs()).fold(0.0, f64::max);
        let reaches = |row: &&&[f64]| pairs.iter().any(|&(a, b)| apart(row, a, b).abs() >= range - 1e-9);
        highest = highest.max(flips.p(rows.par_iter().filter(reaches).count()));
        let behind = |a: usize| left.iter().map(|&b| apart(&totals, b, a)).fold(f64::NEG_INFINITY, f64::max);
        // The later of equals goes.
        let worst = left.iter().copied().max_by(|&a, &b| behind(a).total_cmp(&behind(b)));
        let Some(worst) = worst else { break };
        p[worst] = highest.min(1.0);
        left.retain(|system| *system != worst);
    }
    p
}

/// A difference over the root of its documents' squares; 0 where there is none.
fn standardised(difference: f64, norm: f64) -> f64 {
    if norm <= TIE { 0.0 } else { difference / norm }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::Draws;
    use super::*;

    /// Systems whose scores lie above 0.5 by `above`, and vary by noise of their own.
    fn table(above: &[f64]) -> Table {
        let documents: Vec<usize> = (0..80).collect();
        let noise = |s: usize, d: usize| ((d * 37 + s * 101) as f64 * 12.9898).sin() * 0.3;
        let of = |(s, above): (usize, &f64)| documents.iter().map(|d| 0.5 + above + noise(s, *d)).collect();
        Table::new(&above.iter().enumerate().map(of).collect::<Vec<_>>(), &documents).unwrap()
    }

    #[test]
    fn systems_that_lie_far_apart_are_told_apart() {
        let table = table(&[0.0, 0.4, 0.8, 1.2]);
        let p = confidence_set(&table, &Flips::new(80, 7));
        assert_eq!(p[3], 1.0);
        assert!(p[..3].iter().all(|p| *p < 0.001), "{p:?}");
        let best = p_best(&table.resampled(&Draws::new(80, 7)));
        assert!(best[3] > 0.999 && (best.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn like_systems_stay_and_a_bad_one_goes() {
        let p = confidence_set(&table(&[0.0, -0.5, 0.0, 0.0]), &Flips::new(80, 7));
        assert!(p[1] < 0.001 && [p[0], p[2], p[3]].iter().all(|p| *p > 0.1), "{p:?}");
    }

    #[test]
    fn equals_share_the_first_place() {
        let documents: Vec<usize> = (0..20).collect();
        let scores: Vec<f64> = documents.iter().map(|d| *d as f64 / 20.0).collect();
        let table = Table::new(&[scores.clone(), scores], &documents).unwrap();
        let best = p_best(&table.resampled(&Draws::new(20, 1)));
        assert!((best[0] - 0.5).abs() < 1e-9 && (best[1] - 0.5).abs() < 1e-9, "{best:?}");
        assert_eq!(confidence_set(&table, &Flips::new(20, 1)), [1.0, 1.0]);
    }

    #[test]
    fn a_single_document_tells_nothing_apart() {
        let one = Table::new(&[vec![0.1, 0.2], vec![0.9, 0.8]], &[0, 0]).unwrap();
        assert_eq!(confidence_set(&one, &Flips::new(1, 1)), [1.0, 1.0]);
    }
}
