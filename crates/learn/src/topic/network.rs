use candle_core::{D, Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;
use serde::{Deserialize, Serialize};

use super::inputs::NUMBERS;
use crate::sequence::{BiLstm, Init, Parameter};

/// The sizes of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sizes {
    /// Numbers of a sentence vector.
    pub input: usize,
    /// Numbers that a row is projected to.
    pub projection: usize,
    /// Units of each direction of each LSTM layer.
    pub hidden: usize,
    /// Layers of the LSTM.
    pub layers: usize,
    /// Units of the boundary head.
    pub head: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        Self { input: 384, projection: 256, hidden: 192, layers: 2, head: 128 }
    }
}

/// The sequence model: a projection of each row, layers of a bidirectional LSTM, and a head that reads the states on both sides of
/// a gap and what is known of the gap itself.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    sizes: Sizes,
    projection: Linear,
    layers: Vec<BiLstm>,
    left: Linear,
    right: Linear,
    output: Linear,
}

/// Leaves numbers of `[documents, time, numbers]` out in training; gives them as they are at other times.
pub(crate) type Drop<'a> = &'a mut dyn FnMut(Tensor) -> Result<Tensor>;

impl Network {
    /// The parameters, as they are before training.
    pub(crate) fn parameters(sizes: &Sizes) -> Vec<Parameter> {
        let mut list = Linear::parameters("projection", sizes.input + NUMBERS, sizes.projection);
        for layer in 0..sizes.layers {
            list.extend(BiLstm::parameters(&format!("lstm.{layer}"), sizes.layer_input(layer), sizes.hidden));
        }
        list.extend(Linear::parameters("head.left", sizes.head_input(), sizes.head));
        list.extend(Linear::parameters("head.right", sizes.head_input(), sizes.head));
        list.extend(Linear::parameters("head.output", sizes.head, 1));
        list
    }

    pub(crate) fn new(from: &dyn Tensors, sizes: &Sizes, device: &Device) -> std::result::Result<Self, ModelError> {
        let linear = |name: &str, input, output| Linear::new(from, name, input, output, device);
        let layer = |at| BiLstm::new(from, &format!("lstm.{at}"), sizes.layer_input(at), sizes.hidden, device);
        Ok(Self {
            sizes: *sizes,
            projection: linear("projection", sizes.input + NUMBERS, sizes.projection)?,
            layers: (0..sizes.layers).map(layer).collect::<std::result::Result<_, _>>()?,
            left: linear("head.left", sizes.head_input(), sizes.head)?,
            right: linear("head.right", sizes.head_input(), sizes.head)?,
            output: linear("head.output", sizes.head, 1)?,
        })
    }

    /// The log-odds of a boundary behind each row: `[documents, time, input + NUMBERS]` becomes `[documents, time]`; the last
    /// one of a document, and those beyond its length, mean nothing.
    pub(crate) fn forward(&self, rows: &Tensor, lengths: &[usize], drop: Drop<'_>) -> Result<Tensor> {
        let Sizes { projection, head, .. } = self.sizes;
        let (documents, time, width) = rows.dims3()?;
        let projected = self.projection.forward(&rows.reshape((documents * time, width))?)?.tanh()?;
        let projected = drop(projected.reshape((documents, time, projection))?)?;
        let mut states = projected.clone();
        for layer in &self.layers {
            states = drop(layer.forward(&states, lengths)?)?;
        }
        // Beside the state its row as projected, so that what is known of the gap needs no way through the LSTM.
        let all =
            Tensor::cat(&[&states, &projected], D::Minus1)?.reshape((documents * time, self.sizes.head_input()))?;
        let left = self.left.forward(&all)?.reshape((documents, time, head))?;
        let right = self.right.forward(&all)?.reshape((documents, time, head))?;
        let next = match time {
            0 | 1 => right,
            _ => Tensor::cat(&[right.narrow(1, 1, time - 1)?, right.narrow(1, time - 1, 1)?], 1)?,
        };
        let both = (left + next)?.relu()?.reshape((documents * time, head))?;
        self.output.forward(&both)?.reshape((documents, time))
    }
}

impl Sizes {
    fn layer_input(&self, layer: usize) -> usize {
        if layer == 0 { self.projection } else { 2 * self.hidden }
    }

    fn head_input(&self) -> usize {
        2 * self.hidden + self.projection
    }
}

/// An affine map.
#[derive(Debug, Clone)]
struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    fn parameters(prefix: &str, input: usize, output: usize) -> Vec<Parameter> {
        let init = Init::Uniform(1.0 / (input.max(1) as f32).sqrt());
        vec![
            Parameter::new(format!("{prefix}.weight"), &[output, input], init),
            Parameter::new(format!("{prefix}.bias"), &[output], Init::Constant(0.0)),
        ]
    }

    fn new(
        from: &dyn Tensors,
        prefix: &str,
        input: usize,
        output: usize,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        Ok(Self {
            weight: from.tensor(&format!("{prefix}.weight"), &[output, input], device)?,
            bias: from.tensor(&format!("{prefix}.bias"), &[output], device)?,
        })
    }

    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(&self.weight.t()?)?.broadcast_add(&self.bias)
    }
}
