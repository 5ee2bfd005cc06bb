use serde::{Deserialize, Serialize};

use crate::corpus::Record;
use crate::topic::Sizes;
use crate::training::options::TrainError;
use crate::training::over_vectors::{Checked, VectorSource};

/// The data of a training of the sequence model.
pub struct TopicData<'a> {
    /// Documents to learn from.
    pub train: &'a [Record],
    /// Documents to choose the weights by; without a boundary in them, the last weights stay.
    pub validation: &'a [Record],
    /// The vectors of all their sentences and headings.
    pub vectors: &'a dyn VectorSource,
}

impl TopicData<'_> {
    /// True where a document for validation has a boundary.
    pub(super) fn has_known_boundary(&self) -> bool {
        self.validation.iter().any(|record| !record.boundaries.is_empty())
    }
}

/// What of a model is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// The weights of words, lengths and bias alone, on the documents for validation: some ten pages are enough.
    Numbers,
    /// The layers that read the states on both sides of a gap, too: some hundred pages.
    Heads,
    /// All of it.
    All,
}

/// The options of a training of the sequence model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TopicOptions {
    /// What of the model is fitted; all of it where there is none to begin with.
    pub part: Part,
    /// The sizes of the model; `input` is that of the vectors.
    pub sizes: Sizes,
    /// Sentences of an example at most; longer documents give several.
    pub window: usize,
    /// Share of the examples that are joined with parts of other documents, 0 to 1.
    pub joined: f64,
    /// Share of the examples with known paragraphs whose paragraphs are hidden, 0 to 1.
    pub hidden_paragraphs: f64,
    /// Share of the examples in which a paragraph is a sentence, as in texts that are given so, 0 to 1.
    pub paragraph_units: f64,
    /// Passes over the documents.
    pub epochs: f64,
    /// Examples of a step.
    pub batch: usize,
    /// Highest learning rate of AdamW.
    pub learning_rate: f64,
    /// Share of the steps in which the rate rises from 0; then it falls to 0 at the end.
    pub warm_up: f64,
    /// Weight decay of matrices.
    pub decay: f64,
    /// Share of the numbers that each layer does not see, 0 to 1.
    pub dropout: f64,
    /// Norm that the gradient is scaled down to where it is longer.
    pub clip: f64,
    /// Validations an epoch.
    pub validations: usize,
    /// Validations without a better F1 after which training ends.
    pub patience: usize,
    /// Steps at most; 0: as many as the epochs have.
    pub max_steps: usize,
    /// Seed of weights, order, parts and dropout.
    pub seed: u64,
}

impl Default for TopicOptions {
    fn default() -> Self {
        Self {
            part: Part::All,
            sizes: Sizes::default(),
            window: 256,
            joined: 0.4,
            hidden_paragraphs: 0.5,
            paragraph_units: 0.1,
            epochs: 6.0,
            batch: 16,
            learning_rate: 1e-3,
            warm_up: 0.05,
            decay: 0.01,
            dropout: 0.3,
            clip: 1.0,
            validations: 1,
            patience: 4,
            max_steps: 0,
            seed: 7,
        }
    }
}

impl TopicOptions {
    /// Refuses what contradicts itself or the data.
    pub(super) fn check(&self, data: &TopicData<'_>, starts: bool) -> Result<(), TrainError> {
        if self.part != Part::All && !starts {
            return Err(TrainError::Options("a part of a model is fitted where there is a model to begin with".into()));
        }
        if self.part == Part::Numbers && !data.has_known_boundary() {
            let problem = "no document for validation has a boundary: the weights are fitted on these";
            return Err(TrainError::Options(problem.into()));
        }
        Checked {
            longest: data.train.iter().map(|record| record.sentences.len()).max().unwrap_or(0),
            vectors: data.vectors,
            input: self.sizes.input,
            dropout: self.dropout,
            learning_rate: self.learning_rate,
            clip: self.clip,
            epochs: self.epochs,
        }
        .check(&[
            ("joined", self.joined, (0.0..=1.0).contains(&self.joined), "0 to 1"),
            ("hidden_paragraphs", self.hidden_paragraphs, (0.0..=1.0).contains(&self.hidden_paragraphs), "0 to 1"),
            ("paragraph_units", self.paragraph_units, (0.0..=1.0).contains(&self.paragraph_units), "0 to 1"),
            ("window", self.window as f64, self.window >= 2, "2 or more"),
        ])
    }
}
