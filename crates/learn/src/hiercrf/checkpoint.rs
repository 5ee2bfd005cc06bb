use serde::{Deserialize, Serialize};

use crate::checkpoint::Metadata;
use crate::rows::NUMBERS;

/// What a model reads of each sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Its vector, as in the paper. Checkpoints that do not say what they read read this.
    #[default]
    Vectors,
    /// Its row ([`Inputs`](crate::topic::Inputs)): the vector, numbers of its text, and of the gap behind it.
    Rows,
}

/// The sizes of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Numbers of a sentence vector.
    pub input: usize,
    /// Numbers that what is read of a sentence is projected to; 0: the LSTM reads it as it is.
    #[serde(default)]
    pub projection: usize,
    /// Units of each direction of a layer of the LSTM.
    pub hidden: usize,
    /// Layers of the LSTM.
    pub layers: usize,
    /// Numbers of a boundary vector for the tree's structure.
    pub structure: usize,
    /// Numbers of a boundary vector for the labels of spans.
    pub labels: usize,
    /// Units of the head that reads both sides of a gap; 0: there is none.
    #[serde(default)]
    pub head: usize,
}

impl Default for Sizes {
    /// As published, with the LSTM's width, which is not, at 240: a whole number of panels of the matrix kernel.
    fn default() -> Self {
        Self { input: 384, projection: 0, hidden: 240, layers: 2, structure: 500, labels: 800, head: 0 }
    }
}

impl Sizes {
    /// The sizes where nothing else is asked for: as published, and for rows with a projection and a head of gaps as those of
    /// [`topic`](crate::topic).
    #[must_use]
    pub fn usual(reads: Reads) -> Self {
        match reads {
            Reads::Vectors => Self::default(),
            Reads::Rows => Self { projection: 256, head: 128, ..Self::default() },
        }
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
    /// What it reads of each sentence.
    #[serde(default)]
    pub reads: Reads,
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
    /// What the head of gaps by itself has in a boundary probability, the trees having the rest; the share with the best result
    /// there, in `[0, 1]`. Trees have no node for a section of one sentence, which the head knows.
    #[serde(default)]
    pub gap_share: f64,
    /// Notes: what it was trained on, and anything else worth keeping.
    #[serde(default)]
    pub notes: String,
}

impl Settings {
    /// Numbers that are read of each sentence.
    pub(crate) fn width(&self) -> usize {
        match self.reads {
            Reads::Vectors => self.sizes.input,
            Reads::Rows => self.sizes.input + NUMBERS,
        }
    }

    /// Checks what a damaged or foreign file could hold.
    ///
    /// # Errors
    /// The fault.
    pub fn check(&self) -> Result<(), String> {
        let Sizes { input, projection, hidden, layers, structure, labels, head } = self.sizes;
        let sizes = [input, hidden, layers, structure, labels];
        if sizes.iter().any(|&size| size == 0 || size > MOST) {
            return Err(format!("its sizes {sizes:?} are not in 1..={MOST}"));
        }
        if projection.max(head) > MOST {
            return Err(format!("its projection of {projection} or its head of {head} is not in 0..={MOST}"));
        }
        if !(LEAST_WINDOW..=MOST).contains(&self.window) {
            return Err(format!("its window of {} sentences is not in {LEAST_WINDOW}..={MOST}", self.window));
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(format!("its threshold {} is not in 0..=1", self.threshold));
        }
        if !(0.0..=1.0).contains(&self.gap_share) {
            return Err(format!("its gap_share {} is not in 0..=1", self.gap_share));
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
/// `topics.scores` (`[topics, labels, labels]`). With a projection `projection`, and with a head of gaps `gaps.left`,
/// `gaps.right` and `gaps.output`, each with `weight` and `bias`.
pub type Checkpoint = crate::checkpoint::Checkpoint<Settings>;

/// The checkpoint's file in a training's folder.
pub const CHECKPOINT: &str = "hiercrf.safetensors";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Reads, Settings, Sizes};

    #[test]
    fn settings_that_do_not_say_what_is_read_read_vectors() {
        let old = r#"{"encoder": "minilm", "encoder_fingerprint": "1", "window": 40, "cut": "scores", "tau": 0.4, "level": 1,
            "sizes": {"input": 2, "hidden": 3, "layers": 1, "structure": 2, "labels": 2}}"#;
        let settings: Settings = serde_json::from_str(old).unwrap();
        settings.check().unwrap();
        assert_eq!((settings.reads, settings.sizes.projection, settings.sizes.head), (Reads::Vectors, 0, 0));
        assert_eq!(settings.width(), 2);
        let rows = Settings { reads: Reads::Rows, ..settings.clone() };
        let again: Settings = serde_json::from_str(&serde_json::to_string(&rows).unwrap()).unwrap();
        assert_eq!(again, rows);
        let damaged = Sizes { projection: 1 << 20, ..settings.sizes };
        assert!(Settings { sizes: damaged, ..settings }.check().unwrap_err().contains("projection"));
    }
}
