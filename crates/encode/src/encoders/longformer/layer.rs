use candle_core::{Result, Tensor};

use super::global::{self, Globals};
use super::window::Window;
use crate::encoders::config::Config;
use crate::encoders::embed::LayerByLayer;
use crate::encoders::layers::{Feed, Linear, Parts, join, rows, split};
use crate::encoders::stack::{self, Stack};
use crate::models::ModelError;

/// Longformer in candle's own operations. The first token of a sequence is its only global one where nothing else is
/// said.
pub type Longformer = Stack<Layer>;

/// A layer of Longformer: attention inside a window, and of global tokens.
pub struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    query_global: Linear,
    key_global: Linear,
    value_global: Linear,
    feed: Feed,
    /// The number of tokens that are seen on either side.
    reach: usize,
}

impl stack::Layer for Layer {
    fn read(parts: &Parts<'_>, i: usize) -> std::result::Result<Self, ModelError> {
        Ok(Self {
            query: parts.projection(i, "query")?,
            key: parts.projection(i, "key")?,
            value: parts.projection(i, "value")?,
            query_global: parts.projection(i, "query_global")?,
            key_global: parts.projection(i, "key_global")?,
            value_global: parts.projection(i, "value_global")?,
            feed: parts.feed(i)?,
            reach: parts.config.reach(i),
        })
    }

    fn run(layers: &[Self], x: &Tensor, mask: &Tensor, config: &Config) -> Result<Tensor> {
        let first: Vec<&[usize]> = vec![&[0]; mask.dim(0)?];
        run(layers, x, mask, &first, config)
    }
}

impl Longformer {
    /// As [`Embed::hidden`](crate::encoders::Embed::hidden), with the global tokens of each sequence named by their
    /// places in it, in any order; there may be none.
    ///
    /// # Errors
    /// As [`Embed::hidden`](crate::encoders::Embed::hidden), and where there are not as many lists as sequences or a
    /// place is beyond its sequence.
    pub fn hidden_with_global(&self, sequences: &[&[u32]], globals: &[&[usize]]) -> Result<Vec<f32>> {
        if sequences.is_empty() {
            return Ok(Vec::new());
        }
        rows(&self.with_global(sequences, globals)?, sequences)
    }

    /// The same as a tensor with gradients, `[sequences, longest, hidden]`.
    pub(crate) fn with_global(&self, sequences: &[&[u32]], globals: &[&[usize]]) -> Result<Tensor> {
        for (ids, places) in sequences.iter().zip(globals) {
            if let Some(place) = places.iter().find(|&&place| place >= ids.len()) {
                candle_core::bail!("there is no token {place} to be global in a sequence of {}", ids.len());
            }
        }
        let (x, mask) = self.embed_tokens(sequences)?;
        run(self.layers(), &x, &mask, globals, self.config())
    }
}

/// The output of the last of `layers`; `globals` are places in each sequence.
fn run(layers: &[Layer], x: &Tensor, mask: &Tensor, globals: &[&[usize]], config: &Config) -> Result<Tensor> {
    let globals = Globals::new(globals, mask)?;
    layers.iter().try_fold(x.clone(), |x, layer| layer.apply(&x, mask, globals.as_ref(), config))
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
