use candle_core::{D, Device, Result, Tensor};

use super::config::Config;
use super::weights::Tensors;
use crate::models::ModelError;

type Loaded<T> = std::result::Result<T, ModelError>;

/// Added to the scores of what must not be attended to: the share becomes 0 in single precision.
pub(crate) const HIDDEN: f64 = -1e9;

/// Reads the parts of a model by the names of their tensors.
pub struct Parts<'a> {
    pub weights: &'a dyn Tensors,
    pub config: &'a Config,
    pub device: &'a Device,
}

/// A layer normalisation over the last dimension.
pub struct Norm {
    gain: Tensor,
    shift: Tensor,
    epsilon: f64,
}

/// A fully connected layer.
pub struct Linear {
    /// Transposed, `[inputs, outputs]`: a view, so that a variable that is stepped is stepped here.
    weight: Tensor,
    bias: Tensor,
}

/// The tables that turn ids into the first rows.
pub struct Embedding {
    words: Tensor,
    positions: Tensor,
    types: Tensor,
    norm: Norm,
}

/// The part of a layer after attention: the same in all families.
pub struct Feed {
    out: Linear,
    out_norm: Norm,
    up: Linear,
    down: Linear,
    down_norm: Norm,
}

impl Parts<'_> {
    pub fn norm(&self, name: &str) -> Loaded<Norm> {
        let part = |part: &str| self.weights.tensor(&format!("{name}.{part}"), &[self.config.hidden_size], self.device);
        Ok(Norm { gain: part("weight")?, shift: part("bias")?, epsilon: self.config.layer_norm_eps })
    }

    pub fn linear(&self, name: &str, inputs: usize, outputs: usize) -> Loaded<Linear> {
        let weight = self.weights.tensor(&format!("{name}.weight"), &[outputs, inputs], self.device)?;
        let bias = self.weights.tensor(&format!("{name}.bias"), &[outputs], self.device)?;
        let weight = weight.t().map_err(|e| self.weights.unusable(format!("tensor {name}.weight: {e}")))?;
        Ok(Linear { weight, bias })
    }

    /// A projection of layer `layer`'s attention: `query`, `key_global` and so on.
    pub fn projection(&self, layer: usize, name: &str) -> Loaded<Linear> {
        let hidden = self.config.hidden_size;
        self.linear(&format!("encoder.layer.{layer}.attention.self.{name}"), hidden, hidden)
    }

    pub fn embedding(&self) -> Loaded<Embedding> {
        let table = |name: &str, rows: usize| {
            let name = format!("embeddings.{name}_embeddings.weight");
            self.weights.tensor(&name, &[rows, self.config.hidden_size], self.device)
        };
        Ok(Embedding {
            words: table("word", self.config.vocab_size)?,
            positions: table("position", self.config.max_position_embeddings)?,
            types: table("token_type", self.config.type_vocab_size)?,
            norm: self.norm("embeddings.LayerNorm")?,
        })
    }

    pub fn feed(&self, layer: usize) -> Loaded<Feed> {
        let (hidden, wide) = (self.config.hidden_size, self.config.intermediate_size);
        let at = |part: &str| format!("encoder.layer.{layer}.{part}");
        Ok(Feed {
            out: self.linear(&at("attention.output.dense"), hidden, hidden)?,
            out_norm: self.norm(&at("attention.output.LayerNorm"))?,
            up: self.linear(&at("intermediate.dense"), hidden, wide)?,
            down: self.linear(&at("output.dense"), wide, hidden)?,
            down_norm: self.norm(&at("output.LayerNorm"))?,
        })
    }
}

impl Norm {
    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let off = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
        let spread = (off.sqr()?.mean_keepdim(D::Minus1)? + self.epsilon)?.sqrt()?;
        off.broadcast_div(&spread)?.broadcast_mul(&self.gain)?.broadcast_add(&self.shift)
    }
}

impl Linear {
    /// `[sequences, length, inputs]` to `[sequences, length, outputs]`.
    pub fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let (count, length, inputs) = x.dims3()?;
        let rows = x.reshape((count * length, inputs))?.matmul(&self.weight)?;
        rows.broadcast_add(&self.bias)?.reshape((count, length, ()))
    }

    /// As [`apply`](Self::apply), head by head: `[sequences, heads, length, head]`.
    pub fn heads(&self, x: &Tensor, heads: usize) -> Result<Tensor> {
        split(&self.apply(x)?, heads)
    }
}

impl Embedding {
    /// The normalised rows of a batch, `[sequences, longest, hidden]`.
    pub fn apply(&self, batch: &Batch) -> Result<Tensor> {
        let (count, longest) = batch.mask.dims2()?;
        let rows = self.words.index_select(&batch.ids, 0)? + self.positions.index_select(&batch.positions, 0)?;
        let rows = match &batch.types {
            Some(types) if self.types.dim(0)? > 1 => (rows? + self.types.index_select(types, 0)?)?,
            _ => rows?.broadcast_add(&self.types.narrow(0, 0, 1)?)?,
        };
        self.norm.apply(&rows)?.reshape((count, longest, ()))
    }
}

