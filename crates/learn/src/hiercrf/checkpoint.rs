use serde::{Deserialize, Serialize};

use crate::checkpoint::Metadata;

/// The sizes of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Numbers of a sentence vector.
    pub input: usize,
    /// Units of each direction of a layer of the LSTM.
    pub hidden: usize,
    /// Layers of the LSTM.
    pub layers: usize,
    /// Numbers of a boundary vector for the tree's structure.
    pub structure: usize,
    /// Numbers of a boundary vector for the labels of spans.
    pub labels: usize,
}

impl Default for Sizes {
    /// As published, with the LSTM's width, which is not, at 240: a whole number of panels of the matrix kernel.
    fn default() -> Self {
        Self { input: 384, hidden: 240, layers: 2, structure: 500, labels: 800 }
    }
}

/// The segmentation that a model gives where nothing else is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// The gaps whose boundary probability lies above the threshold.
    Scores,
    /// The tree's segmentation at the level.
    Level,
}

/// The making of a checkpoint, and its use where nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The name of the encoder of the sentence vectors: `minilm`.
    pub encoder: String,
    /// That encoder's fingerprint.
    pub encoder_fingerprint: String,
    /// The sizes.
    pub sizes: Sizes,
    /// Sentences that are parsed together at most; longer documents are read in overlapping windows of so many.
    pub window: usize,
    /// The names of segment labels; empty where it was trained without.
    #[serde(default)]
    pub topics: Vec<String>,
    /// The segmentation with the better result on validation documents.
    pub cut: Cut,
    /// The threshold of boundary probabilities with the best result there, in `[0, 1]`.
    #[serde(rename = "tau")]
    pub threshold: f64,
    /// The level of the tree with the best result there, 1 the coarsest.
    pub level: usize,
    /// Notes: what it was trained on, and anything else worth keeping.
    #[serde(default)]
    pub notes: String,
}

impl Settings {
    /// Checks what a damaged or foreign file could hold.
    ///
    /// # Errors
    /// The fault.
    pub fn check(&self) -> Result<(), String> {
        let Sizes { input, hidden, layers, structure, labels } = self.sizes;
        let sizes = [input, hidden, layers, structure, labels];
        if sizes.iter().any(|&size| size == 0 || size > MOST) {
            return Err(format!("its sizes {sizes:?} are not in 1..={MOST}"));
        }
        if !(LEAST_WINDOW..=MOST).contains(&self.window) {
            return Err(format!("its window of {} sentences is not in {LEAST_WINDOW}..={MOST}", self.window));
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(format!("its threshold {} is not in 0..=1", self.threshold));
        }
        Ok(())
    }
}

/// Sentences of a window at least: an overlap needs some.
pub(super) const LEAST_WINDOW: usize = 8;

/// The greatest size that is believed.
const MOST: usize = 1 << 16;

impl Metadata for Settings {
    const KEY: &'static str = "hiercrf";
    const NAME: &'static str = "HierCRF";

    fn base(&self) -> &str {
        &self.encoder
    }
}

/// All tensors of a model with its [`Settings`]: `lstm.0`, `lstm.1` ... as [`BiLstm`](crate::sequence::BiLstm) names them; the
/// boundary layers `structure.left`, `structure.right`, `labels.left`, `labels.right`, each with `weight` and `bias`;
/// `structure.scores` (`[structure, structure]`), `labels.scores` (`[2, labels, labels]`, reducible first), and
/// `topics.scores` (`[topics, labels, labels]`).
pub type Checkpoint = crate::checkpoint::Checkpoint<Settings>;
