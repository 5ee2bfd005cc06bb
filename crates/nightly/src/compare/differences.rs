use rayon::prelude::*;
use serde::Serialize;

use super::Pairing;
use crate::night::{NightlyRun, mean};
use pericope_eval::cell::CellKey;
use pericope_eval::metric::Metric;
use pericope_eval::record::JudgeIdentity;
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
    /// Two-sided p-value of the paired permutation test, by document; 1 where nothing changed. With fewer than 40
    /// documents it is by question: by document it would seldom be small enough after correction for all gates, and a gate
    /// that cannot fail is of no use.
    pub p: f64,
    /// Questions that gained.
    pub wins: usize,
    /// Questions that lost.
    pub losses: usize,
    /// Later minus earlier of each of these questions.
    #[serde(skip)]
    pub by_question: Vec<f64>,
    /// The number of the unit that each of these questions is flipped and drawn with: its document, or itself with fewer
    /// than 40 documents.
    #[serde(skip)]
    pub units: Vec<usize>,
}

/// With fewer documents than this, questions are the units.
const DOCUMENTS: usize = 40;

/// Sign patterns are drawn as for a level of so many times a gate's p-value: 0.05 for the usual one.
const WIDER: f64 = 5.0;

/// The unit of each question.
fn units(documents: &[&str]) -> Vec<usize> {
    let units = stats::numbered(documents);
    let many = units.iter().max().map_or(0, |last| last + 1);
    if many < DOCUMENTS { (0..documents.len()).collect() } else { units }
}

impl Difference {
    /// The difference on a scale of 0..1, whatever the metric's unit.
    #[must_use]
    pub fn share(&self) -> f64 {
        self.difference / self.metric.scale()
    }

    /// The 95 % interval of the difference, by the same units as its p-value.
    #[must_use]
    pub fn interval(&self, seed: u64) -> (f64, f64) {
        stats::interval_by(&self.by_question, &self.units, seed)
    }
}

/// Every cell that both nights have, by every metric asked for that both have, in the later night's order. `alpha` is the
/// least p-value below which a fall counts for a gate.
#[must_use]
pub fn differences(
    before: &NightlyRun,
    tonight: &NightlyRun,
    pairing: &Pairing,
    metrics: &[Metric],
    alpha: f64,
    seed: u64,
) -> Vec<Difference> {
    // Scores of another judge say nothing about the chunkers; the changes of the night name both judges.
    let judges = [before, tonight].map(|night| JudgeIdentity::of_run(&night.config, &night.checksums));
    let [then, now] = &judges;
    let apart: Vec<&Metric> = JudgeIdentity::differing(then, now).into_iter().map(|(metric, ..)| metric).collect();
    let metrics: Vec<&Metric> = metrics.iter().filter(|metric| !apart.contains(metric)).collect();
    let wanted: Vec<_> = (tonight.cells.iter())
        .filter_map(|now| Some((before.cell(&now.key)?, now)))
        .flat_map(|(then, now)| metrics.iter().map(move |&metric| (then, now, metric)))
        .collect();
    // As many sign patterns as let every one of these comparisons fail any gate after correction: of m of them no p-value is
    // below 1 / (m + 1).
    let patterns = stats::resamples_for(wanted.len(), stats::ALPHA.min(WIDER * alpha));
    wanted
        .into_par_iter()
        .filter_map(|(then, now, metric)| {
            let (earlier, later) = (then.scores.get(metric)?, now.scores.get(metric)?);
            let asked = |at: usize| tonight.questions.get(at).map_or("", |question| question.document.as_str());
            let (pairs, documents): (Vec<(f64, f64)>, Vec<&str>) = (pairing.common.iter())
                .filter_map(|&(a, b)| Some((((*earlier.get(a)?)?, (*later.get(b)?)?), asked(b))))
                .unzip();
            let units = units(&documents);
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
                p: stats::Clustered::new(&by_question, &units)
                    .map_or(1.0, |clustered| stats::permutation_p(clustered.sums(), patterns, seed)),
                wins: by_question.iter().filter(|d| **d > 1e-12).count(),
                losses: by_question.iter().filter(|d| **d < -1e-12).count(),
                by_question,
                units,
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
