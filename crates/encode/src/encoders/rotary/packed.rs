use std::ops::Range;

use candle_core::Result;

use super::{Layers, Size, settings};
use crate::encoders::spare::Spare;
use crate::encoders::weights::Tensors;
use crate::kernels::{
    Aligned, Angles, AttendScratch, Attention, Finish, Gate, Linear, Precision, Reach, attend, gated, layer_norm,
    padded_rows, rms_norm, turn,
};
use crate::models::ModelError;

type Loaded<T> = std::result::Result<T, ModelError>;

/// Tokens of a batch, as of a packed BERT.
const BATCH_TOKENS: usize = 256;

/// Rows that go through the feed-forward part together: what lies between its products stays small where a text is long.
const FEED_ROWS: usize = 256;

/// Tokens of a batch whose buffers are kept for the next one; those of a long text are given back.
const KEPT_TOKENS: usize = 1_024;

/// A model of this kind on a CPU: packed weights and kernels, without padding.
pub(super) struct Packed {
    size: Size,
    shape: Attention,
    /// Embeddings of tokens, with what every token gets added to its own.
    words: Vec<f32>,
    first: Option<Norm>,
    layers: Vec<Layer>,
    last: Option<Norm>,
    spare: Spare<Scratch>,
}

struct Layer {
    /// Over the rows that attention reads. None where they are normalised already.
    before: Option<Norm>,
    qkv: Linear,
    /// Over a head's numbers, of queries and of keys.
    heads: Option<[Norm; 2]>,
    reach: Reach,
    base: f64,
    out: Linear,
    /// Over the sums of what attention gave and its input: as the input of the feed-forward part alone, or in their place.
    middle: Norm,
    /// The input of the activation and what it is multiplied with, in one product.
    up: Linear,
    gate: Gate,
    down: Linear,
    /// Over the layer's result. None where `middle` does not take the place of its rows.
    after: Option<Norm>,
}

/// Scales rows by their spread, around their mean or around 0.
struct Norm {
    gain: Vec<f32>,
    /// None: around 0.
    shift: Option<Vec<f32>>,
    epsilon: f32,
}

/// The buffers of one forward pass, used again by the next.
#[derive(Default)]
struct Scratch {
    x: Aligned,
    y: Aligned,
    z: Aligned,
    qkv: Aligned,
    context: Aligned,
    wide: Aligned,
    fed: Aligned,
    attend: AttendScratch,
}

impl Norm {
    fn apply(&self, rows: &mut [f32]) {
        match &self.shift {
            Some(shift) => layer_norm(rows, &self.gain, shift, self.epsilon),
            None => rms_norm(rows, &self.gain, self.epsilon),
        }
    }
}

/// Reads the parts of a model by the names of their tensors.
struct Parts<'a> {
    weights: &'a dyn Tensors,
    precision: Precision,
    epsilon: f64,
}

impl Parts<'_> {
    /// The product with matrices whose outputs lie side by side: names and outputs of each.
    fn linear(&self, matrices: &[(String, usize)], inputs: usize) -> Loaded<Linear> {
        let mut weight = Vec::new();
        for (name, outputs) in matrices {
            weight.extend(self.weights.numbers(name, &[*outputs, inputs])?);
        }
        let outputs = matrices.iter().map(|(_, outputs)| outputs).sum();
        Ok(Linear::new(&weight, &vec![0.0; outputs], inputs, self.precision))
    }

    fn norm(&self, gain: &str, width: usize, shift: Option<Vec<f32>>) -> Loaded<Norm> {
        Ok(Norm { gain: self.weights.numbers(gain, &[width])?, shift, epsilon: self.epsilon as f32 })
    }

    /// A layer norm without a shift.
    fn layer_norm(&self, gain: &str, width: usize) -> Loaded<Norm> {
        self.norm(gain, width, Some(vec![0.0; width]))
    }

    /// A layer norm with its shift: `name.weight` and `name.bias`.
    fn shifted_norm(&self, name: &str, width: usize) -> Loaded<Norm> {
        let shift = self.weights.numbers(&format!("{name}.bias"), &[width])?;
        self.norm(&format!("{name}.weight"), width, Some(shift))
    }
}

