//! The decoder that Qwen2, Qwen3 and Llama share, from quantised weights.
//!
//! The three differ in little: Qwen2 adds biases to queries, keys and values, Qwen3 normalises queries and keys of each
//! head, and Llama rotates neighbouring numbers where the others rotate halves, by frequencies that its later versions
//! stretch (`rope_freqs.weight`).

use std::io::{Read, Seek};

use candle_core::quantized::{QMatMul, gguf_file};
use candle_core::{D, Device, Module, Result, Tensor, bail};
use candle_nn::kv_cache::KvCache;
use candle_nn::ops::{rms_norm, silu, softmax_last_dim};
use candle_nn::rotary_emb::{rope, rope_i};

/// Longest context that is made ready, in tokens: a file may promise more than memory holds.
const MAX_CONTEXT: usize = 131_072;
/// Keys and values grow by so many places.
const GROW: usize = 512;

pub(super) struct Decoder {
    embeddings: Tensor,
    layers: Vec<Layer>,
    norm: Tensor,
    output: QMatMul,
    cos: Tensor,
    sin: Tensor,
    shape: Shape,
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    heads: usize,
    kv_heads: usize,
    head: usize,
    context: usize,
    epsilon: f32,
    /// Rotates halves (Qwen), not neighbours (Llama).
    halves: bool,
}

struct Layer {
    attention_norm: Tensor,
    query: Linear,
    key: Linear,
    value: Linear,
    out: QMatMul,
    query_norm: Option<Tensor>,
    key_norm: Option<Tensor>,
    feed_norm: Tensor,
    gate: QMatMul,
    up: QMatMul,
    down: QMatMul,
}

struct Linear {
    weight: QMatMul,
    bias: Option<Tensor>,
}

/// Keys and values of what has been read.
pub(super) struct Cache {
    layers: Vec<KvCache>,
    read: usize,
}

/// A file and the device that its tensors go to.
struct Source<'a, R> {
    content: &'a gguf_file::Content,
    file: &'a mut R,
    device: &'a Device,
}

impl<R: Read + Seek> Source<'_, R> {
    fn product(&mut self, name: &str) -> Result<QMatMul> {
        QMatMul::from_qtensor(self.content.tensor(self.file, name, self.device)?)
    }

    fn tensor(&mut self, name: &str) -> Result<Tensor> {
        self.content.tensor(self.file, name, self.device)?.dequantize(self.device)
    }

    fn optional(&mut self, name: &str) -> Result<Option<Tensor>> {
        self.content.tensor_infos.contains_key(name).then(|| self.tensor(name)).transpose()
    }

    fn linear(&mut self, name: &str) -> Result<Linear> {
        Ok(Linear { weight: self.product(&format!("{name}.weight"))?, bias: self.optional(&format!("{name}.bias"))? })
    }
}

