use candle_core::{D, Device, Result, Tensor};

use super::{Config, Embed, Tensors};
use crate::models::ModelError;

/// Padded tokens of a batch on a GPU, where small products leave most of it idle.
const BATCH_TOKENS: usize = 16_384;

/// BERT in candle's own operations, on any of its devices. Batches are padded, and padding is masked.
pub struct Plain {
    device: Device,
    heads: usize,
    epsilon: f64,
    words: Tensor,
    positions: Tensor,
    types: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

struct Norm {
    gain: Tensor,
    shift: Tensor,
}

struct Linear {
    /// Already transposed: `[inputs, outputs]`.
    weight: Tensor,
    bias: Tensor,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    out: Linear,
    out_norm: Norm,
    up: Linear,
    down: Linear,
    down_norm: Norm,
}

impl Plain {
    /// Puts the weights on `device`.
    ///
    /// # Errors
    /// [`ModelError::Unusable`], naming the tensor.
    pub fn new(config: &Config, weights: &dyn Tensors, device: &Device) -> std::result::Result<Self, ModelError> {
        type Loaded<T> = std::result::Result<T, ModelError>;
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let norm = |name: String| -> Loaded<Norm> {
            Ok(Norm {
                gain: weights.tensor(&format!("{name}.weight"), &[hidden], device)?,
                shift: weights.tensor(&format!("{name}.bias"), &[hidden], device)?,
            })
        };
        let linear = |name: String, inputs: usize, outputs: usize| -> Loaded<Linear> {
            let weight = weights.tensor(&format!("{name}.weight"), &[outputs, inputs], device)?;
            let weight = weight.t().and_then(|t| t.contiguous());
            Ok(Linear {
                weight: weight.map_err(|e| weights.unusable(format!("tensor {name}.weight: {e}")))?,
                bias: weights.tensor(&format!("{name}.bias"), &[outputs], device)?,
            })
        };
        let layer = |i: usize| -> Loaded<Layer> {
            let at = |part: &str| format!("encoder.layer.{i}.{part}");
            Ok(Layer {
                query: linear(at("attention.self.query"), hidden, hidden)?,
                key: linear(at("attention.self.key"), hidden, hidden)?,
                value: linear(at("attention.self.value"), hidden, hidden)?,
                out: linear(at("attention.output.dense"), hidden, hidden)?,
                out_norm: norm(at("attention.output.LayerNorm"))?,
                up: linear(at("intermediate.dense"), hidden, wide)?,
                down: linear(at("output.dense"), wide, hidden)?,
                down_norm: norm(at("output.LayerNorm"))?,
            })
        };
        let table = |name: &str, rows: usize| {
            weights.tensor(&format!("embeddings.{name}_embeddings.weight"), &[rows, hidden], device)
        };
        Ok(Self {
            device: device.clone(),
            heads: config.num_attention_heads,
            epsilon: config.layer_norm_eps,
            words: table("word", config.vocab_size)?,
            positions: table("position", config.max_position_embeddings)?,
            types: table("token_type", config.type_vocab_size)?,
            norm: norm("embeddings.LayerNorm".into())?,
            layers: (0..config.num_hidden_layers).map(layer).collect::<Loaded<_>>()?,
        })
    }

    /// `[sequences, longest]` ids and a mask of ones and zeros, padded at the right.
    fn pad(&self, sequences: &[&[u32]]) -> Result<(Tensor, Tensor)> {
        let shape = (sequences.len(), sequences.iter().map(|ids| ids.len()).max().unwrap_or(0));
        let mut ids = Vec::with_capacity(shape.0 * shape.1);
        let mut mask = Vec::with_capacity(shape.0 * shape.1);
        for sequence in sequences {
            for i in 0..shape.1 {
                ids.push(sequence.get(i).copied().unwrap_or(0));
                mask.push(if i < sequence.len() { 1.0f32 } else { 0.0 });
            }
        }
        Ok((Tensor::from_vec(ids, shape, &self.device)?, Tensor::from_vec(mask, shape, &self.device)?))
    }