/// True where the kernels can work with these shapes: those of attention, of the rows, and of what lies between the products of the
/// feed-forward part.
fn fits(shape: Attention, hidden: usize, wide: usize) -> bool {
    shape.fits() && [shape.joined(), hidden, wide].into_iter().all(Linear::fits)
}

/// Attention whose heads share the hidden numbers.
fn parted(hidden: usize, heads: usize) -> Attention {
    Attention { heads, groups: heads, head: hidden / heads }
}

/// The table of words, and the norms of the first rows and of the last.
type Ends = (Vec<f32>, Option<Norm>, Option<Norm>);

impl Packed {
    /// A model of so many layers, where the kernels can work with its shapes.
    fn of(
        (size, shape, wide, layers): (Size, Attention, usize, usize),
        layer: impl Fn(usize) -> Loaded<Layer>,
        ends: impl FnOnce() -> Loaded<Ends>,
    ) -> Loaded<Option<Self>> {
        if !fits(shape, size.hidden, wide) {
            return Ok(None);
        }
        let (words, first, last) = ends()?;
        let layers = (0..layers).map(layer).collect::<Loaded<_>>()?;
        Ok(Some(Self { size, shape, words, first, layers, last, spare: Spare::default() }))
    }

    /// ModernBERT, where its shapes fit.
    pub(super) fn modernbert(
        settings: &settings::ModernBert,
        weights: &dyn Tensors,
        precision: Precision,
    ) -> Loaded<Option<Self>> {
        let (hidden, wide) = (settings.hidden_size, settings.intermediate_size);
        let shape = parted(hidden, settings.num_attention_heads);
        let parts = Parts { weights, precision, epsilon: settings.norm_eps };
        let bases = settings.bases();
        let layer = |i: usize| -> Loaded<Layer> {
            let at = |part: &str| format!("layers.{i}.{part}.weight");
            let linear = |part: &str, inputs, outputs| parts.linear(&[(at(part), outputs)], inputs);
            let reach = settings.reach(i).map_or(Reach::All, Reach::Around);
            Ok(Layer {
                before: if i == 0 { None } else { Some(parts.layer_norm(&at("attn_norm"), hidden)?) },
                qkv: linear("attn.Wqkv", hidden, shape.joined())?,
                heads: None,
                reach,
                base: if reach == Reach::All { bases.0 } else { bases.1 },
                out: linear("attn.Wo", hidden, hidden)?,
                middle: parts.layer_norm(&at("mlp_norm"), hidden)?,
                up: linear("mlp.Wi", hidden, 2 * wide)?,
                gate: Gate::Gelu,
                down: linear("mlp.Wo", wide, hidden)?,
                after: None,
            })
        };
        Self::of((settings.size(), shape, wide, settings.num_hidden_layers), layer, || {
            let words = weights.numbers("embeddings.tok_embeddings.weight", &[settings.vocab_size, hidden])?;
            let norm = |name: &str| parts.layer_norm(name, hidden).map(Some);
            Ok((words, norm("embeddings.norm.weight")?, norm("final_norm.weight")?))
        })
    }

