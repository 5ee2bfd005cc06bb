//! `[tune]`: what `pericope tune` chooses by.

use pericope_store::Mode;
use serde::{Deserialize, Serialize};

use super::Experiment;
use super::compare::{measured, unfit};
use crate::cell::Cutoff;
use crate::metric::Metric;

/// `[tune]`: what chooses among the variants of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TuneConfig {
    /// The chunker whose scores count.
    pub chunker: String,
    /// The metric; more is better; default `span_recall`.
    #[serde(default)]
    pub metric: Metric,
    /// Retrieval mode; default: the first of the experiment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Chunks retrieved; neither this nor a budget: all settings together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub k: Option<usize>,
    /// Tokens that may be retrieved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_budget: Option<usize>,
    /// Share of the documents, by a hash of their ids, whose questions choose; default 0.5.
    #[serde(default = "half")]
    pub validation: f64,
}

impl TuneConfig {
    /// True where an experiment retrieves in the mode and setting that count.
    #[must_use]
    pub fn is_measured(&self, experiment: &Experiment) -> bool {
        let retrieval = &experiment.retrieval;
        self.mode.as_ref().is_none_or(|mode| retrieval.modes.contains(mode))
            && retrieval.cutoffs().into_iter().any(|cutoff| self.covers(cutoff))
    }

    /// Returns true where results at this cutoff count.
    #[must_use]
    pub fn covers(&self, cutoff: Cutoff) -> bool {
        self.k.is_none_or(|k| cutoff == Cutoff::K(k))
            && self.token_budget.is_none_or(|budget| cutoff == Cutoff::Tokens(budget))
    }

    /// Whether the choice can be made in this experiment.
    pub(crate) fn check(&self, experiment: &Experiment) -> Result<(), String> {
        if !experiment.chunkers.iter().any(|chunker| chunker.name == self.chunker) {
            return Err(format!("tune.chunker = \"{}\" is none of the chunkers", self.chunker));
        }
        if let Err(unknown) = self.metric.key().parse::<Metric>() {
            return Err(format!("tune.metric = {unknown}"));
        }
        if !(self.validation > 0.0 && self.validation < 1.0) {
            return Err(format!("tune.validation = {} is no share between 0 and 1", self.validation));
        }
        // What a sweep changes is looked at in each of its variants.
        if experiment.sweep.is_empty() { self.check_metric(experiment) } else { Ok(()) }
    }

    /// Whether the chunker has scores of the metric.
    fn check_metric(&self, experiment: &Experiment) -> Result<(), String> {
        let Self { metric, chunker, .. } = self;
        measured(metric, experiment).map_err(|why| format!("tune.metric = \"{metric}\" {why}"))?;
        match unfit(chunker, metric, experiment) {
            None => Ok(()),
            Some(why) => Err(format!(
                "tune.metric = \"{metric}\" needs to know all chunks, and '{chunker}' {why}: choose by another metric"
            )),
        }
    }
}

fn half() -> f64 {
    0.5
}
