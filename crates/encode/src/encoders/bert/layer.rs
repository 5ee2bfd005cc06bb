use std::ops::Range;

use crate::encoders::config::Config;
use crate::encoders::weights::Tensors;
use crate::kernels::{layer_norm, layer_norm_gradient};
use crate::models::ModelError;

/// A layer whose fully connected layers are of the kind `P`.
pub(super) struct Layer<P> {
    /// Queries, keys and values in one product.
    pub(super) qkv: P,
    pub(super) out: P,
    pub(super) out_norm: Norm,
    pub(super) up: P,
    pub(super) down: P,
    pub(super) down_norm: Norm,
}

impl<P> Layer<P> {
    /// Reads layer `i`. `product` makes one of the matrices of these names, whose outputs lie side by side: names, inputs and outputs of each.
    pub(super) fn read(
        config: &Config,
        weights: &dyn Tensors,
        i: usize,
        product: impl Fn(&[String], usize, usize) -> Result<P, ModelError>,
    ) -> Result<Self, ModelError> {
        let (hidden, wide) = (config.hidden_size, config.intermediate_size);
        let at = |part: &str| format!("encoder.layer.{i}.{part}");
        let norm = |part: &str| Norm::read(&at(part), weights, hidden);
        let qkv = ["query", "key", "value"].map(|part| at(&format!("attention.self.{part}")));
        Ok(Self {
            qkv: product(&qkv, hidden, hidden)?,
            out: product(&[at("attention.output.dense")], hidden, hidden)?,
            out_norm: norm("attention.output.LayerNorm")?,
            up: product(&[at("intermediate.dense")], hidden, wide)?,
            down: product(&[at("output.dense")], wide, hidden)?,
            down_norm: norm("output.LayerNorm")?,
        })
    }
}

/// A layer normalisation.
pub(super) struct Norm {
    gain: Vec<f32>,
    shift: Vec<f32>,
}

impl Norm {
    pub(super) fn read(name: &str, weights: &dyn Tensors, width: usize) -> Result<Self, ModelError> {
        let part = |part: &str| weights.numbers(&format!("{name}.{part}"), &[width]);
        Ok(Self { gain: part("weight")?, shift: part("bias")? })
    }

    /// As [`layer_norm`].
    pub(super) fn apply(&self, rows: &mut [f32], epsilon: f32) {
        layer_norm(rows, &self.gain, &self.shift, epsilon);
    }

    /// As [`layer_norm_gradient`].
    pub(super) fn gradient(&self, x: &[f32], epsilon: f32, d: &mut [f32]) {
        layer_norm_gradient(x, &self.gain, epsilon, d);
    }
}

/// Where the rows of sequences are that lie one after the other.
pub(super) fn ranges(sequences: &[&[u32]]) -> Vec<Range<usize>> {
    let mut end = 0;
    let next = |ids: &&[u32]| {
        let start = end;
        end += ids.len();
        start..end
    };
    sequences.iter().map(next).collect()
}
