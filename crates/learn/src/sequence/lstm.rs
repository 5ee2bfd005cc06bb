use candle_core::{DType, Device, Result, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;

use super::gates::GATES;
use super::linear::Linear;
use super::parameters::{Init, Parameter};
use super::plain::plain;
use super::recurrence::Recurrence;
use super::steps::projected;

/// A layer of an LSTM that reads from the first vector to the last, as PyTorch's `nn.LSTM` with one bias.
///
/// Its tensors are `input.weight` (`[4 hidden, input]`), `input.bias` (`[4 hidden]`) and `forward.weight` (`[4 hidden, hidden]`),
/// with a prefix; gates, recurrence and gradient are those of [`BiLstm`](super::BiLstm).
#[derive(Debug, Clone)]
pub struct Lstm {
    hidden: usize,
    input: Linear,
    forward: Tensor,
}

impl Lstm {
    /// The parameters of a layer: uniformly distributed within 1 / sqrt(hidden), as PyTorch's.
    #[must_use]
    pub fn parameters(prefix: &str, input: usize, hidden: usize) -> Vec<Parameter> {
        let init = Init::Uniform(1.0 / (hidden.max(1) as f32).sqrt());
        let made = |name: &str, shape: &[usize]| Parameter::new(format!("{prefix}.{name}"), shape, init);
        vec![
            made("input.weight", &[GATES * hidden, input]),
            made("input.bias", &[GATES * hidden]),
            made("forward.weight", &[GATES * hidden, hidden]),
        ]
    }

    /// The layer of that prefix: `input` numbers a vector in, `hidden` out.
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
        Ok(Self {
            hidden,
            input: Linear::new(from, &format!("{prefix}.input"), input, GATES * hidden, device)?,
            forward: from.tensor(&format!("{prefix}.forward.weight"), &[GATES * hidden, hidden], device)?,
        })
    }

    /// Reads a batch: `[documents, time, input]` with the documents' lengths becomes `[documents, time, hidden]`, the state behind
    /// each vector. Beyond a document's length the result is zero, whatever stands there.
    ///
    /// # Errors
    /// Where candle fails, and where `lengths` are not as many as documents, or one exceeds `time`.
    pub fn forward(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let (documents, time, _) = x.dims3()?;
        let Some(projected) = projected(&self.input, x, lengths)? else {
            return Tensor::zeros((documents, time, self.hidden), x.dtype(), x.device());
        };
        if !x.device().is_cpu() || x.dtype() != DType::F32 {
            return plain(&projected, std::slice::from_ref(&self.forward), lengths);
        }
        let keep = projected.track_op() || self.forward.track_op();
        let recurrence = Recurrence::<1>::new(self.hidden, time, lengths, keep);
        projected.contiguous()?.apply_op2(&self.forward.contiguous()?, recurrence)
    }

    /// The state behind the last vector of each document, `[documents, hidden]`; zero for one without vectors. As
    /// [`forward`](Self::forward).
    ///
    /// # Errors
    /// As [`forward`](Self::forward).
    pub fn last(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let (documents, time, _) = x.dims3()?;
        if time == 0 {
            return Tensor::zeros((documents, self.hidden), x.dtype(), x.device());
        }
        let states = self.forward(x, lengths)?.reshape((documents * time, self.hidden))?;
        // A document without vectors has no other row than zeros.
        let rows = lengths.iter().enumerate().map(|(at, &length)| (at * time + length.saturating_sub(1)) as u32);
        states.index_select(&Tensor::from_iter(rows, x.device())?, 0)
    }
}
