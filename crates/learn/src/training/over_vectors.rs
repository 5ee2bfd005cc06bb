//! What trainings of models over sentence vectors share.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;
use pericope_segment::random::SplitMix64;

use crate::sequence::Parameters;

/// The parameters without their gradients.
pub(super) struct Frozen<'a>(pub(super) &'a Parameters);

impl Tensors for Frozen<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        Ok(self.0.tensor(name, shape, device)?.detach())
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.0.unusable(reason)
    }
}

/// The values in a saved state.
pub(super) struct Saved<'a> {
    pub(super) path: &'a Path,
    pub(super) values: &'a HashMap<String, Tensor>,
}

impl Tensors for Saved<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        let found = self.values.get(name).filter(|tensor| tensor.dims() == shape);
        let tensor = found.ok_or_else(|| self.unusable(format!("it has no {name} of shape {shape:?}")))?;
        tensor.to_device(device).map_err(|e| self.unusable(e.to_string()))
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(self.path, reason)
    }
}

/// Leaves out units of `[documents, time, units]`, the same for all sentences of a document, and scales up the others.
pub(super) fn dropped(x: Tensor, rate: f64, random: &mut SplitMix64) -> candle_core::Result<Tensor> {
    if rate <= 0.0 {
        return Ok(x);
    }
    let (documents, _, units) = x.dims3()?;
    let kept = (1.0 / (1.0 - rate)) as f32;
    let bound = (rate * (1u64 << 53) as f64) as u64;
    let mask = (0..documents * units).map(|_| if random.next() >> 11 < bound { 0.0 } else { kept });
    x.broadcast_mul(&Tensor::from_vec(mask.collect(), (documents, 1, units), &Device::Cpu)?)
}
