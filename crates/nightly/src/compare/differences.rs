use rayon::prelude::*;
use serde::Serialize;

use super::Pairing;
use crate::night::{NightlyRun, mean};
use pericope_eval::cell::CellKey;
use pericope_eval::metric::Metric;
use pericope_eval::stats;

/// What a metric of one cell did between two nights, on the questions that pair up.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Chunker, mode and setting.
    #[serde(flatten)]
    pub cell: CellKey,
    /// The metric.
    pub metric: Metric,
    /// Questions that have a score on both nights.
    pub n: usize,
    /// Their mean on the earlier night.
    pub before: f64,
    /// Their mean on the later night.
    pub tonight: f64,
    /// Later minus earlier: negative is a loss.
    pub difference: f64,
    /// Two-sided p-value of the paired permutation test; 1 where nothing changed.
    pub p: f64,
    /// Questions that gained.
    pub wins: usize,
    /// Questions that lost.
    pub losses: usize,
    /// Later minus earlier of each of these questions.
    #[serde(skip)]
    pub by_question: Vec<f64>,
}

impl Difference {
    /// The difference on a scale of 0..1, whatever the metric's unit.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.difference / self.metric.scale()
    }

    /// The 95 % interval of the difference.
    #[must_use]
    pub fn interval(&self, seed: u64) -> (f64, f64) {
        stats::bootstrap_interval(&self.by_question, seed)
    }
}

/// Every cell that both nights have, by every metric asked for that both have, in the later night's order.
#[must_use]
pub fn differences(
    before: &NightlyRun,
    tonight: &NightlyRun,
    pairing: &Pairing,
    metrics: &[Metric],
    seed: u64,
) -> Vec<Difference> {
    let wanted: Vec<_> = (tonight.cells.iter())
        .filter_map(|now| Some((before.cell(&now.key)?, now)))
        .flat_map(|(then, now)| metrics.iter().map(move |metric| (then, now, metric)))
        .collect();
    wanted
        .into_par_iter()
        .filter_map(|(then, now, metric)| {
            let (earlier, later) = (then.scores.get(metric)?, now.scores.get(metric)?);
            let pairs: Vec<(f64, f64)> =
                (pairing.common.iter()).filter_map(|&(a, b)| Some(((*earlier.get(a)?)?, (*later.get(b)?)?))).collect();
            let by_question: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
            let mean_before = mean(pairs.iter().map(|pair| pair.0))?;
            let mean_tonight = mean(pairs.iter().map(|pair| pair.1))?;
            Some(Difference {
                cell: now.key.clone(),
                metric: metric.clone(),
                n: pairs.len(),
                before: mean_before,
                tonight: mean_tonight,
                difference: mean(by_question.iter().copied())?,
                p: stats::permutation_p(&by_question, seed),
                wins: by_question.iter().filter(|d| **d > 1e-12).count(),
                losses: by_question.iter().filter(|d| **d < -1e-12).count(),
                by_question,
            })
        })
        .collect()
}

/// The metrics that nights are compared by: those of the gates, and those that chunkers are compared by.
pub(crate) fn compared<'a>(of_gates: impl Iterator<Item = &'a Metric>) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = of_gates.chain(Metric::compared()).cloned().collect();
    metrics.sort_by_key(Metric::order);
    metrics.dedup();
    metrics
}
