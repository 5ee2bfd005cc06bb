use candle_core::{DType, Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;

use super::gates::GATES;
use super::linear::Linear;
use super::parameters::{Init, Parameter};
use super::plain::plain;
use super::recurrence::Recurrence;
use super::steps::{SIDES, projected};

/// A layer of a bidirectional LSTM (Hochreiter and Schmidhuber 1997; Graves and Schmidhuber 2005), as PyTorch's `nn.LSTM` with
/// one bias: gates in the order input, forget, cell, output.
///
/// Its tensors are `input.weight` (`[8 hidden, input]`: four gates of the forward direction, four of the backward one),
/// `input.bias` (`[8 hidden]`), `forward.weight` and `backward.weight` (`[4 hidden, hidden]`), with a prefix.
///
/// On the CPU in single precision the recurrence is a custom operation with a hand-written gradient, whose bits depend neither
/// on the number of threads nor on the documents beside one. Elsewhere it is made of candle's operations.
#[derive(Debug, Clone)]
pub struct BiLstm {
    hidden: usize,
    input: Linear,
    sides: [Tensor; SIDES],
}

impl BiLstm {
    /// The parameters of a layer: uniformly distributed within 1 / sqrt(hidden), as PyTorch's.
    #[must_use]
    pub fn parameters(prefix: &str, input: usize, hidden: usize) -> Vec<Parameter> {
        let init = Init::Uniform(1.0 / (hidden.max(1) as f32).sqrt());
        let made = |name: &str, shape: &[usize]| Parameter::new(format!("{prefix}.{name}"), shape, init);
        vec![
            made("input.weight", &[SIDES * GATES * hidden, input]),
            made("input.bias", &[SIDES * GATES * hidden]),
            made("forward.weight", &[GATES * hidden, hidden]),
            made("backward.weight", &[GATES * hidden, hidden]),
        ]
    }

    /// The layer of that prefix: `input` numbers a sentence in, two times `hidden` out.
    ///
    /// # Errors
    /// [`ModelError`] where a tensor is missing or of another shape, and for a layer without units.
    pub fn new(
        from: &dyn Tensors,
        prefix: &str,
        input: usize,
        hidden: usize,
        device: &Device,
    ) -> std::result::Result<Self, ModelError> {
        if input == 0 || hidden == 0 {
            return Err(from.unusable(format!("{prefix}: an LSTM of {input} inputs and {hidden} units")));
        }
        let side = |name: &str| from.tensor(&format!("{prefix}.{name}"), &[GATES * hidden, hidden], device);
        Ok(Self {
            hidden,
            input: Linear::new(from, &format!("{prefix}.input"), input, SIDES * GATES * hidden, device)?,
            sides: [side("forward.weight")?, side("backward.weight")?],
        })
    }

    /// Reads a batch: `[documents, time, input]` with the documents' lengths in sentences becomes
    /// `[documents, time, 2 hidden]`, the forward state and the backward state of each sentence. Beyond a document's length
    /// the result is zero, whatever stands there.
    ///
    /// # Errors
    /// Where candle fails, and where `lengths` are not as many as documents, or one exceeds `time`.
    pub fn forward(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let (documents, time, _) = x.dims3()?;
        let Some(projected) = projected(&self.input, x, lengths)? else {
            return Tensor::zeros((documents, time, SIDES * self.hidden), x.dtype(), x.device());
        };
        if !x.device().is_cpu() || x.dtype() != DType::F32 {
            return plain(&projected, &self.sides, lengths);
        }
        let [forward, backward] = &self.sides;
        let keep = projected.track_op() || forward.track_op() || backward.track_op();
        let recurrence = Recurrence::<SIDES>::new(self.hidden, time, lengths, keep);
        let (forward, backward) = (forward.contiguous()?, backward.contiguous()?);
        projected.contiguous()?.apply_op3(&forward, &backward, recurrence)
    }
}