    /// Nomic's BERT, where its shapes fit.
    pub(super) fn nomic(
        settings: &settings::NomicBert,
        weights: &dyn Tensors,
        precision: Precision,
    ) -> Loaded<Option<Self>> {
        let (hidden, wide) = (settings.hidden_size, settings.intermediate_size);
        let shape = parted(hidden, settings.num_attention_heads);
        let parts = Parts { weights, precision, epsilon: settings.layer_norm_eps };
        let layer = |i: usize| -> Loaded<Layer> {
            let at = |part: &str| format!("encoder.layers.{i}.{part}");
            let named = |part: &str, outputs| (format!("{}.weight", at(part)), outputs);
            Ok(Layer {
                before: None,
                qkv: parts.linear(&[named("attn.Wqkv", shape.joined())], hidden)?,
                heads: None,
                reach: Reach::All,
                base: settings.base,
                out: parts.linear(&[named("attn.out_proj", hidden)], hidden)?,
                middle: parts.shifted_norm(&at("norm1"), hidden)?,
                up: parts.linear(&[named("mlp.fc12", wide), named("mlp.fc11", wide)], hidden)?,
                gate: Gate::Silu,
                down: parts.linear(&[named("mlp.fc2", hidden)], wide)?,
                after: Some(parts.shifted_norm(&at("norm2"), hidden)?),
            })
        };
        Self::of((settings.size(), shape, wide, settings.num_hidden_layers), layer, || {
            let types = [settings.type_vocab_size, hidden];
            let types = weights.numbers("embeddings.token_type_embeddings.weight", &types)?;
            let mut words = weights.numbers("embeddings.word_embeddings.weight", &[settings.vocab_size, hidden])?;
            for row in words.chunks_exact_mut(hidden) {
                row.iter_mut().zip(&types).for_each(|(v, more)| *v += more);
            }
            Ok((words, Some(parts.shifted_norm("emb_ln", hidden)?), None))
        })
    }

    /// Qwen3, where its shapes fit.
    pub(super) fn qwen3(
        settings: &settings::Qwen3,
        weights: &dyn Tensors,
        precision: Precision,
    ) -> Loaded<Option<Self>> {
        let (hidden, wide) = (settings.hidden_size, settings.intermediate_size);
        let (heads, groups) = (settings.num_attention_heads, settings.num_key_value_heads);
        let shape = Attention { heads, groups, head: settings.head_dim };
        let parts = Parts { weights, precision, epsilon: settings.rms_norm_eps };
        let (queries, keys) = (shape.heads * shape.head, shape.groups * shape.head);
        let layer = |i: usize| -> Loaded<Layer> {
            let at = |part: &str| format!("layers.{i}.{part}.weight");
            let norm = |part: &str, width| parts.norm(&at(part), width, None);
            let own = |part: &str| at(&format!("self_attn.{part}"));
            Ok(Layer {
                before: Some(norm("input_layernorm", hidden)?),
                qkv: parts.linear(&[(own("q_proj"), queries), (own("k_proj"), keys), (own("v_proj"), keys)], hidden)?,
                heads: Some([norm("self_attn.q_norm", shape.head)?, norm("self_attn.k_norm", shape.head)?]),
                reach: Reach::Before,
                base: settings.base().unwrap_or_default(),
                out: parts.linear(&[(own("o_proj"), hidden)], queries)?,
                middle: norm("post_attention_layernorm", hidden)?,
                up: parts.linear(&[(at("mlp.gate_proj"), wide), (at("mlp.up_proj"), wide)], hidden)?,
                gate: Gate::Silu,
                down: parts.linear(&[(at("mlp.down_proj"), hidden)], wide)?,
                after: None,
            })
        };
        Self::of((settings.size(), shape, wide, settings.num_hidden_layers), layer, || {
            let words = weights.numbers("embed_tokens.weight", &[settings.vocab_size, hidden])?;
            Ok((words, None, Some(parts.norm("norm.weight", hidden, None)?)))
        })
    }

    /// The angles of each base that layers turn by, for sequences of up to `longest` tokens.
    fn angles(&self, longest: usize) -> Vec<(f64, Angles)> {
        let mut found: Vec<(f64, Angles)> = Vec::new();
        for Layer { base, .. } in &self.layers {
            if !found.iter().any(|(known, _)| known == base) {
                found.push((*base, Angles::new(longest, self.shape.head, *base)));
            }
        }
        found
    }

