use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use candle_core::{Device, Tensor};
use rayon::prelude::*;

use super::layer::{Layer, ranges};
use super::packed::Packed;
use super::product::{Matrix, Product};
use crate::encoders::config::{Config, Kind};
use crate::encoders::embed::Embed;
use crate::encoders::weights::Tensors;
use crate::kernels::{
    Aligned, AttendGradientScratch, AttendScratch, Attention, Finish, OUTER_COLUMNS, Precision, Reach, attend,
    attend_gradient, gelu_all, gelu_gradient, padded_rows,
};
use crate::models::ModelError;

/// BERT or RoBERTa on a CPU with [low-rank changes](crate::encoders::low_rank) of the matrices of its upper layers, and the gradients of
/// these changes: the fused kernels of [`Packed`] forwards, and their like backwards.
///
/// A matrix and its change are one matrix for a step, so that neither way costs more than it does without. The gradient by the sum is
/// never worked out: those of B and A need its products with A and B alone.
pub struct Tuned {
    config: Config,
    attention: Attention,
    lower: Packed,
    layers: Vec<Layer<Product>>,
}

/// What a pass forwards leaves for the pass backwards.
pub struct Tape {
    ranges: Vec<Range<usize>>,
    /// The last hidden states.
    rows: Aligned,
    layers: Vec<Kept>,
}

/// What is kept of a layer: what its products and norms were applied to, a row a token.
struct Kept {
    x: Aligned,
    qkv: Aligned,
    context: Aligned,
    /// Before the norm behind attention.
    attended: Aligned,
    /// Before GELU.
    wide: Aligned,
    /// Before the last norm.
    fed: Aligned,
}

impl Tape {
    /// The last hidden states, `[tokens, hidden]`, the sequences one after the other.
    #[must_use]
    pub fn rows(&self) -> &[f32] {
        &self.rows
    }
}

impl Tuned {
    /// True where the kernels can work with these shapes.
    #[must_use]
    pub fn fits(config: &Config) -> bool {
        let sizes = [config.hidden_size, config.intermediate_size];
        let sums = sizes.iter().all(|size| size.is_multiple_of(OUTER_COLUMNS));
        matches!(config.kind(), Kind::Bert | Kind::Roberta) && Packed::fits(config) && sums
    }

    /// A model that [fits](Self::fits), whose layers from `first` on are changed. It is as `weights` until changes are [set](Self::set).
    ///
    /// # Errors
    /// [`ModelError::Unusable`], naming the tensor.
    pub fn new(config: &Config, weights: &dyn Tensors, first: usize, precision: Precision) -> Result<Self, ModelError> {
        let mut lower = config.clone();
        lower.num_hidden_layers = first.min(config.num_hidden_layers);
        let product = |names: &[String], inputs: usize, outputs: usize| -> Result<Product, ModelError> {
            let matrix = |name: &String| Matrix::read(name, weights, inputs, outputs);
            Ok(Product::new(names.iter().map(matrix).collect::<Result<_, _>>()?, precision))
        };
        Ok(Self {
            attention: Packed::attention(config),
            lower: Packed::new(&lower, weights, precision)?,
            layers: (lower.num_hidden_layers..config.num_hidden_layers)
                .map(|i| Layer::read(config, weights, i, product))
                .collect::<Result<_, _>>()?,
            config: config.clone(),
        })
    }

    /// Puts changes in the place of those before: tensors by their names, A `[rank, inputs]` and B `[outputs, rank]`. Others are passed
    /// over.
    ///
    /// # Errors
    /// Where A or B is missing or of another shape; matrices before it then have their new changes, and others the old ones.
    pub fn set(&mut self, changes: &HashMap<String, Tensor>) -> candle_core::Result<()> {
        let products = self.layers.iter_mut().flat_map(|layer| {
            let Layer { qkv, out, up, down, .. } = layer;
            [qkv, out, up, down]
        });
        products.collect::<Vec<_>>().into_par_iter().try_for_each(|product| product.set(changes))
    }

