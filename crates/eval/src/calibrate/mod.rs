//! Whether a judge's scores are those that people would give: agreement, correlation, and bias.
//!
//! ```
//! use pericope_eval::calibrate::{Label, calibrate};
//!
//! let label = |i: usize, human, judge| Label {
//!     question_id: i.to_string(),
//!     document: Some(format!("page {}", i / 2)),
//!     human,
//!     judge,
//!     words: Some(40 + i),
//!     position: None,
//! };
//! let scores = [(2.0, 3.0), (9.0, 8.0), (5.0, 6.0), (0.0, 1.0), (7.0, 8.0), (10.0, 9.0)];
//! let labels: Vec<Label> = scores.iter().enumerate().map(|(i, &(human, judge))| label(i, human, judge)).collect();
//! let found = calibrate(&labels, 7);
//! assert_eq!((found.labels, found.clusters), (6, 3));
//! assert!(found.pearson.value > 0.95 && found.kappa_quadratic.value > 0.9);
//! assert!((found.bias.value - 1.0 / 3.0).abs() < 1e-12);
//! ```

mod bias;
mod kappa;
mod labels;
mod resample;

use serde::{Deserialize, Serialize};

use crate::record::{JudgeIdentity, PairwiseRow};
use crate::stats::{pearson, spearman};
use resample::Clusters;

pub use bias::{BiasTrend, Group};
pub use kappa::{KappaWeights, weighted_kappa};
pub use labels::{CalibrateError, Labelled, read};

/// An answer that a person and a judge scored.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Label {
    /// Id of the question.
    pub question_id: String,
    /// Id of the document that the question is about, where it is known.
    pub document: Option<String>,
    /// The person's score, 0..=10.
    pub human: f64,
    /// The judge's score, 0..=10.
    pub judge: f64,
    /// Words of the answer, where it is known.
    pub words: Option<usize>,
    /// Where the answer stood when it was judged, or the rank of the chunk that it was taken from: from 1.
    pub position: Option<usize>,
}

/// A figure with its 95 % bootstrap interval; NaN (in JSON `null`) where it cannot be worked out.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Figure {
    /// The figure.
    pub value: f64,
    /// Lower and upper end; none with fewer than two clusters.
    pub interval: Option<[f64; 2]>,
}

impl Figure {
    /// A statistic of values at some places, over all of them and by resampling clusters.
    fn of(clusters: &Clusters, places: &[usize], seed: u64, statistic: impl Fn(&[usize]) -> f64 + Sync) -> Self {
        Self { value: statistic(places), interval: clusters.interval(seed, statistic) }
    }
}

/// How a judge's scores compare with those of people.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calibration {
    /// Answers that both scored.
    pub labels: usize,
    /// What the intervals draw: `document` where every label's is known, else `question`.
    pub unit: &'static str,
    /// How many of these there are. With fewer than 10 no interval can be trusted.
    pub clusters: usize,
    /// Who judged, where a run says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judge: Option<JudgeIdentity>,
    /// Cohen's kappa with quadratic weights, of the scores as whole numbers: 1 is agreement, 0 what chance gives.
    pub kappa_quadratic: Figure,
    /// The same with linear weights.
    pub kappa_linear: Figure,
    /// Pearson's correlation.
    pub pearson: Figure,
    /// Spearman's correlation.
    pub spearman: Figure,
    /// Share of the answers with the same whole score.
    pub same: Figure,
    /// Share of the answers whose scores differ by 1 at most.
    pub within_one: Figure,
    /// Mean of the judge's score less the person's: above 0 it is too kind.
    pub bias: Figure,
    /// How that depends on the length of the answer, in steps of 100 words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_length: Option<BiasTrend>,
    /// How it depends on the answer's position.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by_position: Option<BiasTrend>,
    /// What the run's comparisons pair by pair say of position.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pairwise: Vec<PairwiseRow>,
}

/// Compares the scores. Intervals resample documents, or questions where a document is not known; the same labels and seed
/// give the same bits for every number of threads.
#[must_use]
pub fn calibrate(labels: &[Label], seed: u64) -> Calibration {
    let by_document = !labels.is_empty() && labels.iter().all(|label| label.document.is_some());
    let cluster = |label: &'_ Label| -> String {
        if by_document { label.document.clone().unwrap_or_default() } else { label.question_id.clone() }
    };
    let names: Vec<String> = labels.iter().map(cluster).collect();
    let clusters = Clusters::by(names.iter().map(String::as_str));
    let human: Vec<f64> = labels.iter().map(|label| label.human).collect();
    let judge: Vec<f64> = labels.iter().map(|label| label.judge).collect();
    let all: Vec<usize> = (0..labels.len()).collect();
    let at = |values: &[f64], places: &[usize]| -> Vec<f64> {
        places.iter().filter_map(|&i| values.get(i).copied()).collect()
    };
    let both = |places: &[usize]| (at(&human, places), at(&judge, places));
    let figure = |statistic: &(dyn Fn(&[f64], &[f64]) -> f64 + Sync)| {
        Figure::of(&clusters, &all, seed, |places| {
            let (human, judge) = both(places);
            statistic(&human, &judge)
        })
    };
    let share = |holds: fn(f64, f64) -> bool| {
        move |human: &[f64], judge: &[f64]| {
            human.iter().zip(judge).filter(|(a, b)| holds(**a, **b)).count() as f64 / human.len() as f64
        }
    };
    let differences: Vec<f64> = human.iter().zip(&judge).map(|(human, judge)| judge - human).collect();
    Calibration {
        labels: labels.len(),
        unit: if by_document { "document" } else { "question" },
        clusters: clusters.len(),
        judge: None,
        kappa_quadratic: figure(&|human, judge| weighted_kappa(human, judge, KappaWeights::Quadratic)),
        kappa_linear: figure(&|human, judge| weighted_kappa(human, judge, KappaWeights::Linear)),
        pearson: figure(&pearson),
        spearman: figure(&spearman),
        same: figure(&share(|human, judge| human.round() == judge.round())),
        within_one: figure(&share(|human, judge| (human - judge).abs() <= 1.0 + 1e-9)),
        bias: Figure::of(&clusters, &all, seed, |places| mean(&at(&differences, places))),
        by_length: BiasTrend::by_length(labels, &names, seed),
        by_position: BiasTrend::by_position(labels, &names, seed),
        pairwise: Vec::new(),
    }
}

/// The mean; NaN of nothing.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
