use candle_core::{D, Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;
use serde::{Deserialize, Serialize};

use crate::rows::NUMBERS;
use crate::sequence::{BiLstm, GapHead, Linear, Parameter};

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
    head: GapHead,
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
        list.extend(GapHead::parameters("head", sizes.head_input(), sizes.head));
        list
    }

    pub(crate) fn new(from: &dyn Tensors, sizes: &Sizes, device: &Device) -> std::result::Result<Self, ModelError> {
        let layer = |at| BiLstm::new(from, &format!("lstm.{at}"), sizes.layer_input(at), sizes.hidden, device);
        Ok(Self {
            sizes: *sizes,
            projection: Linear::new(from, "projection", sizes.input + NUMBERS, sizes.projection, device)?,
            layers: (0..sizes.layers).map(layer).collect::<std::result::Result<_, _>>()?,
            head: GapHead::new(from, "head", sizes.head_input(), sizes.head, device)?,
        })
    }

    /// The log-odds of a boundary behind each row: `[documents, time, input + NUMBERS]` becomes `[documents, time]`; the last
    /// one of a document, and those beyond its length, mean nothing.
    pub(crate) fn forward(&self, rows: &Tensor, lengths: &[usize], drop: Drop<'_>) -> Result<Tensor> {
        let projection = self.sizes.projection;
        let (documents, time, width) = rows.dims3()?;
        let projected = self.projection.forward(&rows.reshape((documents * time, width))?)?.tanh()?;
        let projected = drop(projected.reshape((documents, time, projection))?)?;
        let mut states = projected.clone();
        for layer in &self.layers {
            states = drop(layer.forward(&states, lengths)?)?;
        }
        // Beside the state its row as projected, so that what is known of the gap needs no way through the LSTM.
        self.head.forward(&Tensor::cat(&[&states, &projected], D::Minus1)?)
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
