use std::path::{Path, PathBuf};

use serde_json::Value;

use super::pooling::Pooling;
use crate::models::ModelError;
use crate::modules::{MODULES, TRANSFORMER, json, modules};
use crate::prompts::{Named, Prompts};

/// What the files around a transformer say of it.
#[derive(Debug)]
pub(super) struct Layout {
    /// The folder of the transformer itself.
    pub folder: PathBuf,
    /// `None` where the files do not say.
    pub pooling: Option<Pooling>,
    /// The length of the rows that the pooling expects.
    pub width: Option<(PathBuf, usize)>,
    /// Tokens of a text that are read, special tokens included.
    pub window: Option<usize>,
    pub prompts: Prompts,
    /// Whether texts are read in lower case.
    pub is_lower: bool,
    /// The file that says that prompts are left out of the pooling.
    pub without_prompt: Option<PathBuf>,
}

/// The file with prompts and the way in which vectors are compared.
const ABOUT: &str = "config_sentence_transformers.json";

/// The file about the texts that the transformer reads.
const TEXTS: &str = "sentence_bert_config.json";

/// Ways to compare vectors that depend on their lengths.
const BY_LENGTH: [&str; 3] = ["dot", "euclidean", "manhattan"];

impl Layout {
    /// Reads `modules.json` and the files that it names; a folder without one is a transformer alone.
    ///
    /// # Errors
    /// [`ModelError`], naming the file: for a step that is not supported, for vectors whose length means something, for a file
    /// that is no JSON.
    pub(super) fn read(folder: &Path) -> Result<Self, ModelError> {
        let modules = modules(folder)?;
        let mut layout = Self {
            folder: folder.to_owned(),
            pooling: None,
            width: None,
            window: None,
            prompts: prompts(folder)?,
            is_lower: false,
            without_prompt: None,
        };
        let mut normalised = modules.is_empty();
        for module in &modules {
            let (kind, path) = (&module.kind, &module.path);
            match kind.as_str() {
                TRANSFORMER => layout.folder = module.folder(folder),
                "Pooling" => layout.read_pooling(&folder.join(path).join("config.json"))?,
                "Normalize" => normalised = true,
                _ => {
                    let reason = format!(
                        "the step {kind} ({path}) is not supported: an embedder is a transformer, a pooling and a \
                         normalisation here"
                    );
                    return Err(ModelError::unusable(&folder.join(MODULES), reason));
                }
            }
        }
        layout.window = window(&layout.folder)?;
        let config: Option<Value> = json(&layout.folder.join(TEXTS))?;
        let is_lower = config.as_ref().and_then(|config| config.get("do_lower_case")).and_then(Value::as_bool);
        layout.is_lower = is_lower.unwrap_or(false);
        let about = folder.join(ABOUT);
        let by: Option<Value> = json(&about)?;
        let by = by.as_ref().and_then(|value| value.get("similarity_fn_name")).and_then(Value::as_str);
        if let Some(by) = by.filter(|by| !normalised && BY_LENGTH.contains(by)) {
            let reason = format!(
                "similarity_fn_name is {by:?} of vectors that are not normalised: stores here compare directions"
            );
            return Err(ModelError::unusable(&about, reason));
        }
        Ok(layout)
    }

    fn read_pooling(&mut self, path: &Path) -> Result<(), ModelError> {
        let missing = || ModelError::unusable(path, "it is not there, and modules.json names it");
        let config: Value = json(path)?.ok_or_else(missing)?;
        self.pooling = Some(Pooling::of(&config).map_err(|reason| ModelError::unusable(path, reason))?);
        let width =
            ["word_embedding_dimension", "embedding_dimension"].iter().find_map(|key| config.get(key)?.as_u64());
        self.width = width.map(|width| (path.to_owned(), width as usize));
        if config.get("include_prompt").and_then(Value::as_bool) == Some(false) {
            self.without_prompt = Some(path.to_owned());
        }
        Ok(())
    }
}

/// The prompts that a folder's files name; none where they do not say.
///
/// # Errors
/// [`ModelError`], naming the file.
pub(super) fn prompts(folder: &Path) -> Result<Prompts, ModelError> {
    let named: Option<Named> = json(&folder.join(ABOUT))?;
    Ok(named.unwrap_or_default().prompts())
}

/// Tokens that are read of a text: what sentence-transformers or the tokenizer name.
fn window(folder: &Path) -> Result<Option<usize>, ModelError> {
    for (file, key) in [(TEXTS, "max_seq_length"), ("tokenizer_config.json", "model_max_length")] {
        let config: Option<Value> = json(&folder.join(file))?;
        let limit = config.as_ref().and_then(|config| config.get(key)).and_then(Value::as_f64);
        // Some tokenizers write 1e30 for "no limit".
        if let Some(limit) = limit.filter(|limit| (1.0..1e9).contains(limit)) {
            return Ok(Some(limit as usize));
        }
    }
    Ok(None)
}