    /// Leaves the last layer's rows in `scratch.x`.
    fn forward(&self, ids: &[u32], sequences: &[Range<usize>], scratch: &mut Scratch) {
        let (hidden, tokens) = (self.size.hidden, ids.len());
        let (rows, queries) = (padded_rows(tokens), self.shape.heads * self.shape.head);
        let Scratch { x, y, z, qkv, context, wide, fed, attend: attend_scratch } = scratch;
        for buffer in [&mut *x, y, z] {
            buffer.reserve(rows * hidden);
        }
        qkv.reserve(rows * self.shape.joined());
        context.reserve(rows * queries);
        let angles = self.angles(sequences.iter().map(ExactSizeIterator::len).max().unwrap_or(0));
        for (&id, row) in ids.iter().zip(x.chunks_exact_mut(hidden)) {
            row.copy_from_slice(&self.words[id as usize * hidden..][..hidden]);
        }
        let own = ..tokens * hidden;
        if let Some(first) = &self.first {
            first.apply(&mut x[own]);
        }
        for layer in &self.layers {
            let input: &[f32] = match &layer.before {
                Some(norm) => {
                    y[own].copy_from_slice(&x[own]);
                    norm.apply(&mut y[own]);
                    y
                }
                None => x,
            };
            layer.qkv.apply(tokens, input, Finish::Bias, qkv);
            let angles = angles.iter().find(|(base, _)| *base == layer.base);
            for range in sequences {
                let rows = &mut qkv[range.start * self.shape.joined()..range.end * self.shape.joined()];
                self.place(layer, angles.map(|(_, angles)| angles), rows);
            }
            attend((self.shape, layer.reach), sequences, qkv, None, attend_scratch, context);
            layer.out.apply(tokens, context, Finish::Add(x), z);
            if let Some(after) = &layer.after {
                layer.middle.apply(&mut z[own]);
                layer.feed(tokens, z, z, (wide, fed), x);
                after.apply(&mut x[own]);
            } else {
                y[own].copy_from_slice(&z[own]);
                layer.middle.apply(&mut y[own]);
                layer.feed(tokens, y, z, (wide, fed), x);
            }
        }
        if let Some(last) = &self.last {
            last.apply(&mut x[own]);
        }
    }

    /// Normalises the heads of queries and keys of a sequence where the layer does, and turns them by their places.
    fn place(&self, layer: &Layer, angles: Option<&Angles>, rows: &mut [f32]) {
        let Attention { heads, groups, head } = self.shape;
        let stride = self.shape.joined();
        if let Some([queries, keys]) = &layer.heads {
            for row in rows.chunks_exact_mut(stride) {
                let (own, others) = row.split_at_mut(heads * head);
                queries.apply(own);
                keys.apply(&mut others[..groups * head]);
            }
        }
        if let Some(angles) = angles {
            // Keys lie behind queries.
            turn(angles, heads + groups, rows, stride);
        }
    }
}

impl Layer {
    /// The feed-forward part of the first `rows` rows of `x`, `add` added to it, in `out`.
    fn feed(&self, rows: usize, x: &[f32], add: &[f32], (wide, fed): (&mut Aligned, &mut Aligned), out: &mut [f32]) {
        let (hidden, width) = (self.up.inputs(), self.down.inputs());
        let most = padded_rows(FEED_ROWS.min(rows));
        wide.reserve(most * 2 * width);
        fed.reserve(most * width);
        for first in (0..rows).step_by(FEED_ROWS) {
            let count = FEED_ROWS.min(rows - first);
            let at = first * hidden;
            self.up.apply(count, &x[at..], Finish::Bias, wide);
            gated(self.gate, &wide[..count * 2 * width], width, &mut fed[..count * width]);
            self.down.apply(count, fed, Finish::Add(&add[at..]), &mut out[at..]);
        }
    }
}

impl Layers for Packed {
    fn rows(&self, ids: &[u32], sequences: &[Range<usize>]) -> Result<Vec<f32>> {
        let mut scratch = self.spare.take();
        self.forward(ids, sequences, &mut scratch);
        let rows = scratch.x[..ids.len() * self.size.hidden].to_vec();
        if ids.len() <= KEPT_TOKENS {
            self.spare.give(scratch);
        }
        Ok(rows)
    }

    fn batch_tokens(&self) -> usize {
        BATCH_TOKENS
    }

    fn parallel(&self) -> bool {
        true
    }
}
