use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use super::Model;
use super::ops::{Linear, Norm, Parts, Rotation, attend_joined};
use crate::encoders::rotary::settings;
use crate::encoders::weights::Tensors;
use crate::kernels::Reach;
use crate::models::ModelError;

/// Nomic's BERT: layers that normalise what they have computed, as BERT's do, without biases.
pub(in crate::encoders::rotary) struct NomicBert {
    words: Tensor,
    /// The row of the first segment type, which every token has.
    kind: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
    head: usize,
    base: f64,
}

struct Layer {
    qkv: Linear,
    out: Linear,
    norm: Norm,
    /// The input of the activation, the gate.
    gate: Linear,
    up: Linear,
    down: Linear,
    last_norm: Norm,
}

impl NomicBert {
    pub(in crate::encoders::rotary) fn new(
        settings: &settings::NomicBert,
        weights: &dyn Tensors,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        let (hidden, wide, epsilon) = (settings.hidden_size, settings.intermediate_size, settings.layer_norm_eps);
        let parts = Parts { weights, device };
        let layer = |i: usize| -> std::result::Result<Layer, ModelError> {
            let at = |part: &str| format!("encoder.layers.{i}.{part}");
            let linear = |part: &str, inputs, outputs| parts.linear(&format!("{}.weight", at(part)), inputs, outputs);
            Ok(Layer {
                qkv: linear("attn.Wqkv", hidden, 3 * hidden)?,
                out: linear("attn.out_proj", hidden, hidden)?,
                norm: parts.shifted_norm(&at("norm1"), hidden, epsilon)?,
                gate: linear("mlp.fc12", hidden, wide)?,
                up: linear("mlp.fc11", hidden, wide)?,
                down: linear("mlp.fc2", wide, hidden)?,
                last_norm: parts.shifted_norm(&at("norm2"), hidden, epsilon)?,
            })
        };
        let types = parts.table("embeddings.token_type_embeddings.weight", settings.type_vocab_size, hidden)?;
        let first = types.narrow(0, 0, 1).map_err(|e| weights.unusable(format!("the table of segment types: {e}")))?;
        Ok(Self {
            words: parts.table("embeddings.word_embeddings.weight", settings.vocab_size, hidden)?,
            kind: first,
            norm: parts.shifted_norm("emb_ln", hidden, epsilon)?,
            layers: (0..settings.num_hidden_layers).map(layer).collect::<std::result::Result<_, _>>()?,
            heads: settings.num_attention_heads,
            head: hidden / settings.num_attention_heads,
            base: settings.base,
        })
    }
}

impl Model for NomicBert {
    fn run(&self, ids: &Tensor, sequences: &[Range<usize>]) -> Result<Tensor> {
        let rotation = Rotation::new(sequences, self.head, self.base, ids.device())?;
        let mut x = self.norm.apply(&self.words.index_select(ids, 0)?.broadcast_add(&self.kind)?)?;
        for layer in &self.layers {
            let sizes = (self.heads, self.head);
            let context = attend_joined(&layer.qkv.apply(&x)?, sizes, &rotation, sequences, Reach::All)?;
            x = layer.norm.apply(&(x + layer.out.apply(&context)?)?)?;
            let fed = (layer.gate.apply(&x)?.silu()? * layer.up.apply(&x)?)?;
            x = layer.last_norm.apply(&(x + layer.down.apply(&fed)?)?)?;
        }
        Ok(x)
    }
}
