use serde::{Deserialize, Serialize};

use super::trees::TreeDocument;
use crate::hiercrf::Sizes;
use crate::training::options::TrainError;
use crate::training::over_vectors::{Checked, VectorSource};

/// The metric by which a threshold and a level are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// F1 of exact boundaries over all documents.
    F1,
    /// WindowDiff, the mean over documents.
    WindowDiff,
    /// Pk, the mean over documents.
    Pk,
}

impl std::str::FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "f1" => Ok(Self::F1),
            "window-diff" => Ok(Self::WindowDiff),
            "pk" => Ok(Self::Pk),
            _ => Err(format!("there is no metric {text:?}: known are f1, window-diff and pk")),
        }
    }
}

/// The data of a training of HierCRF.
pub struct TreeData<'a> {
    /// Documents to learn from.
    pub train: &'a [TreeDocument],
    /// Documents to choose weights, threshold and level by; without any, the last weights stay.
    pub validation: &'a [TreeDocument],
    /// The vectors of all their sentences.
    pub vectors: &'a dyn VectorSource,
}

/// The options of a training of HierCRF. The defaults are as published where that says so (Nair et al. 2023, section 5.3), but
/// for the batch: published are 100 documents, for half a million of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HierCrfOptions {
    /// The sizes of the model; `input` is that of the vectors.
    pub sizes: Sizes,
    /// Sentences of a document that is learned from, at most; longer documents give parts. Windows are as long.
    pub window: usize,
    /// Synthetic documents for each real one.
    pub synthetic: f64,
    /// Sentences below which a section is left out of the documents that are learned from. (Part of the data, not of the
    /// training; noted here.)
    pub least: usize,
    /// Passes over the documents.
    pub epochs: f64,
    /// Documents of a step, real and synthetic.
    pub batch: usize,
    /// Sentences whose gradients are worked out together, padding counted. Bounds memory.
    pub micro_batch: usize,
    /// Learning rate of Adam at the beginning.
    pub learning_rate: f64,
    /// Factor by which the rate falls over `decay_steps` steps.
    pub decay: f64,
    /// Steps over which the rate falls by `decay`.
    pub decay_steps: usize,
    /// Share of the units behind each layer of the LSTM that are left out, the same ones for all sentences of a document.
    pub dropout: f64,
    /// Norm that the gradient is scaled down to where it is longer.
    pub clip: f64,
    /// The metric by which weights, threshold and level are chosen.
    pub metric: Metric,
    /// Validations an epoch.
    pub validations: usize,
    /// Validations without a better result after which training ends.
    pub patience: usize,
    /// Steps at most; 0: as many as the epochs have.
    pub max_steps: usize,
    /// Seed of weights, order, parts and synthetic documents.
    pub seed: u64,
}

impl Default for HierCrfOptions {
    fn default() -> Self {
        Self {
            sizes: Sizes::default(),
            window: 200,
            synthetic: 1.0,
            least: 3,
            epochs: 4.0,
            batch: 16,
            micro_batch: 3200,
            learning_rate: 2e-4,
            decay: 0.75,
            decay_steps: 50_000,
            dropout: 0.33,
            clip: 5.0,
            metric: Metric::F1,
            validations: 1,
            patience: 4,
            max_steps: 0,
            seed: 7,
        }
    }
}

impl HierCrfOptions {
    pub(super) fn check(&self, data: &TreeData<'_>) -> Result<(), TrainError> {
        Checked {
            longest: data.train.iter().map(|document| document.sentences.len()).max().unwrap_or(0),
            vectors: data.vectors,
            input: self.sizes.input,
            dropout: self.dropout,
            learning_rate: self.learning_rate,
            clip: self.clip,
            epochs: self.epochs,
        }
        .check(&[
            ("synthetic", self.synthetic, (0.0..=100.0).contains(&self.synthetic)),
            ("decay", self.decay, self.decay > 0.0 && self.decay <= 1.0),
        ])
    }
}
