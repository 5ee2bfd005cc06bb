use std::path::Path;

use candle_core::safetensors::BufferedSafetensors;
use candle_core::{DType, Device, Tensor};
use safetensors::Dtype;

use crate::models::{ModelError, known_sha256};

/// The table of a Model2Vec folder's `model.safetensors`: `embeddings` (`[rows, dimension]`, whole numbers of eight bits too), and
/// in newer files `weights` (`[tokens]`) and `mapping` (`[tokens]`, the row of each token), where several tokens share a row.
pub(super) struct Table {
    pub(super) dimension: usize,
    /// A vector a token, its weight within, one after the other.
    pub(super) vectors: Vec<f32>,
    pub(super) sha256: String,
}

impl Table {
    pub(super) fn read(path: &Path) -> Result<Self, ModelError> {
        let bytes = std::fs::read(path).map_err(ModelError::io(path))?;
        let sha256 = known_sha256(path, &bytes)?;
        let tensors = BufferedSafetensors::new(bytes).map_err(|e| ModelError::unusable(path, e))?;
        let unusable = |name: &str, e: candle_core::Error| ModelError::unusable(path, format!("tensor {name}: {e}"));
        let load = |name: &str, kind: DType| -> Result<Option<Tensor>, ModelError> {
            if tensors.get(name).is_err() {
                return Ok(None);
            }
            tensors.load(name, &Device::Cpu).and_then(|t| t.to_dtype(kind)).map(Some).map_err(|e| unusable(name, e))
        };
        let Ok(view) = tensors.get("embeddings") else {
            return Err(ModelError::unusable(path, "there is no tensor embeddings: it holds no static vectors"));
        };
        let &[rows, dimension] = view.shape() else {
            let reason = format!("tensor embeddings has shape {:?}: a row a token is meant", view.shape());
            return Err(ModelError::unusable(path, reason));
        };
        if dimension == 0 {
            return Err(ModelError::unusable(path, "tensor embeddings has no columns"));
        }
        let mut vectors: Vec<f32> = match view.dtype() {
            // Model2Vec keeps no scale: it is one for all rows, and vectors have norm 1 in the end.
            Dtype::I8 => view.data().iter().map(|&byte| f32::from(byte.cast_signed())).collect(),
            _ => {
                let table = tensors.load("embeddings", &Device::Cpu).and_then(|t| t.to_dtype(DType::F32));
                let numbers = table.and_then(|t| t.flatten_all()).and_then(|t| t.to_vec1());
                numbers.map_err(|e| unusable("embeddings", e))?
            }
        };
        if let Some(mapping) = load("mapping", DType::I64)? {
            let mapping: Vec<i64> = mapping.to_vec1().map_err(|e| unusable("mapping", e))?;
            let row = |&place: &i64| usize::try_from(place).ok().filter(|&place| place < rows);
            let Some(places) = mapping.iter().map(row).collect::<Option<Vec<usize>>>() else {
                return Err(ModelError::unusable(
                    path,
                    format!("tensor mapping names a row beyond the {rows} there are"),
                ));
            };
            let row = |&place: &usize| vectors.get(place * dimension..(place + 1) * dimension).unwrap_or_default();
            vectors = places.iter().flat_map(row).copied().collect();
        }
        if let Some(weights) = load("weights", DType::F32)? {
            let weights: Vec<f32> = weights.to_vec1().map_err(|e| unusable("weights", e))?;
            let tokens = vectors.len() / dimension;
            if weights.len() != tokens {
                let reason = format!("tensor weights has {} numbers for {tokens} tokens", weights.len());
                return Err(ModelError::unusable(path, reason));
            }
            for (row, weight) in vectors.chunks_exact_mut(dimension).zip(weights) {
                row.iter_mut().for_each(|x| *x *= weight);
            }
        }
        if vectors.iter().any(|x| !x.is_finite()) {
            return Err(ModelError::unusable(path, "tensor embeddings holds numbers that are none"));
        }
        if vectors.iter().all(|x| *x == 0.0) {
            return Err(ModelError::unusable(path, "tensor embeddings holds zeros alone"));
        }
        Ok(Self { dimension, vectors, sha256 })
    }
}
