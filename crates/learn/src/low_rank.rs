//! Low-rank changes of matrices (LoRA; Hu et al. 2021, section 4.1).
//!
//! In place of a matrix W, `[outputs, inputs]`, stands W + B A, with A `[rank, inputs]` and B `[outputs, rank]`. A checkpoint that holds
//! A and B in place of all of W is small, however many layers it changes. Beside `NAME.weight` the two are `NAME.lora_a` and
//! `NAME.lora_b`. There is no factor before the product: it is part of B.

use candle_core::{Device, Tensor};
use pericope_encode::ModelError;
use pericope_encode::encoders::Tensors;

use crate::checkpoint::{Checkpoint, Metadata};

/// The end of A's name.
pub(crate) const A: &str = ".lora_a";
/// The end of B's name.
const B: &str = ".lora_b";

/// The names of A and B for the matrix `weight`; nothing for what is no `.weight`.
pub(crate) fn names(weight: &str) -> Option<(String, String)> {
    let stem = weight.strip_suffix(".weight")?;
    Some((format!("{stem}{A}"), format!("{stem}{B}")))
}

/// W + B A.
pub(crate) fn sum(w: &Tensor, a: &Tensor, b: &Tensor) -> candle_core::Result<Tensor> {
    w + b.matmul(a)?
}

/// The matrix `name`, changed as `checkpoint` says; `base` as it is where that says nothing of it.
///
/// # Errors
/// [`ModelError::Unusable`] where one of the two is missing, or their shapes do not fit.
pub(crate) fn changed<S: Metadata>(
    checkpoint: &Checkpoint<S>,
    name: &str,
    base: Tensor,
    device: &Device,
) -> Result<Tensor, ModelError> {
    let Some((a, b)) = names(name).filter(|(a, b)| checkpoint.has(a) || checkpoint.has(b)) else { return Ok(base) };
    let failed = |e: candle_core::Error| checkpoint.unusable(format!("tensor {a}: {e}"));
    let (outputs, inputs) = base.dims2().map_err(failed)?;
    let rank = checkpoint.tensors().get(&a).and_then(|a| a.dims().first().copied()).unwrap_or(0);
    let (a, b) = (checkpoint.tensor(&a, &[rank, inputs], device)?, checkpoint.tensor(&b, &[outputs, rank], device)?);
    sum(&base, &a, &b).map_err(|e| checkpoint.unusable(format!("tensor {name}: {e}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashMap;

    use candle_core::{Device, Tensor};
    use pericope_encode::ModelError;
    use pericope_encode::encoders::Tensors;

    use crate::checkpoint::{Checkpoint, Overlaid};
    use crate::topic::Settings;

    /// A base model of one matrix.
    struct One;

    impl Tensors for One {
        fn tensor(&self, _: &str, _: &[usize], device: &Device) -> Result<Tensor, ModelError> {
            Tensor::new(&[[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], device).map_err(|e| self.unusable(e.to_string()))
        }

        fn unusable(&self, reason: String) -> ModelError {
            ModelError::External(reason)
        }
    }

    fn overlaid(tensors: &[(&str, Tensor)]) -> Result<Vec<f32>, String> {
        let settings: Settings = serde_json::from_str(
            r#"{"encoder": "minilm", "encoder_fingerprint": "1", "tau": 0.4,
                "sizes": {"input": 2, "projection": 2, "hidden": 2, "layers": 1, "head": 2}}"#,
        )
        .unwrap();
        let tensors: HashMap<String, Tensor> = tensors.iter().map(|(n, t)| ((*n).to_owned(), t.clone())).collect();
        let checkpoint = Checkpoint::new(settings, tensors);
        let all = Overlaid { base: &One, checkpoint: &checkpoint };
        all.numbers("x.weight", &[2, 3]).map_err(|e| e.to_string())
    }

    #[test]
    fn a_matrix_is_changed_by_a_product_of_two() {
        let a = Tensor::new(&[[1f32, 0.0, 2.0]], &Device::Cpu).unwrap();
        let b = Tensor::new(&[[10f32], [100.0]], &Device::Cpu).unwrap();
        let changed = overlaid(&[("x.lora_a", a.clone()), ("x.lora_b", b.clone())]).unwrap();
        assert_eq!(changed, [11.0, 2.0, 23.0, 104.0, 5.0, 206.0]);
        assert_eq!(overlaid(&[("y.lora_a", a.clone())]).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(overlaid(&[("x.lora_a", a.clone())]).unwrap_err().contains("x.lora_b"));
        assert!(overlaid(&[("x.lora_a", b), ("x.lora_b", a)]).unwrap_err().contains("x.lora_a"));
    }
}
