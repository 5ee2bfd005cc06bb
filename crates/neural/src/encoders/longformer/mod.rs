//! Longformer (Beltagy, Peters and Cohan 2020, arXiv:2004.05150).
//!
//! A token attends to the tokens at most half of `attention_window` away on either side and to the global tokens; a
//! global token attends to all, by projections of its own. Queries are taken in blocks as long as the reach to one
//! side, and a block's keys are those of three blocks, so time and memory grow with length times window (and with length
//! times global tokens), never with length times length.

mod global;
mod window;

use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use self::global::Globals;
use self::window::Window;
use super::layers::{self, Batch, Embedding, Feed, Linear, Parts, join, pool, rows, split};
use super::{Config, Embed, Tensors};
use crate::models::ModelError;

/// Padded tokens of a batch on a GPU.
const BATCH_TOKENS: usize = 16_384;

/// Longformer in candle's own operations, all of which have a gradient. As with [`Plain`](super::Plain), a model made of
/// variables follows them when they are stepped.
pub struct Longformer {
    config: Config,
    device: Device,
    embedding: Embedding,
    layers: Vec<Layer>,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    query_global: Linear,
    key_global: Linear,
    value_global: Linear,
    feed: Feed,
    /// Tokens that are seen on either side.
    reach: usize,
}

impl Longformer {
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
                query_global: parts.projection(i, "query_global")?,
                key_global: parts.projection(i, "key_global")?,
                value_global: parts.projection(i, "value_global")?,
                feed: parts.feed(i)?,
                reach: config.reach(i),
            })
        };
        Ok(Self {
            config: config.clone(),
            device: device.clone(),
            embedding: parts.embedding()?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<std::result::Result<_, _>>()?,
        })
    }

    /// As [`Embed::hidden`], with the global tokens of each sequence named by their places in it, in any order; there may
    /// be none.
    ///
    /// # Errors
    /// As [`Embed::hidden`], and where there are not as many lists as sequences or a place is beyond its sequence.
    pub fn hidden_with_global(&self, sequences: &[&[u32]], globals: &[&[usize]]) -> Result<Vec<f32>> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        rows(&self.forward(sequences, globals)?.0, sequences)
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
    /// is as [`embed_tokens`](Self::embed_tokens) gives it; `globals` are places in each sequence.
    ///
    /// # Errors
    /// Where there are no such layers or places, and where candle fails.
    pub(crate) fn run_layers(
        &self,
        x: &Tensor,
        mask: &Tensor,
        globals: &[&[usize]],
        layers: Range<usize>,
    ) -> Result<Tensor> {
        let Some(run) = self.layers.get(layers.clone()) else {
            candle_core::bail!("there are no layers {layers:?}; the model has {}", self.layers.len());
        };
        let globals = Globals::new(globals, mask)?;
        run.iter().try_fold(x.clone(), |x, layer| layer.apply(&x, mask, globals.as_ref(), &self.config))
    }

    fn forward(&self, sequences: &[&[u32]], globals: &[&[usize]]) -> Result<(Tensor, Tensor)> {
        for (ids, places) in sequences.iter().zip(globals) {
            if let Some(place) = places.iter().find(|&&place| place >= ids.len()) {
                candle_core::bail!("there is no token {place} to be global in a sequence of {}", ids.len());
            }
        }
        let (x, mask) = self.embed_tokens(sequences)?;
        Ok((self.run_layers(&x, &mask, globals, 0..self.layers.len())?, mask))
    }
}

impl Layer {
    fn apply(&self, x: &Tensor, mask: &Tensor, globals: Option<&Globals>, config: &Config) -> Result<Tensor> {
        let heads = config.num_attention_heads;
        let scale = (config.head_size() as f64).sqrt();
        let (query, key, value) = ((self.query.apply(x)? / scale)?, self.key.apply(x)?, self.value.apply(x)?);
        // Global tokens are seen by all, so the window leaves them out.
        let visible = globals.map_or_else(|| Ok(mask.clone()), |globals| mask - &globals.mask)?;
        let window = Window::new(&visible, self.reach)?;
        let shared = match globals {
            None => None,
            Some(globals) => {
                let key = split(&globals.select(&key)?, heads)?;
                let value = split(&globals.select(&value)?, heads)?;
                Some((key, value, &globals.present))
            }
        };
        let shared = shared.as_ref().map(|(key, value, present)| (key, value, *present));
        let (query, key, value) = (split(&query, heads)?, split(&key, heads)?, split(&value, heads)?);
        let context = join(&window.attend(&query, &key, &value, shared)?)?;
        let context = match globals {
            None => context,
            Some(globals) => {
                let query = (self.query_global.heads(&globals.select(x)?, heads)? / scale)?;
                let (key, value) = (self.key_global.heads(x, heads)?, self.value_global.heads(x, heads)?);
                globals.replace(&context, &global::attend(&query, &key, &value, mask)?)?
            }
        };
        self.feed.apply(x, &context)
    }
}

/// The first token of every sequence.
fn firsts(sequences: &[&[u32]]) -> Vec<&'static [usize]> {
    vec![&[0]; sequences.len()]
}

impl Embed for Longformer {
    /// The first token is the only global one.
    fn embed(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        let (x, mask) = self.forward(sequences, &firsts(sequences))?;
        pool(&x, &mask)
    }

    /// The first token is the only global one.
    fn hidden(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        self.hidden_with_global(sequences, &firsts(sequences))
    }

    /// The first token is the only global one.
    fn first_of_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> Result<Vec<f32>> {
        self.config.check_pairs(sequences, second)?;
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        let (x, mask) = self.embed_pairs(sequences, second)?;
        let x = self.run_layers(&x, &mask, &firsts(sequences), 0..self.layers.len())?;
        layers::firsts(&x)?.flatten_all()?.to_vec1()
    }

    fn batch_tokens(&self) -> usize {
        if self.device.is_cpu() { 2_048 } else { BATCH_TOKENS }
    }

    fn parallel(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
