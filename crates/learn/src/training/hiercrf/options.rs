use serde::{Deserialize, Serialize};

use super::trees::TreeDocument;
use crate::hiercrf::{Reads, Sizes};
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

/// Documents in the ways in which they are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ways<'a> {
    /// Each document in one way: without its headings, where it has another.
    pub plain: &'a [TreeDocument],
    /// The same documents, in the same order, with their headings as sentences; empty where there is one way alone.
    pub with_headings: &'a [TreeDocument],
}

impl<'a> Ways<'a> {
    /// Documents that are read in one way.
    #[must_use]
    pub fn one(documents: &'a [TreeDocument]) -> Self {
        Self { plain: documents, with_headings: &[] }
    }

    /// All documents in all ways.
    pub fn all(self) -> impl Iterator<Item = &'a TreeDocument> {
        self.plain.iter().chain(self.with_headings)
    }

    /// The ways that there are.
    pub(super) fn each(self) -> impl Iterator<Item = &'a [TreeDocument]> {
        [self.plain, self.with_headings].into_iter().filter(|documents| !documents.is_empty())
    }
}

/// The data of a training of HierCRF.
pub struct TreeData<'a> {
    /// Documents to learn from. Where there are two ways, each example is of one of them, by chance.
    pub train: Ways<'a>,
    /// Documents to choose weights, threshold and level by, which are those with the best mean over the ways; without a boundary
    /// in them, the last weights stay.
    pub validation: Ways<'a>,
    /// The vectors of all their sentences.
    pub vectors: &'a dyn VectorSource,
}

/// The options of a training of HierCRF. The defaults are as published where that says so (Nair et al. 2023, section 5.3), but
/// for the batch: published are 100 documents, for half a million of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HierCrfOptions {
    /// What is read of each sentence.
    pub reads: Reads,
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
    /// Share of the examples whose paragraphs are hidden from a model that reads rows, 0 to 1.
    pub hidden_paragraphs: f64,
    /// Weight of the mean cross-entropy of the head of gaps, by where segments end, beside the loss of trees; 0 leaves it out.
    pub boundary_loss: f64,
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
            reads: Reads::Vectors,
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
            hidden_paragraphs: 0.5,
            boundary_loss: 0.0,
            clip: 5.0,
            metric: Metric::F1,
            validations: 1,
            patience: 4,
            max_steps: 0,
            seed: 7,
        }
    }
}

/// The greatest weight of a loss that is believed.
const HEAVIEST: f64 = 1000.0;

impl HierCrfOptions {
    /// The options for a model that reads rows, with a head of gaps.
    #[must_use]
    pub fn rows() -> Self {
        Self { reads: Reads::Rows, sizes: Sizes::usual(Reads::Rows), boundary_loss: 1.0, ..Self::default() }
    }

    pub(super) fn check(&self, data: &TreeData<'_>) -> Result<(), TrainError> {
        if self.boundary_loss > 0.0 && self.sizes.head == 0 {
            let weight = self.boundary_loss;
            let reason =
                format!("boundary_loss is {weight}, and the model has no head of gaps: leave it out, or give a head");
            return Err(TrainError::Options(reason));
        }
        let Ways { plain, with_headings } = data.train;
        if !with_headings.is_empty() && with_headings.len() != plain.len() {
            let reason = format!("{} documents with headings, and {} without", with_headings.len(), plain.len());
            return Err(TrainError::Options(reason));
        }
        Checked {
            longest: data.train.all().map(|document| document.sentences.len()).max().unwrap_or(0),
            vectors: data.vectors,
            input: self.sizes.input,
            dropout: self.dropout,
            learning_rate: self.learning_rate,
            clip: self.clip,
            epochs: self.epochs,
        }
        .check(&[
            ("synthetic", self.synthetic, (0.0..=100.0).contains(&self.synthetic), "0 to 100"),
            ("decay", self.decay, self.decay > 0.0 && self.decay <= 1.0, "above 0, and at most 1"),
            ("hidden_paragraphs", self.hidden_paragraphs, (0.0..=1.0).contains(&self.hidden_paragraphs), "0 to 1"),
            (
                "boundary_loss",
                self.boundary_loss,
                (0.0..=HEAVIEST).contains(&self.boundary_loss),
                &format!("0 to {HEAVIEST}"),
            ),
        ])
    }
}
