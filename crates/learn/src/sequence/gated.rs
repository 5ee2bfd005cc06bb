use candle_core::{CpuStorage, CustomOp1, DType, Device, Layout, Result, Shape, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;
use rayon::prelude::*;

use super::linear::Linear;
use super::parameters::{Init, Parameter};
use super::plain::sigmoid;
use super::steps::{SIDES, at, projected, states};
use crate::probability::probability;

/// What is worked out of each input for a unit: its gate, and what the gate lets in.
const PARTS: usize = 2;

/// A layer of a bidirectional gated linear recurrence, the minGRU of Feng et al. (2024, "Were RNNs all we needed?", section 3.1):
/// `h_t = (1 - z_t) h_{t-1} + z_t c_t`, where `z_t = sigmoid(W_z x_t + b_z)` and `c_t = W_c x_t + b_c` depend on the input alone.
///
/// There is no matrix product at a step. Its tensors are `input.weight` (`[4 hidden, input]`: gate
/// and candidate of the forward direction, then of the backward one) and `input.bias` (`[4 hidden]`), with a prefix.
#[derive(Debug, Clone)]
pub struct BiGated {
    hidden: usize,
    input: Linear,
}

impl BiGated {
    /// The parameters of a layer: uniformly distributed within 1 / sqrt(input).
    #[must_use]
    pub fn parameters(prefix: &str, input: usize, hidden: usize) -> Vec<Parameter> {
        let init = Init::Uniform(1.0 / (input.max(1) as f32).sqrt());
        let made = |name: &str, shape: &[usize]| Parameter::new(format!("{prefix}.{name}"), shape, init);
        let rows = SIDES * PARTS * hidden;
        vec![made("input.weight", &[rows, input]), made("input.bias", &[rows])]
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
            return Err(from.unusable(format!("{prefix}: a recurrence of {input} inputs and {hidden} units")));
        }
        Ok(Self {
            hidden,
            input: Linear::new(from, &format!("{prefix}.input"), input, SIDES * PARTS * hidden, device)?,
        })
    }

    /// Reads a batch: `[documents, time, input]` with the documents' lengths in sentences becomes `[documents, time, 2 hidden]`, the
    /// forward state and the backward state of each sentence. Beyond a document's length the result is zero, whatever stands there.
    ///
    /// # Errors
    /// Where candle fails, and where `lengths` are not as many as documents, or one exceeds `time`.
    pub fn forward(&self, x: &Tensor, lengths: &[usize]) -> Result<Tensor> {
        let (documents, time, _) = x.dims3()?;
        let Some(projected) = projected(&self.input, x, lengths)? else {
            return Tensor::zeros((documents, time, SIDES * self.hidden), x.dtype(), x.device());
        };
        if !x.device().is_cpu() || x.dtype() != DType::F32 {
            return plain(&projected, self.hidden, lengths);
        }
        projected.contiguous()?.apply_op1(Scan { hidden: self.hidden, time, lengths: lengths.to_vec() })
    }
}

/// The recurrence out of candle's operations, for any device and precision.
fn plain(projected: &Tensor, hidden: usize, lengths: &[usize]) -> Result<Tensor> {
    states(projected, SIDES, lengths, |_| {
        let mut state = Tensor::zeros((lengths.len(), hidden), projected.dtype(), projected.device())?;
        Ok(move |own: &Tensor, here: &Tensor| {
            let gate = sigmoid(&own.narrow(1, 0, hidden)?)?;
            let more = (gate * (own.narrow(1, hidden, hidden)? - &state)?)?;
            // Where a document has no such sentence, its state is and stays zero.
            state = (&state + more)?.broadcast_mul(here)?;
            Ok(state.clone())
        })
    })
}

/// The recurrence on a CPU in single precision, with its gradient: `[documents, time, 4 hidden]` becomes `[documents, time, 2 hidden]`.
/// A document is read by one thread, so the bits depend neither on the number of threads nor on the other documents.
struct Scan {
    hidden: usize,
    time: usize,
    lengths: Vec<usize>,
}

impl Scan {
    /// Numbers of a sentence before, and of its states.
    fn widths(&self) -> (usize, usize) {
        (SIDES * PARTS * self.hidden, SIDES * self.hidden)
    }

    fn read(&self, projected: &[f32], out: &mut [f32]) {
        let (hidden, (width, states)) = (self.hidden, self.widths());
        let documents = out.par_chunks_exact_mut(self.time * states).zip(projected.par_chunks_exact(self.time * width));
        documents.zip(&self.lengths).for_each(|((out, projected), &length)| {
            for side in 0..SIDES {
                let mut state = vec![0f32; hidden];
                for step in 0..length {
                    let t = at(step, length, side);
                    let own = &projected[t * width + side * PARTS * hidden..][..PARTS * hidden];
                    let (gates, candidates) = own.split_at(hidden);
                    for ((state, gate), candidate) in state.iter_mut().zip(gates).zip(candidates) {
                        *state += probability(*gate) * (candidate - *state);
                    }
                    out[t * states + side * hidden..][..hidden].copy_from_slice(&state);
                }
            }
        });
    }

