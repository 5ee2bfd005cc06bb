//! The settings in a trained WeSWin's file, and `[SNT]` in its vocabulary.

use candle_core::{Device, Tensor};
use serde::{Deserialize, Serialize};

use super::weighting::Curve;
use crate::checkpoint::{Metadata, Overlaid};
use pericope_encode::Base;
use pericope_encode::ModelError;
use pericope_encode::encoders::{Tensors, Weights};

/// The making of a checkpoint, and its use where nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The base model's name (`minilm`), or the path of its folder from the checkpoint's folder.
    pub base: String,
    /// SHA-256 of the base model's `model.safetensors`, hexadecimal.
    pub base_sha256: String,
    /// Tokens of a sequence, special tokens included.
    pub tokens: usize,
    /// The partition with the best F1 on validation documents: `ss-4`.
    pub partition: String,
    /// The weighting with the best F1 there: `mean:lin_k5_e0.1`.
    pub weights: String,
    /// The threshold with the best F1 there, in `[0, 1]`.
    #[serde(rename = "tau")]
    pub threshold: f64,
    /// The curve that `mean:lob` weighs by.
    #[serde(default)]
    pub curve: Curve,
    /// Notes: what it was trained on, and anything else worth keeping.
    #[serde(default)]
    pub notes: String,
}

impl Metadata for Settings {
    const KEY: &'static str = "weswin";
    const NAME: &'static str = "WeSWin";

    fn base(&self) -> &str {
        &self.base
    }
}

/// The tensors that a training changed, with their [`Settings`]. Names are those of the base model
/// (`encoder.layer.3.attention.self.query.weight`), and `snt` (`[hidden]`, the embedding of `[SNT]`), `boundary.weight`
/// (`[2, hidden]`), `boundary.bias` (`[2]`), `retrieval.weight`, `retrieval.bias`.
pub type Checkpoint = crate::checkpoint::Checkpoint<Settings>;

/// The checkpoint's file in a training's folder.
pub const CHECKPOINT: &str = "weswin.safetensors";

/// The name of the table of word embeddings in a base model.
pub(crate) const WORDS: &str = "embeddings.word_embeddings.weight";

/// A base model with a checkpoint's tensors in place of its own, and `[SNT]` as the last row of its vocabulary.
pub(super) struct WithSentence<'a> {
    base: &'a Weights,
    all: Overlaid<'a, Settings>,
}

impl<'a> WithSentence<'a> {
    pub(super) fn new(base: &'a Base, checkpoint: &'a Checkpoint) -> Self {
        Self { base: &base.weights, all: Overlaid::new(&base.weights, checkpoint) }
    }
}

impl Tensors for WithSentence<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        match *shape {
            [rows, hidden] if name == WORDS && !self.all.checkpoint.has(name) => {
                let problem = |e: candle_core::Error| self.unusable(format!("tensor {name}: {e}"));
                let base = self.base.tensor(name, &[rows.saturating_sub(1), hidden], device)?;
                let row = self.all.checkpoint.tensor("snt", &[hidden], device)?;
                Tensor::cat(&[&base, &row.unsqueeze(0).map_err(problem)?], 0).map_err(problem)
            }
            _ => self.all.tensor(name, shape, device),
        }
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.all.unusable(reason)
    }
}
