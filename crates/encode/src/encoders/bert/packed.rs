use std::ops::Range;

use super::layer::{Layer, Norm, ranges};
use crate::encoders::config::Config;
use crate::encoders::embed::Embed;
use crate::encoders::mpnet::{DISTANCES, bucket};
use crate::encoders::spare::Spare;
use crate::encoders::weights::Tensors;
use crate::kernels::{
    Aligned, AttendScratch, Attention, Distances, Finish, Linear, Precision, Reach, attend, feed_forward, mean_pool,
    padded_rows,
};
use crate::models::ModelError;

/// Tokens of a batch. Large enough that the weights, read once a batch, cost little; small enough that what lies
/// between two layers stays in the second-level cache.
const BATCH_TOKENS: usize = 256;

/// BERT, RoBERTa or MPNet on a CPU. The tokens of all sequences of a batch lie one after the other, `[tokens, hidden]`: linear layers see
/// one matrix, attention sees each sequence alone, and there is no padding.
pub struct Packed {
    config: Config,
    attention: Attention,
    words: Vec<f32>,
    /// Embeddings of positions, that of segment type 0 added.
    positions: Vec<f32>,
    /// The embedding of segment type 1 minus that of type 0; zeros where there is one type.
    second: Vec<f32>,
    norm: Norm,
    layers: Vec<Layer<Linear>>,
    distances: Option<Distances>,
    spare: Spare<Scratch>,
}

/// The buffers of one forward pass, used again by the next.
#[derive(Default)]
struct Scratch {
    x: Aligned,
    y: Aligned,
    qkv: Aligned,
    context: Aligned,
    attend: AttendScratch,
}

impl Packed {
    /// True where the kernels can work with these shapes.
    pub fn fits(config: &Config) -> bool {
        Self::attention(config).fits() && Linear::fits(config.hidden_size) && Linear::fits(config.intermediate_size)
    }

    pub(super) fn attention(config: &Config) -> Attention {
        let heads = config.num_attention_heads;
        Attention { heads, groups: heads, head: config.head_size() }
    }

    /// Packs the weights of a model that [fits](Self::fits).
    pub fn new(config: &Config, weights: &dyn Tensors, precision: Precision) -> Result<Self, ModelError> {
        let hidden = config.hidden_size;
        let linear = |names: &[String], inputs: usize, outputs: usize| -> Result<Linear, ModelError> {
            let (mut weight, mut bias) = (Vec::new(), Vec::new());
            for name in names {
                weight.extend(weights.numbers(&format!("{name}.weight"), &[outputs, inputs])?);
                bias.extend(weights.numbers(&format!("{name}.bias"), &[outputs])?);
            }
            Ok(Linear::new(&weight, &bias, inputs, precision))
        };
        let positions = [config.max_position_embeddings, hidden];
        let mut positions = weights.numbers("embeddings.position_embeddings.weight", &positions)?;
        let types = [config.type_vocab_size, hidden];
        let types = weights.numbers("embeddings.token_type_embeddings.weight", &types)?;
        let second = match types.get(hidden..2 * hidden) {
            Some(second) => second.iter().zip(&types).map(|(second, first)| second - first).collect(),
            None => vec![0.0; hidden],
        };
        for row in positions.chunks_exact_mut(hidden) {
            for (v, t) in row.iter_mut().zip(&types) {
                *v += t;
            }
        }
        let distances = match config.buckets() {
            Some(buckets) => Some(distances(config, buckets, weights)?),
            None => None,
        };
        Ok(Self {
            config: config.clone(),
            attention: Self::attention(config),
            distances,
            words: weights.numbers("embeddings.word_embeddings.weight", &[config.vocab_size, hidden])?,
            positions,
            second,
            norm: Norm::read("embeddings.LayerNorm", weights, hidden)?,
            layers: (0..config.num_hidden_layers)
                .map(|i| Layer::read(config, weights, i, linear))
                .collect::<Result<_, _>>()?,
            spare: Spare::default(),
        })
    }

    /// Fills `x` with the rows of the embedding layer, of sequences that were checked.
    fn look_up(&self, sequences: &[&[u32]], x: &mut [f32]) {
        let hidden = self.config.hidden_size;
        let tokens = sequences.iter().flat_map(|ids| ids.iter().zip(self.config.positions(ids)));
        for ((&id, position), out) in tokens.zip(x.chunks_exact_mut(hidden)) {
            let word = &self.words[id as usize * hidden..][..hidden];
            let place = &self.positions[position as usize * hidden..][..hidden];
            for ((v, w), p) in out.iter_mut().zip(word).zip(place) {
                *v = w + p;
            }
        }
    }

