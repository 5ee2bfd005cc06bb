use serde::{Deserialize, Serialize};

use super::config::PublishedAccuracy;
use crate::config::ExperimentKind;
use crate::record::{ChunkerRow, Comparison, Status, Verdict};

/// `summary.json` of an experiment on classification; shares are 0..=1.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassificationSummary {
    /// `"classification"`.
    pub kind: ExperimentKind,
    /// Name of the experiment.
    pub name: String,
    /// Documents that were read.
    pub documents: usize,
    /// The classes in the order of the data.
    pub classes: Vec<ClassRow>,
    /// The seeds of the trainings that every chunker had.
    pub seeds: Vec<u64>,
    /// Test documents that a chunker has no segments of, over all chunkers: each counts as given another class.
    pub failed: usize,
    /// Documents to train on or to stop by that a chunker has no segments of, over all chunkers: its trainings went without
    /// them.
    #[serde(default)]
    pub failed_training: usize,
    /// What was left out of the data, with reasons: the first hundred lines.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// How many lines there are in all.
    #[serde(default)]
    pub left_out: usize,
    /// How many of them are of documents that could not be used, where nobody asked that they be left out.
    #[serde(default)]
    pub unusable: usize,
    /// The chunkers in the order of the configuration.
    pub chunkers: Vec<ClassifiedRow>,
    /// Paired comparisons of two chunkers on the test documents; the primary ones come first. Mode and `k` have no meaning, `n`
    /// counts documents once a training.
    pub comparisons: Vec<Comparison>,
    /// Which chunker to take, and how sure that is; null where there was nothing to test on, and absent there in runs of older
    /// versions.
    #[serde(default)]
    pub verdict: Option<Verdict>,
    /// Figures of others, x 100.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedAccuracy>,
}

impl ClassificationSummary {
    /// True where a chunker failed on a document, whatever that serves for, or some of the data could not be used.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.failed > 0 || self.failed_training > 0 || self.unusable > 0
    }
}

/// A class and its documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassRow {
    /// Its name.
    pub label: String,
    /// Documents to train on.
    pub train: usize,
    /// Documents to stop by.
    pub validation: usize,
    /// Documents to test on.
    pub test: usize,
}

/// A chunker, and how well classes can be read from its segments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassifiedRow {
    /// What its cutting amounts to; `index_seconds` are those of the encoder.
    #[serde(flatten)]
    pub chunker: ChunkerRow,
    /// Mean segments of a document that was cut.
    pub segments_per_document: f64,
    /// Mean tokens that the encoder was given of a document that was cut; overlapping text counts each time.
    pub tokens_per_document: f64,
    /// Test documents without segments.
    pub failed: usize,
    /// Documents to train on or to stop by without segments.
    #[serde(default)]
    pub failed_training: usize,
    /// Share of test documents that were given their class, over all trainings.
    pub accuracy: f64,
    /// Its 95 % interval, by document; absent where it cannot be had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
    /// The same share of validation documents; absent where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_accuracy: Option<f64>,
    /// Seconds of all its trainings, which ran beside each other.
    pub train_seconds: f64,
    /// The trainings, in the order of the seeds.
    pub runs: Vec<TrainingRow>,
}

/// One training.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrainingRow {
    /// Its seed.
    pub seed: u64,
    /// Epochs done.
    pub epochs: usize,
    /// The epoch whose weights were kept.
    pub best_epoch: usize,
    /// Accuracy on the validation documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation_accuracy: Option<f64>,
    /// Accuracy on the test documents.
    pub accuracy: f64,
}

/// One line of `items.jsonl`: a test document as one training of one chunker classified it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassifiedItem {
    /// Id of the document.
    pub document: String,
    /// Its class.
    pub label: String,
    /// Name of the chunker.
    pub chunker: String,
    /// Seed of the training.
    pub seed: u64,
    /// The class that it was given; absent where it has no segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<String>,
    /// The probability of that class, 0..=1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f32>,
    /// Its segments.
    pub segments: usize,
    /// Whether there is a result.
    #[serde(default)]
    pub status: Status,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