impl Feed {
    /// The layer's result from its input `x` and the context that attention found, both `[sequences, length, hidden]`.
    pub fn apply(&self, x: &Tensor, context: &Tensor) -> Result<Tensor> {
        let y = self.out_norm.apply(&(self.out.apply(context)? + x)?)?;
        let wide = self.up.apply(&y)?.gelu_erf()?;
        self.down_norm.apply(&(self.down.apply(&wide)? + &y)?)
    }
}

/// Sequences side by side, padded at the right.
pub struct Batch {
    /// `[sequences * longest]`.
    ids: Tensor,
    /// Rows of the table of positions, `[sequences * longest]`.
    positions: Tensor,
    /// Segment types, `[sequences * longest]`; all 0 where there are none.
    types: Option<Tensor>,
    /// 1 for tokens and 0 for padding, `[sequences, longest]`.
    pub mask: Tensor,
}

impl Batch {
    /// Pads sequences that the model can read.
    ///
    /// # Errors
    /// For no sequences, and as [`Config::check`].
    pub fn new(config: &Config, sequences: &[&[u32]], device: &Device) -> Result<Self> {
        config.check(sequences)?;
        let Some(longest) = sequences.iter().map(|ids| ids.len()).max() else {
            candle_core::bail!("a batch without sequences");
        };
        let size = sequences.len() * longest;
        let (mut ids, mut positions, mut mask) = (Vec::new(), Vec::new(), Vec::new());
        for (i, sequence) in sequences.iter().enumerate() {
            ids.extend_from_slice(sequence);
            positions.extend(config.positions(sequence));
            mask.resize(ids.len(), 1.0f32);
            let end = (i + 1) * longest;
            ids.resize(end, config.padding());
            positions.resize(end, 0);
            mask.resize(end, 0.0);
        }
        Ok(Self {
            ids: Tensor::from_vec(ids, size, device)?,
            positions: Tensor::from_vec(positions, size, device)?,
            types: None,
            mask: Tensor::from_vec(mask, (sequences.len(), longest), device)?,
        })
    }

    /// The same for pairs: tokens from place `second[i]` of sequence i on are of segment type 1.
    ///
    /// # Errors
    /// As [`Batch::new`], and as [`Config::check_pairs`].
    pub fn of_pairs(config: &Config, sequences: &[&[u32]], second: &[usize], device: &Device) -> Result<Self> {
        config.check_pairs(sequences, second)?;
        let batch = Self::new(config, sequences, device)?;
        let (count, longest) = batch.mask.dims2()?;
        let types = second.iter().flat_map(|&second| (0..longest).map(move |i| u32::from(i >= second)));
        let types = Tensor::from_vec(types.collect::<Vec<u32>>(), count * longest, device)?;
        Ok(Self { types: Some(types), ..batch })
    }
}

/// `[sequences, length, hidden]` to `[sequences, heads, length, head]`.
pub(crate) fn split(x: &Tensor, heads: usize) -> Result<Tensor> {
    let (count, length, hidden) = x.dims3()?;
    x.reshape((count, length, heads, hidden / heads))?.transpose(1, 2)?.contiguous()
}

/// The reverse of [`split`].
pub(crate) fn join(x: &Tensor) -> Result<Tensor> {
    let (count, heads, length, head) = x.dims4()?;
    x.transpose(1, 2)?.reshape((count, length, heads * head))
}

/// Shares that sum to 1 over the last dimension.
pub(crate) fn softmax(scores: &Tensor) -> Result<Tensor> {
    // The greatest score cancels out of the result, so no gradient has to go through it.
    let shares = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?.detach())?.exp()?;
    shares.broadcast_div(&shares.sum_keepdim(D::Minus1)?)
}

/// 0 for tokens and [`HIDDEN`] for padding, of the mask's shape.
pub(crate) fn hidden(mask: &Tensor) -> Result<Tensor> {
    mask.affine(-HIDDEN, HIDDEN)
}

/// Means over each sequence's tokens, scaled to norm 1, one after the other.
pub(crate) fn pool(x: &Tensor, mask: &Tensor) -> Result<Vec<f32>> {
    let mask = mask.unsqueeze(2)?;
    let mean = x.broadcast_mul(&mask)?.sum(1)?.broadcast_div(&mask.sum(1)?)?;
    let norm = mean.sqr()?.sum_keepdim(1)?.sqrt()?.maximum(1e-12)?;
    mean.broadcast_div(&norm)?.flatten_all()?.to_vec1()
}

/// The rows of first tokens, `[sequences, hidden]`.
pub(crate) fn firsts(x: &Tensor) -> Result<Tensor> {
    x.narrow(1, 0, 1)?.squeeze(1)?.contiguous()
}

/// The rows of tokens, without those of padding, one after the other.
pub(crate) fn rows(x: &Tensor, sequences: &[&[u32]]) -> Result<Vec<f32>> {
    let mut rows = Vec::new();
    for (i, ids) in sequences.iter().enumerate() {
        rows.extend(x.get(i)?.narrow(0, 0, ids.len())?.flatten_all()?.to_vec1::<f32>()?);
    }
    Ok(rows)
}
