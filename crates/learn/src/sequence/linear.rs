use candle_core::{Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;

use super::parameters::{Init, Parameter};

/// An affine map. Its tensors are `weight` (`[output, input]`) and `bias` (`[output]`), with a prefix.
#[derive(Debug, Clone)]
pub struct Linear {
    weight: Tensor,
    bias: Tensor,
}

impl Linear {
    /// The parameters of a map: weights uniformly distributed within 1 / sqrt(input), a bias of zero.
    #[must_use]
    pub fn parameters(prefix: &str, input: usize, output: usize) -> Vec<Parameter> {
        let init = Init::Uniform(1.0 / (input.max(1) as f32).sqrt());
        vec![
            Parameter::new(format!("{prefix}.weight"), &[output, input], init),
            Parameter::new(format!("{prefix}.bias"), &[output], Init::Constant(0.0)),
        ]
    }

    /// The map of that prefix.
    ///
    /// # Errors
    /// [`ModelError`] where a tensor is missing or of another shape.
    pub fn new(
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

    /// `[rows, input]` becomes `[rows, output]`.
    ///
    /// # Errors
    /// Where candle fails.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(&self.weight.t()?)?.broadcast_add(&self.bias)
    }
}
