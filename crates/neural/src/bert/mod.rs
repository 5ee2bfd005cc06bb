//! BERT: its configuration, its weights, and two ways to run it.
//!
//! [`Packed`] is the way on a CPU: no padding, packed weights, fused kernels. [`Plain`] is the same model in candle's own
//! operations: it runs on a GPU, and is what `Packed` is tested against.

mod config;
mod packed;
mod plain;
mod weights;

use candle_core::Device;

pub use config::Config;
pub use packed::Packed;
pub use plain::Plain;
pub use weights::{Tensors, Weights};

use crate::models::{ModelDir, ModelError};

/// A model that turns sequences of token ids into sentence vectors.
pub trait Embed: Send + Sync {
    /// Mean-pooled vectors of L2 norm 1, one after the other, for sequences of at least one token each.
    ///
    /// # Errors
    /// Where candle fails (out of memory on a GPU, for instance).
    fn embed(&self, sequences: &[&[u32]]) -> candle_core::Result<Vec<f32>>;

    /// The last layer's vectors of all tokens, `[tokens, hidden]`, the sequences one after the other.
    ///
    /// # Errors
    /// As [`embed`](Self::embed).
    fn hidden(&self, sequences: &[&[u32]]) -> candle_core::Result<Vec<f32>>;

    /// Tokens of a batch (longest sequence times sequences) that suit it.
    fn batch_tokens(&self) -> usize;

    /// True where batches may run side by side on several threads.
    fn parallel(&self) -> bool;
}

/// Reads an installed BERT: with fused kernels where the device is the CPU and the shapes fit them, else in candle's
/// operations. Also gives the SHA-256 of the weights.
///
/// # Errors
/// [`ModelError::Io`] or [`ModelError::Unusable`], naming the file and the field or tensor.
pub fn load(dir: &ModelDir, device: &Device) -> Result<(Box<dyn Embed>, Config, String), ModelError> {
    let config = Config::read(&dir.file("config.json"))?;
    let weights = Weights::read(&dir.file("model.safetensors"))?;
    let checksum = weights.sha256().to_owned();
    let model: Box<dyn Embed> = if device.is_cpu() && Packed::fits(&config) {
        Box::new(Packed::new(&config, &weights)?)
    } else {
        Box::new(Plain::new(&config, &weights, device)?)
    };
    Ok((model, config, checksum))
}

#[cfg(test)]
mod tests;
