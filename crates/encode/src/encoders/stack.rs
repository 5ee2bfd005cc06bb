use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use super::config::Config;
use super::embed::{Embed, LayerByLayer};
use super::layers::{Batch, Embedding, Parts, firsts, pool, rows};
use super::weights::Tensors;
use crate::models::ModelError;

/// Padded tokens of a batch on a GPU, where small products leave most of it idle.
const BATCH_TOKENS: usize = 16_384;

/// Padded tokens of a batch on a CPU.
const CPU_BATCH_TOKENS: usize = 2_048;

/// A layer of a family of encoders.
pub trait Layer: Sized + Send + Sync {
    /// Reads layer `i`.
    ///
    /// # Errors
    /// [`ModelError::Unusable`], naming the tensor.
    fn read(parts: &Parts<'_>, i: usize) -> std::result::Result<Self, ModelError>;

    /// The output of the last of `layers` on the input of the first, both `[sequences, longest, hidden]`; `mask` is 1 for
    /// tokens and 0 for padding.
    ///
    /// # Errors
    /// Where candle fails.
    fn run(layers: &[Self], x: &Tensor, mask: &Tensor, config: &Config) -> Result<Tensor>;
}

/// An encoder in candle's own operations, on any of its devices. Batches are padded, and padding is masked.
///
/// Every operation has a gradient, and weights are kept as they were given: a model made of variables follows them when
/// they are stepped.
pub struct Stack<L> {
    config: Config,
    device: Device,
    embedding: Embedding,
    layers: Vec<L>,
}

impl<L: Layer> Stack<L> {
    /// Puts the weights on `device`.
    ///
    /// # Errors
    /// [`ModelError::Unusable`], naming the tensor.
    pub fn new(config: &Config, weights: &dyn Tensors, device: &Device) -> std::result::Result<Self, ModelError> {
        let parts = Parts { weights, config, device };
        Ok(Self {
            config: config.clone(),
            device: device.clone(),
            embedding: parts.embedding()?,
            layers: (0..config.num_hidden_layers).map(|i| L::read(&parts, i)).collect::<std::result::Result<_, _>>()?,
        })
    }

    /// The configuration.
    pub(super) fn config(&self) -> &Config {
        &self.config
    }

    /// All layers.
    pub(super) fn layers(&self) -> &[L] {
        &self.layers
    }

    /// The output of all layers, and the mask.
    fn forward(&self, (x, mask): (Tensor, Tensor)) -> Result<(Tensor, Tensor)> {
        Ok((L::run(&self.layers, &x, &mask, &self.config)?, mask))
    }
}

impl<L: Layer> LayerByLayer for Stack<L> {
    fn embed_tokens(&self, sequences: &[&[u32]]) -> Result<(Tensor, Tensor)> {
        let batch = Batch::new(&self.config, sequences, &self.device)?;
        Ok((self.embedding.apply(&batch)?, batch.mask))
    }

    fn embed_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> Result<(Tensor, Tensor)> {
        let batch = Batch::of_pairs(&self.config, sequences, second, &self.device)?;
        Ok((self.embedding.apply(&batch)?, batch.mask))
    }

    fn run_layers(&self, x: &Tensor, mask: &Tensor, layers: Range<usize>) -> Result<Tensor> {
        let Some(run) = self.layers.get(layers.clone()) else {
            candle_core::bail!("there are no layers {layers:?}; the model has {}", self.layers.len());
        };
        L::run(run, x, mask, &self.config)
    }
}

impl<L: Layer> Embed for Stack<L> {
    fn embed(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        let (x, mask) = self.forward(self.embed_tokens(sequences)?)?;
        pool(&x, &mask)
    }

    fn hidden(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        rows(&self.forward(self.embed_tokens(sequences)?)?.0, sequences)
    }

    fn first_of_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> Result<Vec<f32>> {
        self.config.check_pairs(sequences, second)?;
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        firsts(&self.forward(self.embed_pairs(sequences, second)?)?.0)?.flatten_all()?.to_vec1()
    }

    fn batch_tokens(&self) -> usize {
        if self.device.is_cpu() { CPU_BATCH_TOKENS } else { BATCH_TOKENS }
    }

    fn parallel(&self) -> bool {
        false
    }
}
