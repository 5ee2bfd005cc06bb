use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use super::Model;
use super::ops::{Linear, Norm, Parts, Rotation, attend};
use crate::encoders::rotary::settings;
use crate::encoders::weights::Tensors;
use crate::kernels::Reach;
use crate::models::ModelError;

/// Qwen3 without its last product: a token sees those before it, and heads of queries share heads of keys.
pub(in crate::encoders::rotary) struct Qwen3 {
    words: Tensor,
    layers: Vec<Layer>,
    last_norm: Norm,
    heads: usize,
    groups: usize,
    head: usize,
    base: f64,
}

struct Layer {
    norm: Norm,
    query: Linear,
    key: Linear,
    value: Linear,
    /// Over a head's numbers.
    query_norm: Norm,
    key_norm: Norm,
    out: Linear,
    feed_norm: Norm,
    gate: Linear,
    up: Linear,
    down: Linear,
}

impl Qwen3 {
    pub(in crate::encoders::rotary) fn new(
        settings: &settings::Qwen3,
        weights: &dyn Tensors,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        let (hidden, wide, epsilon) = (settings.hidden_size, settings.intermediate_size, settings.rms_norm_eps);
        let (heads, groups, head) = (settings.num_attention_heads, settings.num_key_value_heads, settings.head_dim);
        let parts = Parts { weights, device };
        let layer = |i: usize| -> std::result::Result<Layer, ModelError> {
            let at = |part: &str| format!("layers.{i}.{part}.weight");
            let linear = |part: &str, inputs, outputs| parts.linear(&at(part), inputs, outputs);
            let norm = |part: &str, size| parts.rms_norm(&at(part), size, epsilon);
            Ok(Layer {
                norm: norm("input_layernorm", hidden)?,
                query: linear("self_attn.q_proj", hidden, heads * head)?,
                key: linear("self_attn.k_proj", hidden, groups * head)?,
                value: linear("self_attn.v_proj", hidden, groups * head)?,
                query_norm: norm("self_attn.q_norm", head)?,
                key_norm: norm("self_attn.k_norm", head)?,
                out: linear("self_attn.o_proj", heads * head, hidden)?,
                feed_norm: norm("post_attention_layernorm", hidden)?,
                gate: linear("mlp.gate_proj", hidden, wide)?,
                up: linear("mlp.up_proj", hidden, wide)?,
                down: linear("mlp.down_proj", wide, hidden)?,
            })
        };
        Ok(Self {
            words: parts.table("embed_tokens.weight", settings.vocab_size, hidden)?,
            layers: (0..settings.num_hidden_layers).map(layer).collect::<std::result::Result<_, _>>()?,
            last_norm: parts.rms_norm("norm.weight", hidden, epsilon)?,
            heads,
            groups,
            head,
            base: settings.base().unwrap_or_default(),
        })
    }
}

impl Model for Qwen3 {
    fn run(&self, ids: &Tensor, sequences: &[Range<usize>]) -> Result<Tensor> {
        let tokens = ids.dim(0)?;
        let rotation = Rotation::new(sequences, self.head, self.base, ids.device())?;
        let mut x = self.words.index_select(ids, 0)?;
        for layer in &self.layers {
            let input = layer.norm.apply(&x)?;
            let split = |rows: Tensor, heads: usize| rows.reshape((tokens, heads, self.head));
            let query = layer.query_norm.apply(&split(layer.query.apply(&input)?, self.heads)?)?;
            let key = layer.key_norm.apply(&split(layer.key.apply(&input)?, self.groups)?)?;
            let value = split(layer.value.apply(&input)?, self.groups)?;
            let (query, key) = (rotation.apply(&query)?, rotation.apply(&key)?);
            let context = attend((&query, &key, &value), sequences, Reach::Before)?;
            x = (x + layer.out.apply(&context)?)?;
            let input = layer.feed_norm.apply(&x)?;
            let fed = (layer.gate.apply(&input)?.silu()? * layer.up.apply(&input)?)?;
            x = (x + layer.down.apply(&fed)?)?;
        }
        self.last_norm.apply(&x)
    }
}
