use candle_core::{Result, Tensor};

use crate::encoders::config::Config;
use crate::encoders::layers::{Feed, Linear, Parts, hidden, join, softmax};
use crate::encoders::stack::{self, Stack};
use crate::models::ModelError;

/// BERT or RoBERTa in candle's own operations.
pub type Plain = Stack<Layer>;

/// A layer of BERT: attention of every token to every other.
pub struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    feed: Feed,
}

impl stack::Layer for Layer {
    fn read(parts: &Parts<'_>, i: usize) -> std::result::Result<Self, ModelError> {
        Ok(Self {
            query: parts.projection(i, "query")?,
            key: parts.projection(i, "key")?,
            value: parts.projection(i, "value")?,
            feed: parts.feed(i)?,
        })
    }

    fn run(layers: &[Self], x: &Tensor, mask: &Tensor, config: &Config) -> Result<Tensor> {
        let (count, longest) = mask.dims2()?;
        let hidden = hidden(mask)?.reshape((count, 1, 1, longest))?;
        layers.iter().try_fold(x.clone(), |x, layer| layer.apply(&x, &hidden, config))
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
