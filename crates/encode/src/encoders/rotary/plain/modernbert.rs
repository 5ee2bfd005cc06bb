use std::ops::Range;

use candle_core::{Device, Result, Tensor};

use super::Model;
use super::ops::{Linear, Norm, Parts, Rotation, attend_joined};
use crate::encoders::rotary::settings;
use crate::encoders::weights::Tensors;
use crate::kernels::Reach;
use crate::models::ModelError;

/// ModernBERT: most layers see a window around a token, every third one all of the text.
pub(in crate::encoders::rotary) struct ModernBert {
    words: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    last_norm: Norm,
    heads: usize,
    head: usize,
    bases: (f64, f64),
}

struct Layer {
    /// None in the first layer, whose input is normalised already.
    norm: Option<Norm>,
    qkv: Linear,
    out: Linear,
    feed_norm: Norm,
    /// The input of the activation, and the gate, in one product.
    up: Linear,
    down: Linear,
    reach: Reach,
}

impl ModernBert {
    pub(in crate::encoders::rotary) fn new(
        settings: &settings::ModernBert,
        weights: &dyn Tensors,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        let (hidden, wide, epsilon) = (settings.hidden_size, settings.intermediate_size, settings.norm_eps);
        let parts = Parts { weights, device };
        let norm = |name: &str| parts.layer_norm(&format!("{name}.weight"), hidden, epsilon);
        let layer = |i: usize| -> std::result::Result<Layer, ModelError> {
            let at = |part: &str| format!("layers.{i}.{part}");
            let linear = |part: &str, inputs, outputs| parts.linear(&format!("{}.weight", at(part)), inputs, outputs);
            Ok(Layer {
                norm: if i == 0 { None } else { Some(norm(&at("attn_norm"))?) },
                qkv: linear("attn.Wqkv", hidden, 3 * hidden)?,
                out: linear("attn.Wo", hidden, hidden)?,
                feed_norm: norm(&at("mlp_norm"))?,
                up: linear("mlp.Wi", hidden, 2 * wide)?,
                down: linear("mlp.Wo", wide, hidden)?,
                reach: settings.reach(i).map_or(Reach::All, Reach::Around),
            })
        };
        Ok(Self {
            words: parts.table("embeddings.tok_embeddings.weight", settings.vocab_size, hidden)?,
            norm: norm("embeddings.norm")?,
            layers: (0..settings.num_hidden_layers).map(layer).collect::<std::result::Result<_, _>>()?,
            last_norm: norm("final_norm")?,
            heads: settings.num_attention_heads,
            head: hidden / settings.num_attention_heads,
            bases: settings.bases(),
        })
    }
}

impl Model for ModernBert {
    fn run(&self, ids: &Tensor, sequences: &[Range<usize>]) -> Result<Tensor> {
        let device = ids.device();
        let of_all = Rotation::new(sequences, self.head, self.bases.0, device)?;
        let of_some = Rotation::new(sequences, self.head, self.bases.1, device)?;
        let mut x = self.norm.apply(&self.words.index_select(ids, 0)?)?;
        for layer in &self.layers {
            let rotation = if layer.reach == Reach::All { &of_all } else { &of_some };
            let input = match &layer.norm {
                Some(norm) => norm.apply(&x)?,
                None => x.clone(),
            };
            let sizes = (self.heads, self.head);
            let context = attend_joined(&layer.qkv.apply(&input)?, sizes, rotation, sequences, layer.reach)?;
            x = (x + layer.out.apply(&context)?)?;
            let wide = layer.up.apply(&layer.feed_norm.apply(&x)?)?;
            let half = wide.dim(1)? / 2;
            let fed = (wide.narrow(1, 0, half)?.contiguous()?.gelu_erf()? * wide.narrow(1, half, half)?)?;
            x = (x + layer.down.apply(&fed)?)?;
        }
        self.last_norm.apply(&x)
    }
}
