use candle_core::{Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;

use super::linear::Linear;
use super::parameters::Parameter;

/// A head that reads what is known on both sides of a gap between two sentences, and says how likely a boundary is there.
///
/// Its tensors are `left`, `right` and `output`, each with `weight` and `bias`, with a prefix.
#[derive(Debug, Clone)]
pub(crate) struct GapHead {
    hidden: usize,
    left: Linear,
    right: Linear,
    output: Linear,
}

impl GapHead {
    /// The parameters of a head that reads `input` numbers a sentence with `hidden` units.
    pub(crate) fn parameters(prefix: &str, input: usize, hidden: usize) -> Vec<Parameter> {
        let mut list = Linear::parameters(&format!("{prefix}.left"), input, hidden);
        list.extend(Linear::parameters(&format!("{prefix}.right"), input, hidden));
        list.extend(Linear::parameters(&format!("{prefix}.output"), hidden, 1));
        list
    }

    pub(crate) fn new(
        from: &dyn Tensors,
        prefix: &str,
        input: usize,
        hidden: usize,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        let linear = |name: &str, input, output| Linear::new(from, &format!("{prefix}.{name}"), input, output, device);
        Ok(Self {
            hidden,
            left: linear("left", input, hidden)?,
            right: linear("right", input, hidden)?,
            output: linear("output", hidden, 1)?,
        })
    }

    /// The log-odds of a boundary behind each sentence: `[documents, time, input]` becomes `[documents, time]`; the last one of a
    /// document, and those beyond its length, mean nothing.
    pub(crate) fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (documents, time, input) = x.dims3()?;
        let x = x.reshape((documents * time, input))?;
        let left = self.left.forward(&x)?.reshape((documents, time, self.hidden))?;
        let right = self.right.forward(&x)?.reshape((documents, time, self.hidden))?;
        let next = match time {
            0 | 1 => right,
            _ => Tensor::cat(&[right.narrow(1, 1, time - 1)?, right.narrow(1, time - 1, 1)?], 1)?,
        };
        let both = (left + next)?.relu()?.reshape((documents * time, self.hidden))?;
        self.output.forward(&both)?.reshape((documents, time))
    }
}
