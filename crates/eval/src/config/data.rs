//! `[data]`: documents and questions.

use serde::{Deserialize, Serialize};

use crate::data::DataKind;

/// `[data]`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// The layout of the data.
    pub kind: DataKind,
    /// File or folder, relative to the working directory; `${VAR}` and `${VAR:-default}` are expanded.
    pub path: String,
    /// `squad`: only articles whose `source` is one of these; default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sources: Vec<String>,
    /// Which split: of a `squad` folder the files with this word in their names, of a `beir` folder `qrels/NAME.tsv`
    /// (default `test`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<String>,
    /// Documents to keep (0: all); those that hold sampled questions always stay.
    #[serde(default)]
    pub documents: usize,
    /// Questions to keep (0: all).
    #[serde(default)]
    pub questions: usize,
    /// Only the first so many questions of those (0: all): a short run of the same sample.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub limit: usize,
    /// Seed of the sampling.
    #[serde(default = "seed")]
    pub seed: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_zero(n: &usize) -> bool {
    *n == 0
}

fn seed() -> u64 {
    7
}
