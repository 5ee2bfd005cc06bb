use std::path::Path;

use pericope_util::replace_file;
use serde::{Deserialize, Serialize};

use super::error::ModelError;
use super::files::Wanted;

/// The record of a pull, beside the files.
const RECORD: &str = ".pulled.json";

/// The file of weights, and the one that takes its place where a repository has none.
pub(super) const WEIGHTS: &str = "model.safetensors";
pub(super) const PICKLED: &str = "pytorch_model.bin";

/// Files that a model cannot do without, its weights aside.
pub(super) const NEEDED: [&str; 2] = ["config.json", "tokenizer.json"];

/// Files that say how it is used, where there are some.
pub(super) const WELCOME: [&str; 5] = [
    "modules.json",
    "1_Pooling/config.json",
    "sentence_bert_config.json",
    "config_sentence_transformers.json",
    "tokenizer_config.json",
];

/// What was fetched, and from where.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Record {
    pub repository: String,
    pub revision: String,
    /// The files, with their checksums: the hub's where it gives one, else those of what came.
    pub files: Vec<Wanted>,
    /// Whether the weights were made here of a file of another kind.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub converted: bool,
}

impl Record {
    /// The record in a model's folder; `None` where there is none, and where it cannot be read.
    pub(super) fn read(folder: &Path) -> Option<Self> {
        let text = std::fs::read(folder.join(RECORD)).ok()?;
        let record: Self = serde_json::from_slice(&text).ok()?;
        let known = |file: &Wanted| {
            file.name == WEIGHTS || NEEDED.contains(&file.name.as_str()) || WELCOME.contains(&file.name.as_str())
        };
        record.files.iter().all(known).then_some(record)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), ModelError> {
        let path = folder.join(RECORD);
        let text = serde_json::to_vec_pretty(self).map_err(|e| ModelError::unusable(&path, e))?;
        replace_file(&path, text).map_err(ModelError::io(&path))
    }
}