impl Decoder {
    pub(super) fn load<R: Read + Seek>(
        content: &gguf_file::Content,
        file: &mut R,
        architecture: &str,
        device: &Device,
    ) -> Result<Self> {
        if !matches!(architecture, "llama" | "qwen2" | "qwen3") {
            bail!("the architecture is '{architecture}'; known: llama, qwen2, qwen3");
        }
        let key = |name: &str| content.metadata.get(&format!("{architecture}.{name}"));
        let number = |name: &str| match key(name).and_then(|value| value.to_u32().ok()) {
            Some(n) if n > 0 => Ok(n as usize),
            _ => bail!("the metadata has no {architecture}.{name}"),
        };
        if key("expert_count").and_then(|value| value.to_u32().ok()).is_some_and(|experts| experts > 1) {
            bail!("mixtures of experts are not supported");
        }
        if key("rope.scaling.type").and_then(|v| v.to_string().ok()).is_some_and(|kind| kind != "none") {
            bail!("rope.scaling is not supported");
        }
        let heads = number("attention.head_count")?;
        let width = number("embedding_length")?;
        let head = number("attention.key_length").unwrap_or(width / heads);
        let epsilon = match key("attention.layer_norm_rms_epsilon").and_then(|value| value.to_f32().ok()) {
            Some(epsilon) => epsilon,
            None => bail!("the metadata has no {architecture}.attention.layer_norm_rms_epsilon"),
        };
        let shape = Shape {
            heads,
            kv_heads: number("attention.head_count_kv").unwrap_or(heads),
            head,
            context: number("context_length")?.min(MAX_CONTEXT),
            epsilon,
            halves: architecture != "llama",
        };
        if !shape.heads.is_multiple_of(shape.kv_heads) || !head.is_multiple_of(2) {
            bail!("{} heads of {head} numbers share {} keys", shape.heads, shape.kv_heads);
        }
        if number("rope.dimension_count").is_ok_and(|turned| turned != head) {
            bail!("only a part of each head is rotated, which is not supported");
        }
        let base = key("rope.freq_base").and_then(|value| value.to_f32().ok()).unwrap_or(10_000.0);
        let mut source = Source { content, file, device };
        let stretch = source.optional("rope_freqs.weight")?;
        let (cos, sin) = rotations(shape, base, stretch.as_ref(), device)?;
        let layers = (0..number("block_count")?).map(|i| Layer::load(&mut source, i)).collect::<Result<Vec<_>>>()?;
        let embeddings = source.tensor("token_embd.weight")?;
        let tied = !content.tensor_infos.contains_key("output.weight");
        let output = source.product(if tied { "token_embd.weight" } else { "output.weight" })?;
        Ok(Self { embeddings, layers, norm: source.tensor("output_norm.weight")?, output, cos, sin, shape })
    }

    pub(super) fn context(&self) -> usize {
        self.shape.context
    }

    /// Number of tokens that the model knows.
    pub(super) fn vocabulary(&self) -> usize {
        self.embeddings.dims().first().copied().unwrap_or(0)
    }

    pub(super) fn cache(&self) -> Cache {
        let one = || KvCache::new(2, GROW.min(self.shape.context));
        Cache { layers: self.layers.iter().map(|_| one()).collect(), read: 0 }
    }

    /// Reads `ids` after what `cache` holds; with `last`, the logits of the token that follows.
    pub(super) fn forward(
        &self,
        ids: &[u32],
        cache: &mut Cache,
        last: bool,
        device: &Device,
    ) -> Result<Option<Vec<f32>>> {
        let (n, start) = (ids.len(), cache.read);
        let ids = Tensor::new(ids, device)?;
        let mut x = self.embeddings.index_select(&ids, 0)?.unsqueeze(0)?;
        let turn = (self.cos.narrow(0, start, n)?, self.sin.narrow(0, start, n)?);
        let mask = if n == 1 { None } else { Some(mask(n, start, device)?) };
        for (layer, kept) in self.layers.iter().zip(&mut cache.layers) {
            let inner = rms_norm(&x, &layer.attention_norm, self.shape.epsilon)?;
            x = (x + layer.attend(&inner, self.shape, &turn, mask.as_ref(), kept)?)?;
            let inner = rms_norm(&x, &layer.feed_norm, self.shape.epsilon)?;
            let gated = (silu(&layer.gate.forward(&inner)?)? * layer.up.forward(&inner)?)?;
            x = (x + layer.down.forward(&gated)?)?;
        }
        cache.read += n;
        if !last {
            return Ok(None);
        }
        let x = rms_norm(&x.narrow(1, n - 1, 1)?.contiguous()?, &self.norm, self.shape.epsilon)?;
        Ok(Some(self.output.forward(&x)?.flatten_all()?.to_vec1()?))
    }
}

impl Layer {
    fn load<R: Read + Seek>(source: &mut Source<'_, R>, i: usize) -> Result<Self> {
        let name = |part: &str| format!("blk.{i}.{part}");
        Ok(Self {
            attention_norm: source.tensor(&name("attn_norm.weight"))?,
            query: source.linear(&name("attn_q"))?,
            key: source.linear(&name("attn_k"))?,
            value: source.linear(&name("attn_v"))?,
            out: source.product(&name("attn_output.weight"))?,
            query_norm: source.optional(&name("attn_q_norm.weight"))?,
            key_norm: source.optional(&name("attn_k_norm.weight"))?,
            feed_norm: source.tensor(&name("ffn_norm.weight"))?,
            gate: source.product(&name("ffn_gate.weight"))?,
            up: source.product(&name("ffn_up.weight"))?,
            down: source.product(&name("ffn_down.weight"))?,
        })
    }

