//! The settings in a trained judge's file.

use serde::{Deserialize, Serialize};

use crate::checkpoint::Metadata;

/// The making of a checkpoint, and its use where nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The base model's name (`minilm`), or the path of its folder from the checkpoint's folder.
    pub base: String,
    /// SHA-256 of the base model's `model.safetensors`, hexadecimal.
    pub base_sha256: String,
    /// L: tokens of a sequence at most, special tokens included.
    pub tokens: usize,
    /// B: tokens of a block at most.
    pub block: usize,
    /// Tokens of a query that are read.
    pub query: usize,
    /// Mean area under the ROC curve of the relevance of blocks on validation questions; none without any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auc: Option<f64>,
    /// Notes: what it was trained on, and anything else worth keeping.
    #[serde(default)]
    pub notes: String,
}

impl Metadata for Settings {
    const KEY: &'static str = "judge";
    const NAME: &'static str = "judge";

    fn base(&self) -> &str {
        &self.base
    }
}

/// The tensors that a training changed, with their [`Settings`]. Names are those of the base model (`encoder.layer.N...` of the layers
/// that were trained), `judge.dense.weight` (`[hidden, hidden]`), `judge.dense.bias` (`[hidden]`), `judge.score.weight` (`[1,
/// hidden]`), `judge.score.bias` (`[1]`), `judge.match.weight` (`[1, hidden]`), `judge.match.bias` (`[1]`), `reasoner.span.weight`
/// (`[2, hidden]`, row 0 for the answer's first token, row 1 for its last) and `reasoner.span.bias` (`[2]`). A file without
/// `judge.match` is one of a judge that does not compare blocks with the query.
pub type Checkpoint = crate::checkpoint::Checkpoint<Settings>;

/// The checkpoint's file in a training's folder.
pub const CHECKPOINT: &str = "judge.safetensors";

/// The hidden layer of the judge's head, before `.weight` and `.bias`.
pub(crate) const DENSE: &str = "judge.dense";
/// What it says of a token.
pub(crate) const SCORE: &str = "judge.score";
/// What it says of a block by its likeness to the query.
pub(crate) const MATCH: &str = "judge.match";
/// The reasoner's head.
pub(crate) const SPAN: &str = "reasoner.span";
