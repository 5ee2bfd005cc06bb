use candle_core::{DType, Device, Tensor};

use super::weights::Tensors;
use crate::models::ModelError;

/// The table of segment types, which models that have none are given: one row of zeros.
const TYPES: &str = "embeddings.token_type_embeddings.weight";

/// The tensors of a model without segment types under the names that BERT's have.
pub(super) struct Renamed<'a> {
    pub weights: &'a dyn Tensors,
    /// The model's own name of a tensor of BERT's.
    pub own_name: fn(&str) -> String,
}

impl Tensors for Renamed<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        if name == TYPES {
            return Tensor::zeros(shape, DType::F32, device).map_err(|e| self.unusable(format!("tensor {name}: {e}")));
        }
        self.weights.tensor(&(self.own_name)(name), shape, device)
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.weights.unusable(reason)
    }
}

/// The name of a layer's tensor where its layers stand under `layers` and its parts are called as `parts` says (BERT's name
/// first); `None` for a tensor outside the layers, and for a part that is not listed.
pub(super) fn part(name: &str, layers: &str, parts: &[(&str, &str)]) -> Option<String> {
    let (layer, part) = name.strip_prefix("encoder.layer.")?.split_once('.')?;
    let (stem, kind) = part.rsplit_once('.')?;
    let (_, own) = parts.iter().find(|(bert, _)| *bert == stem)?;
    Some(format!("{layers}.{layer}.{own}.{kind}"))
}