    /// `[sequences, longest, hidden]`, and the mask `[sequences, longest]`.
    fn forward(&self, sequences: &[&[u32]]) -> Result<(Tensor, Tensor)> {
        let (ids, mask) = self.pad(sequences)?;
        let (count, longest) = ids.dims2()?;
        let words = self.words.index_select(&ids.flatten_all()?, 0)?.reshape((count, longest, ()))?;
        let places = self.positions.narrow(0, 0, longest)?.broadcast_add(&self.types.narrow(0, 0, 1)?)?;
        let mut x = self.norm.apply(&words.broadcast_add(&places)?, self.epsilon)?;
        // 0 for tokens and a very small number for padding, added to the scores of every head and query.
        let masked = ((mask.clone() - 1.0)? * 1e9)?.reshape((count, 1, 1, longest))?;
        for layer in &self.layers {
            let context = layer.attend(&x, &masked, self.heads)?;
            let y = layer.out_norm.apply(&(layer.out.apply(&context)? + &x)?, self.epsilon)?;
            let wide = layer.up.apply(&y)?.gelu_erf()?;
            x = layer.down_norm.apply(&(layer.down.apply(&wide)? + &y)?, self.epsilon)?;
        }
        Ok((x, mask))
    }

    fn pool(x: &Tensor, mask: &Tensor) -> Result<Vec<f32>> {
        let mask = mask.unsqueeze(2)?;
        let mean = x.broadcast_mul(&mask)?.sum(1)?.broadcast_div(&mask.sum(1)?)?;
        let norm = mean.sqr()?.sum_keepdim(1)?.sqrt()?.maximum(1e-12)?;
        mean.broadcast_div(&norm)?.flatten_all()?.to_vec1()
    }
}

impl Norm {
    fn apply(&self, x: &Tensor, epsilon: f64) -> Result<Tensor> {
        let off = x.broadcast_sub(&x.mean_keepdim(D::Minus1)?)?;
        let spread = (off.sqr()?.mean_keepdim(D::Minus1)? + epsilon)?.sqrt()?;
        off.broadcast_div(&spread)?.broadcast_mul(&self.gain)?.broadcast_add(&self.shift)
    }
}

impl Linear {
    fn apply(&self, x: &Tensor) -> Result<Tensor> {
        let (count, length, inputs) = x.dims3()?;
        let rows = x.reshape((count * length, inputs))?.matmul(&self.weight)?;
        rows.broadcast_add(&self.bias)?.reshape((count, length, ()))
    }
}

impl Layer {
    fn attend(&self, x: &Tensor, masked: &Tensor, heads: usize) -> Result<Tensor> {
        let (count, length, hidden) = x.dims3()?;
        let split = |part: &Linear| part.apply(x)?.reshape((count, length, heads, ()))?.transpose(1, 2)?.contiguous();
        let (query, key, value) = (split(&self.query)?, split(&self.key)?, split(&self.value)?);
        let scale = ((hidden / heads) as f64).sqrt();
        let scores = (query.matmul(&key.t()?.contiguous()?)? / scale)?.broadcast_add(masked)?;
        let shares = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?)?.exp()?;
        let shares = shares.broadcast_div(&shares.sum_keepdim(D::Minus1)?)?;
        shares.matmul(&value)?.transpose(1, 2)?.reshape((count, length, hidden))
    }
}

impl Embed for Plain {
    fn embed(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        let (x, mask) = self.forward(sequences)?;
        Self::pool(&x, &mask)
    }

    fn hidden(&self, sequences: &[&[u32]]) -> Result<Vec<f32>> {
        let (x, _) = self.forward(sequences)?;
        let mut rows = Vec::new();
        for (i, ids) in sequences.iter().enumerate() {
            rows.extend(x.get(i)?.narrow(0, 0, ids.len())?.flatten_all()?.to_vec1::<f32>()?);
        }
        Ok(rows)
    }

    fn batch_tokens(&self) -> usize {
        if self.device.is_cpu() { 2_048 } else { BATCH_TOKENS }
    }

    fn parallel(&self) -> bool {
        false
    }
}
