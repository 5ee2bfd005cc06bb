use candle_core::{Result, Tensor};

use crate::encoders::config::Config;
use crate::encoders::layers::{Feed, Linear, Parts, hidden, join, softmax};
use crate::encoders::mpnet::{DISTANCES, bucket};
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
    /// What distances add to scores, `[buckets, heads]`: the same in all layers.
    distances: Option<Tensor>,
}

impl stack::Layer for Layer {
    fn read(parts: &Parts<'_>, i: usize) -> std::result::Result<Self, ModelError> {
        Ok(Self {
            query: parts.projection(i, "query")?,
            key: parts.projection(i, "key")?,
            value: parts.projection(i, "value")?,
            feed: parts.feed(i)?,
            distances: match parts.config.buckets() {
                Some(buckets) => {
                    let shape = [buckets, parts.config.num_attention_heads];
                    Some(parts.weights.tensor(DISTANCES, &shape, parts.device)?)
                }
                None => None,
            },
        })
    }

    fn run(layers: &[Self], x: &Tensor, mask: &Tensor, config: &Config) -> Result<Tensor> {
        let (count, longest) = mask.dims2()?;
        let hidden = hidden(mask)?.reshape((count, 1, 1, longest))?;
        let hidden = match layers.first().and_then(|layer| layer.distances.as_ref()) {
            Some(table) => hidden.broadcast_add(&by_distance(table, longest)?)?,
            None => hidden,
        };
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

/// What is added to the scores of `longest` tokens for their distances, `[1, heads, longest, longest]`.
fn by_distance(table: &Tensor, longest: usize) -> Result<Tensor> {
    let (buckets, heads) = table.dims2()?;
    let places = 0..longest as isize;
    let rows: Vec<u32> =
        places.clone().flat_map(|i| places.clone().map(move |j| bucket(j - i, buckets) as u32)).collect();
    let rows = Tensor::from_vec(rows, longest * longest, table.device())?;
    table.index_select(&rows, 0)?.t()?.reshape((1, heads, longest, longest))
}