    fn attend(
        &self,
        x: &Tensor,
        shape: Shape,
        (cos, sin): &(Tensor, Tensor),
        mask: Option<&Tensor>,
        kept: &mut KvCache,
    ) -> Result<Tensor> {
        let (_, n, _) = x.dims3()?;
        let split = |t: Tensor, heads: usize| t.reshape((1, n, heads, shape.head))?.transpose(1, 2)?.contiguous();
        let normal = |t: Tensor, norm: &Option<Tensor>| match norm {
            Some(norm) => rms_norm(&t, norm, shape.epsilon),
            None => Ok(t),
        };
        let turn = |t: &Tensor| if shape.halves { rope(t, cos, sin) } else { rope_i(t, cos, sin) };
        let query = turn(&normal(split(self.query.forward(x)?, shape.heads)?, &self.query_norm)?)?;
        let key = turn(&normal(split(self.key.forward(x)?, shape.kv_heads)?, &self.key_norm)?)?;
        let value = split(self.value.forward(x)?, shape.kv_heads)?;
        let (keys, values) = kept.append(&key, &value)?;
        let length = keys.dim(2)?;
        // Heads that share keys stand side by side: as more rows of one product, nothing has to be copied.
        let group = shape.heads / shape.kv_heads;
        let query = (query * (shape.head as f64).powf(-0.5))?.reshape((1, shape.kv_heads, group * n, shape.head))?;
        let mut scores = query.matmul(&keys.transpose(D::Minus1, D::Minus2)?)?;
        if let Some(mask) = mask {
            scores = scores.reshape((shape.kv_heads, group, n, length))?.broadcast_add(mask)?;
            scores = scores.reshape((1, shape.kv_heads, group * n, length))?;
        }
        let mixed = softmax_last_dim(&scores)?.matmul(&values)?;
        let joined = mixed.reshape((1, shape.heads, n, shape.head))?.transpose(1, 2)?;
        self.out.forward(&joined.reshape((1, n, shape.heads * shape.head))?)
    }
}

impl Linear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let y = self.weight.forward(x)?;
        match &self.bias {
            Some(bias) => y.broadcast_add(bias),
            None => Ok(y),
        }
    }
}

/// Cosines and sines by place and frequency. `stretch` divides frequencies, one factor each.
fn rotations(shape: Shape, base: f32, stretch: Option<&Tensor>, device: &Device) -> Result<(Tensor, Tensor)> {
    let half = shape.head / 2;
    let factors = match stretch {
        Some(factors) => factors.flatten_all()?.to_vec1::<f32>()?,
        None => vec![1.0; half],
    };
    if factors.len() != half {
        bail!("rope_freqs.weight has {} numbers, expected {half}", factors.len());
    }
    let frequencies: Vec<f32> = (0_u16..)
        .step_by(2)
        .zip(&factors)
        .map(|(i, factor)| 1.0 / base.powf(f32::from(i) / shape.head as f32) / factor)
        .collect();
    let frequencies = Tensor::from_vec(frequencies, (1, half), device)?;
    let places: Vec<f32> = (0..shape.context).map(|place| place as f32).collect();
    let angles = Tensor::from_vec(places, (shape.context, 1), device)?.matmul(&frequencies)?;
    Ok((angles.cos()?, angles.sin()?))
}

/// Minus infinity where a token would see one that comes after it.
fn mask(n: usize, start: usize, device: &Device) -> Result<Tensor> {
    let rows = (0..n).flat_map(|i| (0..start + n).map(move |j| if j > start + i { f32::NEG_INFINITY } else { 0.0 }));
    Tensor::from_vec(rows.collect::<Vec<f32>>(), (1, 1, n, start + n), device)
}
