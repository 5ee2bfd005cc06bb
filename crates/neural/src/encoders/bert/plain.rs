use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use super::{Config, Embed, Tensors};
use crate::encoders::layers::{Batch, Embedding, Feed, Linear, Parts, firsts, hidden, join, pool, rows, softmax};
use crate::models::ModelError;

/// Padded tokens of a batch on a GPU, where small products leave most of it idle.
const BATCH_TOKENS: usize = 16_384;

/// BERT or RoBERTa in candle's own operations, on any of its devices. Batches are padded, and padding is masked.
///
/// Every operation has a gradient, and weights are kept as they were given: a model made of variables follows them when
/// they are stepped.
pub struct Plain {
    config: Config,
    device: Device,
    embedding: Embedding,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    feed: Feed,
}

impl Plain {
    /// Puts the weights on `device`.
    ///
    /// # Errors
    /// [`ModelError::Unusable`], naming the tensor.
    pub fn new(config: &Config, weights: &dyn Tensors, device: &Device) -> std::result::Result<Self, ModelError> {
        let parts = Parts { weights, config, device };
        let layer = |i: usize| -> std::result::Result<Layer, ModelError> {
            Ok(Layer {
                query: parts.projection(i, "query")?,
                key: parts.projection(i, "key")?,
                value: parts.projection(i, "value")?,
                feed: parts.feed(i)?,
            })
        };
        Ok(Self {
            config: config.clone(),
            device: device.clone(),
            embedding: parts.embedding()?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<std::result::Result<_, _>>()?,
        })
    }

    /// What the first layer reads, `[sequences, longest, hidden]`, and the mask `[sequences, longest]`: 1 for tokens and
    /// 0 for padding.
    ///
    /// # Errors
    /// For no sequences, one that is empty or longer than [`Config::max_tokens`], and unknown ids.
    pub(crate) fn embed_tokens(&self, sequences: &[&[u32]]) -> Result<(Tensor, Tensor)> {
        let batch = Batch::new(&self.config, sequences, &self.device)?;
        Ok((self.embedding.apply(&batch)?, batch.mask))
    }

    /// As [`embed_tokens`](Self::embed_tokens), with segment type 1 from place `second[i]` of sequence i on.
    ///
    /// # Errors
    /// As [`embed_tokens`](Self::embed_tokens), and where there are not as many places as sequences.
    pub(crate) fn embed_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> Result<(Tensor, Tensor)> {
        let batch = Batch::of_pairs(&self.config, sequences, second, &self.device)?;
        Ok((self.embedding.apply(&batch)?, batch.mask))
    }

    /// The output of the last of `layers`, `[sequences, longest, hidden]`, where `x` is the input of the first and `mask`
    /// is as [`embed_tokens`](Self::embed_tokens) gives it. Lower layers that do not change can be run once, and what
    /// they give be kept.
    ///
    /// # Errors
    /// Where there are no such layers, and where candle fails.
    pub(crate) fn run_layers(&self, x: &Tensor, mask: &Tensor, layers: Range<usize>) -> Result<Tensor> {
        let Some(run) = self.layers.get(layers.clone()) else {
            candle_core::bail!("there are no layers {layers:?}; the model has {}", self.layers.len());
        };
        let (count, longest) = mask.dims2()?;
        let hidden = hidden(mask)?.reshape((count, 1, 1, longest))?;
        run.iter().try_fold(x.clone(), |x, layer| layer.apply(&x, &hidden, &self.config))
    }

    fn forward(&self, sequences: &[&[u32]]) -> Result<(Tensor, Tensor)> {
        let (x, mask) = self.embed_tokens(sequences)?;
        Ok((self.run_layers(&x, &mask, 0..self.layers.len())?, mask))
    }
}

impl Layer {
    fn apply(&self, x: &Tensor, hidden: &Tensor, config: &Config) -> Result<Tensor> {
        let heads = config.num_attention_heads;
        let (query, key) = (self.query.heads(x, heads)?, self.key.heads(x, heads)?);
        let scale = (config.head_size() as f64).sqrt();
        let scores = (query.matmul(&key.t()?)? / scale)?.broadcast_add(hidden)?;
        let context = softmax(&scores)?.matmul(&self.value.heads(x, heads)?)?;
        self.feed.apply(x, &join(&context)?)
    }
}

impl Embed for Plain {
    fn embed(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        let (x, mask) = self.forward(sequences)?;
        pool(&x, &mask)
    }

    fn hidden(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        rows(&self.forward(sequences)?.0, sequences)
    }

    fn first_of_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> Result<Vec<f32>> {
        self.config.check_pairs(sequences, second)?;
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        let (x, mask) = self.embed_pairs(sequences, second)?;
        firsts(&self.run_layers(&x, &mask, 0..self.layers.len())?)?.flatten_all()?.to_vec1()
    }

    fn batch_tokens(&self) -> usize {
        if self.device.is_cpu() { 2_048 } else { BATCH_TOKENS }
    }

    fn parallel(&self) -> bool {
        false
    }
}
