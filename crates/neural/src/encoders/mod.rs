//! Encoders in the layouts of Hugging Face: a folder with `config.json`, `model.safetensors` and `tokenizer.json`.
//!
//! | `model_type` | run by |
//! | --- | --- |
//! | `bert`, or none | [`bert::Packed`] on a CPU where the shapes fit its kernels, else [`bert::Plain`] |
//! | `roberta`, `xlm-roberta` | the same, with RoBERTa's positions |
//! | `longformer` | [`Longformer`] |

pub mod bert;
mod config;
mod layers;
mod longformer;
mod weights;

use candle_core::Device;

pub use bert::{Packed, Plain};
pub use config::{Config, Kind};
pub use longformer::Longformer;
pub use weights::{Tensors, Weights};

use crate::models::{ModelDir, ModelError};

/// A model that turns sequences of token ids into vectors.
pub trait Embed: Send + Sync {
    /// Mean-pooled vectors of L2 norm 1, one after the other, for sequences of 1 to [`Config::max_tokens`] tokens.
    ///
    /// # Errors
    /// For other sequences, for ids that the model does not have, and where candle fails (out of memory on a GPU, for
    /// instance).
    fn embed(&self, sequences: &[&[u32]]) -> candle_core::Result<Vec<f32>>;

    /// The last layer's vectors of all tokens, `[tokens, hidden]`, the sequences one after the other.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    fn hidden(&self, sequences: &[&[u32]]) -> candle_core::Result<Vec<f32>>;

    /// The last hidden state of each sequence's first token, `[sequences, hidden]`: what a head reads that classifies
    /// whole sequences. Tokens from place `second[i]` of sequence i on are of segment type 1 where the model has more
    /// than one type (RoBERTa has one); the others are of type 0.
    ///
    /// # Errors
    /// As [`embed`](Self::embed), and where there are not as many places as sequences.
    fn first_of_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> candle_core::Result<Vec<f32>>;

    /// Tokens of a batch (longest sequence times sequences) that suit it.
    fn batch_tokens(&self) -> usize;

    /// True where batches may run side by side on several threads.
    fn parallel(&self) -> bool;
}

/// Reads an installed encoder of the kind that its `config.json` names: with fused kernels where there are some, the
/// device is the CPU and the shapes fit, else in candle's operations. Also gives the SHA-256 of the weights.
///
/// # Errors
/// [`ModelError::Io`] or [`ModelError::Unusable`], naming the file and the field or tensor.
pub fn load(dir: &ModelDir, device: &Device) -> Result<(Box<dyn Embed>, Config, String), ModelError> {
    let config = Config::read(&dir.file("config.json"))?;
    let weights = Weights::read(&dir.file("model.safetensors"))?;
    let checksum = weights.sha256().to_owned();
    Ok((build(&config, &weights, device)?, config, checksum))
}

/// The model of `weights`: with fused kernels where there are some, the device is the CPU and the shapes fit, else in
/// candle's operations.
///
/// # Errors
/// [`ModelError::Unusable`], naming the tensor.
pub fn build(config: &Config, weights: &dyn Tensors, device: &Device) -> Result<Box<dyn Embed>, ModelError> {
    Ok(match config.kind() {
        Kind::Longformer => Box::new(Longformer::new(config, weights, device)?),
        _ if device.is_cpu() && Packed::fits(config) => Box::new(Packed::new(config, weights)?),
        _ => Box::new(Plain::new(config, weights, device)?),
    })
}

/// Refuses a tokenizer that gives ids without an embedding, or so few that it must be another model's.
///
/// Tables of embeddings are often longer than the vocabulary, filled up to a whole multiple of at most 128 rows.
///
/// # Errors
/// [`ModelError::Unusable`], naming the folder and both numbers.
pub fn check_vocabulary(dir: &ModelDir, tokens: usize, config: &Config) -> Result<(), ModelError> {
    if (tokens..tokens.saturating_add(PADDED)).contains(&config.vocab_size) {
        return Ok(());
    }
    let rows = config.vocab_size;
    let reason = format!("tokenizer.json has {tokens} tokens, the model's embedding {rows} rows");
    Err(ModelError::unusable(&dir.path, reason))
}

/// Rows to a whole multiple of which tables of embeddings are filled up, at most.
const PADDED: usize = 128;

#[cfg(test)]
mod tests;