    /// Leaves the last layer's rows in `scratch.x`; gives where each sequence's are. Of pairs, whose second parts begin at
    /// the places `pairs`, only the first token's row of each is left, one after the other.
    fn forward(&self, sequences: &[&[u32]], pairs: Option<&[usize]>, scratch: &mut Scratch) -> Vec<Range<usize>> {
        let hidden = self.config.hidden_size;
        let epsilon = self.config.layer_norm_eps as f32;
        let ranges = ranges(sequences);
        let mut tokens = ranges.last().map_or(0, |range| range.end);
        let rows = padded_rows(tokens);
        let Scratch { x, y, qkv, context, attend: attend_scratch } = scratch;
        for buffer in [&mut *x, y, context] {
            buffer.reserve(rows * hidden);
        }
        qkv.reserve(rows * 3 * hidden);

        self.look_up(sequences, x);
        for (range, &second) in ranges.iter().zip(pairs.unwrap_or(&[])) {
            for row in x[range.start.saturating_add(second).min(range.end) * hidden..range.end * hidden]
                .chunks_exact_mut(hidden)
            {
                row.iter_mut().zip(&self.second).for_each(|(v, more)| *v += more);
            }
        }
        self.norm.apply(&mut x[..tokens * hidden], epsilon);
        for (i, layer) in self.layers.iter().enumerate() {
            layer.qkv.apply(tokens, x, Finish::Bias, qkv);
            attend((self.attention, Reach::All), &ranges, qkv, self.distances.as_ref(), attend_scratch, context);
            if pairs.is_some() && i + 1 == self.layers.len() {
                // Behind the last attention rows no longer see each other: the others need not be worked out.
                for (row, range) in ranges.iter().enumerate() {
                    let first = range.start * hidden..(range.start + 1) * hidden;
                    x.copy_within(first.clone(), row * hidden);
                    context.copy_within(first, row * hidden);
                }
                tokens = ranges.len();
            }
            layer.out.apply(tokens, context, Finish::Add(x), y);
            layer.out_norm.apply(&mut y[..tokens * hidden], epsilon);
            feed_forward(&layer.up, &layer.down, tokens, y, x);
            layer.down_norm.apply(&mut x[..tokens * hidden], epsilon);
        }
        ranges
    }

    /// Runs the model in buffers that nobody uses, and reads the result out of them.
    fn run<T>(
        &self,
        sequences: &[&[u32]],
        pairs: Option<&[usize]>,
        read: impl FnOnce(&[Range<usize>], &[f32]) -> T,
    ) -> candle_core::Result<T> {
        self.config.check(sequences)?;
        let mut scratch = self.spare.take();
        let ranges = self.forward(sequences, pairs, &mut scratch);
        let found = read(&ranges, &scratch.x);
        self.spare.give(scratch);
        Ok(found)
    }
}

/// What MPNet's attention adds to scores, for every distance that two tokens can have.
fn distances(config: &Config, buckets: usize, weights: &dyn Tensors) -> Result<Distances, ModelError> {
    let heads = config.num_attention_heads;
    let table = weights.numbers(DISTANCES, &[buckets, heads])?;
    Ok(Distances::new(Packed::attention(config), config.max_tokens(), |head, offset| {
        table.get(bucket(offset, buckets) * heads + head).copied().unwrap_or(0.0)
    }))
}

impl Embed for Packed {
    fn embed(&self, sequences: &[&[u32]]) -> candle_core::Result<Vec<f32>> {
        let hidden = self.config.hidden_size;
        self.run(sequences, None, |ranges, x| {
            let mut pooled = vec![0.0; ranges.len() * hidden];
            for (range, out) in ranges.iter().zip(pooled.chunks_exact_mut(hidden)) {
                mean_pool(&x[range.start * hidden..range.end * hidden], out);
            }
            pooled
        })
    }

    fn hidden(&self, sequences: &[&[u32]]) -> candle_core::Result<Vec<f32>> {
        let tokens = |ranges: &[Range<usize>]| ranges.last().map_or(0, |range| range.end);
        self.run(sequences, None, |ranges, x| x[..tokens(ranges) * self.config.hidden_size].to_vec())
    }

    fn first_of_pairs(&self, sequences: &[&[u32]], second: &[usize]) -> candle_core::Result<Vec<f32>> {
        self.config.check_pairs(sequences, second)?;
        let hidden = self.config.hidden_size;
        self.run(sequences, Some(second), |ranges, x| {
            if !self.layers.is_empty() {
                return x[..ranges.len() * hidden].to_vec();
            }
            ranges.iter().flat_map(|range| &x[range.start * hidden..][..hidden]).copied().collect()
        })
    }

    fn batch_tokens(&self) -> usize {
        BATCH_TOKENS
    }

    fn parallel(&self) -> bool {
        true
    }
}
