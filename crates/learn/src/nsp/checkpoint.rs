//! The settings in a trained NSP model's file.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Metadata;

/// The making of a checkpoint, and its use where nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The base model's name (`minilm`), or the path of its folder from the checkpoint's folder.
    pub base: String,
    /// SHA-256 of the base model's `model.safetensors`, hexadecimal.
    pub base_sha256: String,
    /// The greatest number of tokens of a pair, special tokens included.
    pub tokens: usize,
    /// The threshold with the best F1 of boundaries on validation documents, as log-odds of "is next"; none where no
    /// boundary was known there.
    #[serde(default)]
    pub threshold: Option<f64>,
    /// Notes: what it was trained on, and anything else worth keeping.
    #[serde(default)]
    pub notes: String,
}

impl Metadata for Settings {
    const KEY: &'static str = "nsp";
    const NAME: &'static str = "NSP";

    fn base(&self) -> &str {
        &self.base
    }
}

/// The tensors that a training changed, with their [`Settings`]. Names are those of BERT: `encoder.layer.N...` of the
/// layers that were trained, `pooler.dense.weight` (`[hidden, hidden]`), `pooler.dense.bias` (`[hidden]`),
/// `cls.seq_relationship.weight` (`[2, hidden]`, row 0 "is next") and `cls.seq_relationship.bias` (`[2]`).
pub type Checkpoint = crate::checkpoint::Checkpoint<Settings>;

/// The checkpoint's file in a training's folder.
pub const CHECKPOINT: &str = "nsp.safetensors";

/// The layer on the first token, before its `.weight` and `.bias`.
pub(crate) const POOLER: &str = "pooler.dense";

/// The classifier on what the pooler gives.
pub(crate) const HEAD: &str = "cls.seq_relationship";
