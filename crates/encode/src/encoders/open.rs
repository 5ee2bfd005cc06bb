use std::path::Path;

use candle_core::Device;

use super::config::{Config, Typed, names};
use super::embed::Embed;
use super::load::{build_in, check_rows};
use super::rotary::{self, Rotary};
use super::weights::{Weights, weights_file};
use crate::kernels::Precision;
use crate::models::ModelError;

/// A model that turns ids into vectors, of whatever family.
pub(crate) struct Opened {
    pub model: Box<dyn Embed>,
    /// Numbers of a token's vector.
    pub hidden: usize,
    /// Tokens of the longest text, special tokens included.
    pub max_tokens: usize,
    /// SHA-256 of the weights.
    pub checksum: String,
    /// Whether a token sees those before it alone, so that the last one knows most.
    pub is_causal: bool,
    rows: usize,
}

/// Reads the model in a folder, `config.json` and `model.safetensors`, of any family that there is.
///
/// # Errors
/// [`ModelError`], naming the file and the field or tensor.
pub(crate) fn open(folder: &Path, device: &Device, precision: Precision) -> Result<Opened, ModelError> {
    let path = folder.join("config.json");
    let text = std::fs::read(&path).map_err(ModelError::io(&path))?;
    let typed: Typed = serde_json::from_slice(&text).map_err(|e| ModelError::unusable(&path, e))?;
    let kind = typed.model_type.unwrap_or_default();
    let is_rotary = rotary::NAMES.contains(&kind.as_str());
    // Before the weights are read: a model of another family is told by its configuration.
    let config = if is_rotary { None } else { Some(Config::read(&path).map_err(|e| with_more(e, &kind, &path))?) };
    let weights = Weights::read(&weights_file(folder)?)?;
    let checksum = weights.sha256().to_owned();
    Ok(match config {
        Some(config) => Opened {
            model: build_in(&config, &weights, device, precision)?,
            hidden: config.hidden_size,
            max_tokens: config.max_tokens(),
            checksum,
            is_causal: false,
            rows: config.vocab_size,
        },
        None => {
            let model = Rotary::read(&kind, &path, &weights, device, precision)?;
            let size = model.size();
            Opened {
                model: Box::new(model),
                hidden: size.hidden,
                max_tokens: size.max_tokens,
                checksum,
                is_causal: kind == "qwen3",
                rows: size.vocabulary,
            }
        }
    })
}

/// Names the families that are read here and not elsewhere, too, where one is not known.
fn with_more(error: ModelError, kind: &str, path: &Path) -> ModelError {
    match error {
        ModelError::Unusable { reason, .. } if reason.starts_with("model_type is") => {
            let known = names(&rotary::NAMES);
            ModelError::unusable(path, format!("model_type is {kind:?}; known: {known}"))
        }
        other => other,
    }
}

impl Opened {
    /// Refuses a tokenizer of another model, as [`check_vocabulary`](super::check_vocabulary) does.
    ///
    /// # Errors
    /// [`ModelError::Unusable`], naming the folder and both numbers.
    pub(crate) fn check_vocabulary(&self, folder: &Path, tokens: usize) -> Result<(), ModelError> {
        check_rows(folder, tokens, self.rows)
    }
}
