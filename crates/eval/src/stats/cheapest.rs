//! Ways of doing one thing, from the cheapest to the dearest: which is worth its price.

use super::bootstrap::bootstrap_interval;
use super::mean;
use super::paired::{Paired, compare};

/// How one way does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Standing {
    /// Mean of its scores.
    pub mean: f64,
    /// The 95 % interval of the mean; none of one score.
    pub interval: Option<[f64; 2]>,
    /// Its mean less that of the best, and the 95 % interval of that; none for the best, and of one score.
    pub behind_best: Option<[f64; 3]>,
}

/// Compares ways that were measured on the same documents, `ways` holding the scores of each, from the cheapest on. Gives how
/// each does, and the place of the cheapest that may be as good as the best.
///
/// ```
/// use pericope_eval::stats::cheapest_as_good;
///
/// let (as_it_is, fitted) = ([0.5, 0.4, 0.6, 0.5, 0.4], [0.9, 0.7, 0.8, 0.9, 0.8]);
/// let (standings, chosen) = cheapest_as_good(&[&as_it_is, &fitted], 7);
/// assert_eq!(chosen, 1);
/// assert!(standings[0].behind_best.is_some_and(|[difference, ..]| difference < -0.3));
/// ```
#[must_use]
pub fn cheapest_as_good(ways: &[&[f64]], seed: u64) -> (Vec<Standing>, usize) {
    let best = ways.iter().copied().max_by(|a, b| mean(a).total_cmp(&mean(b))).unwrap_or_default();
    let standing = |scores: &&[f64]| Standing {
        mean: mean(scores),
        interval: Some(bootstrap_interval(scores, seed)).filter(|(low, _)| low.is_finite()).map(<[f64; 2]>::from),
        behind_best: behind(scores, best, seed),
    };
    let standings: Vec<Standing> = ways.iter().map(standing).collect();
    let may_be_best = |one: &Standing| one.behind_best.is_none_or(|[_, _, high]| high >= 0.0);
    let chosen = standings.iter().position(may_be_best).unwrap_or(0);
    (standings, chosen)
}

fn behind(scores: &[f64], best: &[f64], seed: u64) -> Option<[f64; 3]> {
    let Paired { difference, low, high, .. } = compare(scores, best, seed)?;
    (scores != best && low.is_finite()).then_some([difference, low, high])
}
