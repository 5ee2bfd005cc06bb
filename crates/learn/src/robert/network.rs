use candle_core::{Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;

use super::Robert;
use crate::sequence::{Linear, Lstm, Parameter};

/// The layers: LSTM, its last state through a layer with ReLU, and one number a class.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    lstm: Lstm,
    head: Linear,
    output: Linear,
}

impl Network {
    /// The parameters, as they are before training.
    pub(crate) fn parameters(sizes: &Robert, dimension: usize, classes: usize) -> Vec<Parameter> {
        let mut list = Lstm::parameters("lstm", dimension, sizes.hidden);
        list.extend(Linear::parameters("head", sizes.hidden, sizes.head));
        list.extend(Linear::parameters("output", sizes.head, classes));
        list
    }

    pub(crate) fn new(
        from: &dyn Tensors,
        sizes: &Robert,
        dimension: usize,
        classes: usize,
    ) -> std::result::Result<Self, ModelError> {
        let device = Device::Cpu;
        Ok(Self {
            lstm: Lstm::new(from, "lstm", dimension, sizes.hidden, &device)?,
            head: Linear::new(from, "head", sizes.hidden, sizes.head, &device)?,
            output: Linear::new(from, "output", sizes.head, classes, &device)?,
        })
    }

    /// The log-odds of the classes, up to a constant: `[documents, time, dimension]` becomes `[documents, classes]`.
    pub(crate) fn forward(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let state = self.lstm.last(x, lengths)?;
        self.output.forward(&self.head.forward(&state)?.relu()?)
    }
}