    /// The gradient of the projected inputs, from that of the states.
    fn back(&self, projected: &[f32], out: &[f32], gradient: &[f32]) -> Vec<f32> {
        let (hidden, (width, states)) = (self.hidden, self.widths());
        let mut all = vec![0f32; projected.len()];
        let documents = all.par_chunks_exact_mut(self.time * width).zip(projected.par_chunks_exact(self.time * width));
        let documents = documents.zip(out.par_chunks_exact(self.time * states));
        let documents = documents.zip(gradient.par_chunks_exact(self.time * states)).zip(&self.lengths);
        documents.for_each(|((((all, projected), out), gradient), &length)| {
            let none = vec![0f32; hidden];
            for side in 0..SIDES {
                // The gradient of the state of the step after, as it reaches the one before.
                let mut later = vec![0f32; hidden];
                for step in (0..length).rev() {
                    let t = at(step, length, side);
                    let before = match step.checked_sub(1) {
                        Some(step) => &out[at(step, length, side) * states + side * hidden..][..hidden],
                        None => &none[..],
                    };
                    let (gates, candidates) =
                        projected[t * width + side * PARTS * hidden..][..PARTS * hidden].split_at(hidden);
                    let (to_gates, to_candidates) =
                        all[t * width + side * PARTS * hidden..][..PARTS * hidden].split_at_mut(hidden);
                    let own = &gradient[t * states + side * hidden..][..hidden];
                    for i in 0..hidden {
                        let (gate, whole) = (probability(gates[i]), later[i] + own[i]);
                        to_gates[i] = whole * (candidates[i] - before[i]) * gate * (1.0 - gate);
                        to_candidates[i] = whole * gate;
                        later[i] = whole * (1.0 - gate);
                    }
                }
            }
        });
        all
    }
}

impl CustomOp1 for Scan {
    fn name(&self) -> &'static str {
        "gated-recurrence"
    }

    fn cpu_fwd(&self, projected: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (CpuStorage::F32(numbers), Some((start, end))) = (projected, layout.contiguous_offsets()) else {
            candle_core::bail!("a recurrence reads contiguous numbers in single precision")
        };
        let mut out = vec![0f32; self.lengths.len() * self.time * self.widths().1];
        self.read(&numbers[start..end], &mut out);
        Ok((CpuStorage::F32(out), Shape::from((self.lengths.len(), self.time, self.widths().1))))
    }

    fn bwd(&self, projected: &Tensor, out: &Tensor, gradient: &Tensor) -> Result<Option<Tensor>> {
        let flat = |tensor: &Tensor| tensor.flatten_all()?.to_vec1::<f32>();
        let found = self.back(&flat(projected)?, &flat(out)?, &flat(gradient)?);
        Ok(Some(Tensor::from_vec(found, projected.shape(), &Device::Cpu)?))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use candle_core::{Device, Tensor, Var};

    use super::{BiGated, plain, projected};
    use crate::sequence::Parameters;

    const LENGTHS: [usize; 3] = [5, 1, 3];

    fn batch(seed: f32) -> Tensor {
        let numbers = (0..3 * 5 * 4).map(|i| (i as f32 * 0.7 + seed).sin()).collect::<Vec<_>>();
        Tensor::from_vec(numbers, (3, 5, 4), &Device::Cpu).unwrap()
    }

    fn close(one: &Tensor, two: &Tensor) {
        let off = (one - two).unwrap().abs().unwrap().flatten_all().unwrap().max(0).unwrap();
        assert!(off.to_scalar::<f32>().unwrap() < 1e-5, "{off}");
    }

    #[test]
    fn states_and_gradients_are_those_of_candle() {
        let parameters = Parameters::new(&BiGated::parameters("g", 4, 3), 3, &Device::Cpu).unwrap();
        let layer = BiGated::new(&parameters, "g", 4, 3, &Device::Cpu).unwrap();
        let x = Var::from_tensor(&batch(0.1)).unwrap();
        let weights = Tensor::from_vec((0..90).map(|i| (i as f32).cos()).collect::<Vec<_>>(), (3, 5, 6), &Device::Cpu);
        let loss = |y: &Tensor| (y * weights.as_ref().unwrap()).unwrap().sum_all().unwrap();
        let found = layer.forward(&x, &LENGTHS).unwrap();
        let projected = projected(&layer.input, &x, &LENGTHS).unwrap().unwrap();
        let wanted = plain(&projected, 3, &LENGTHS).unwrap();
        close(&found, &wanted);
        let (found, wanted) = (loss(&found).backward().unwrap(), loss(&wanted).backward().unwrap());
        for variable in parameters.all().values().chain([&x]) {
            close(found.get(variable).unwrap(), wanted.get(variable).unwrap());
        }
    }

    #[test]
    fn what_stands_beyond_a_document_changes_nothing() {
        let parameters = Parameters::new(&BiGated::parameters("g", 4, 3), 5, &Device::Cpu).unwrap();
        let layer = BiGated::new(&parameters, "g", 4, 3, &Device::Cpu).unwrap();
        let found = layer.forward(&batch(0.3), &LENGTHS).unwrap();
        assert_eq!(found.get(1).unwrap().get(1).unwrap().to_vec1::<f32>().unwrap(), [0.0; 6]);
        let alone = layer.forward(&batch(0.3).narrow(0, 2, 1).unwrap().narrow(1, 0, 3).unwrap(), &[3]).unwrap();
        let beside = found.narrow(0, 2, 1).unwrap().narrow(1, 0, 3).unwrap();
        assert_eq!(
            alone.flatten_all().unwrap().to_vec1::<f32>().unwrap(),
            beside.flatten_all().unwrap().to_vec1::<f32>().unwrap()
        );
        assert!(layer.forward(&batch(0.0), &[5, 6, 1]).is_err());
    }
}