    /// Runs sequences, on one thread.
    ///
    /// # Errors
    /// For sequences that are empty or too long, and for ids that the model does not have.
    pub fn forward(&self, sequences: &[&[u32]]) -> candle_core::Result<Tape> {
        let Config { hidden_size: hidden, intermediate_size: intermediate, .. } = self.config;
        let ranges = ranges(sequences);
        let tokens = ranges.last().map_or(0, |range| range.end);
        let rows = padded_rows(tokens);
        let of = |width: usize| Aligned::zeros(rows * width);
        let mut x = of(hidden);
        x[..tokens * hidden].copy_from_slice(&self.lower.hidden(sequences)?);
        let epsilon = self.config.layer_norm_eps as f32;
        let mut scratch = AttendScratch::default();
        let (mut normed, mut gelu) = (of(hidden), of(intermediate));
        let mut layers = Vec::with_capacity(self.layers.len());
        for layer in &self.layers {
            let (mut qkv, mut context, mut attended) = (of(3 * hidden), of(hidden), of(hidden));
            let (mut wide, mut fed) = (of(intermediate), of(hidden));
            layer.qkv.apply(tokens, &x, Finish::Bias, &mut qkv);
            attend((self.attention, Reach::All), &ranges, &qkv, None, &mut scratch, &mut context);
            layer.out.apply(tokens, &context, Finish::Add(&x), &mut attended);
            normed.copy_from_slice(&attended);
            // Rows of padding too, so that they stay finite through any number of layers: attention's gradient multiplies them by 0.
            layer.out_norm.apply(&mut normed, epsilon);
            layer.up.apply(tokens, &normed, Finish::Bias, &mut wide);
            gelu_all(&wide, &mut gelu);
            layer.down.apply(tokens, &gelu, Finish::Add(&normed), &mut fed);
            let mut next = of(hidden);
            next.copy_from_slice(&fed);
            layer.down_norm.apply(&mut next, epsilon);
            let x = std::mem::replace(&mut x, next);
            layers.push(Kept { x, qkv, context, attended, wide, fed });
        }
        let mut last = Aligned::zeros(tokens * hidden);
        last.copy_from_slice(&x[..tokens * hidden]);
        Ok(Tape { ranges, rows: last, layers })
    }

    /// The gradients of all changes by their tensors' names, where `d` is the gradient by the [rows](Tape::rows) of a tape. On one thread.
    ///
    /// # Errors
    /// Where candle fails.
    ///
    /// # Panics
    /// Where `d` has not as many numbers as the rows.
    pub fn backward(&self, tape: Tape, d: &[f32]) -> candle_core::Result<BTreeMap<String, Tensor>> {
        let Config { hidden_size: hidden, intermediate_size: intermediate, .. } = self.config;
        let Tape { ranges, rows, layers } = tape;
        assert_eq!(d.len(), rows.len(), "another number of rows");
        let (tokens, epsilon) = (ranges.last().map_or(0, |range| range.end), self.config.layer_norm_eps as f32);
        let own = tokens * hidden;
        let of = |width: usize| Aligned::zeros(padded_rows(tokens) * width);
        // Gradients by what stands behind a norm, before it, and by the results of the products.
        let (mut d_after, mut d_before, mut d_context) = (of(hidden), of(hidden), of(hidden));
        let (mut d_wide, mut d_qkv) = (of(intermediate), of(3 * hidden));
        d_after[..own].copy_from_slice(d);
        let mut scratch = AttendGradientScratch::default();
        let mut found = BTreeMap::new();
        for (i, (layer, kept)) in self.layers.iter().zip(layers).enumerate().rev() {
            let Kept { x, qkv, context, mut attended, mut wide, fed } = kept;
            layer.down_norm.gradient(&fed[..own], epsilon, &mut d_after[..own]);
            layer.down.back(tokens, &d_after, None, &mut d_wide);
            gelu_gradient(&mut wide, &mut d_wide);
            layer.down.gradients(tokens, &wide, &d_after, &mut found)?;
            layer.up.back(tokens, &d_wide, Some(&d_after), &mut d_before);
            layer.out_norm.gradient(&attended[..own], epsilon, &mut d_before[..own]);
            layer.out_norm.apply(&mut attended[..own], epsilon);
            layer.up.gradients(tokens, &attended, &d_wide, &mut found)?;
            layer.out.gradients(tokens, &context, &d_before, &mut found)?;
            layer.out.back(tokens, &d_before, None, &mut d_context);
            attend_gradient(self.attention, &ranges, &qkv, (&context, &d_context), &mut scratch, &mut d_qkv);
            layer.qkv.gradients(tokens, &x, &d_qkv, &mut found)?;
            if i > 0 {
                layer.qkv.back(tokens, &d_qkv, Some(&d_before), &mut d_after);
            }
        }
        let tensor = |(name, (numbers, shape)): (String, (Vec<f32>, [usize; 2]))| {
            Ok((name, Tensor::from_vec(numbers, &shape, &Device::Cpu)?))
        };
        found.into_iter().map(tensor).collect()
    }
}
