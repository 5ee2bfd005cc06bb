//! Low-rank changes of matrices (LoRA; Hu et al. 2021, section 4.1).
//!
//! In place of a matrix W, `[outputs, inputs]`, stands W + B A, with A `[rank, inputs]` and B `[outputs, rank]`. A file that holds
//! A and B in place of all of W is small, however many layers it changes. Beside `NAME.weight` the two are `NAME.lora_a` and
//! `NAME.lora_b`. There is no factor before the product: it is part of B.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};

use super::weights::{Tensors, tensor_among};
use crate::base::short;
use crate::models::ModelError;

/// The end of A's name.
pub const LORA_A: &str = ".lora_a";
/// The end of B's name.
pub const LORA_B: &str = ".lora_b";

/// The names of A and B for the matrix `weight`; nothing for what is no `.weight`.
#[must_use]
pub fn names(weight: &str) -> Option<(String, String)> {
    let stem = weight.strip_suffix(".weight")?;
    Some((format!("{stem}{LORA_A}"), format!("{stem}{LORA_B}")))
}

/// What stands in the fingerprint of an encoder whose changes have this [checksum](LowRank::checksum).
#[must_use]
pub fn mark(checksum: &str) -> String {
    format!(":lora={}", short(checksum))
}

/// W + B A.
///
/// # Errors
/// Where the shapes do not fit.
pub fn sum(w: &Tensor, a: &Tensor, b: &Tensor) -> candle_core::Result<Tensor> {
    w + b.matmul(a)?
}

/// The low-rank changes of a model's matrices that a file holds, in single precision.
#[derive(Debug, Clone)]
pub struct LowRank {
    path: PathBuf,
    tensors: HashMap<String, Tensor>,
}

impl LowRank {
    /// Those among `tensors`, which may hold others too. `path` names their file in errors.
    #[must_use]
    pub fn among(path: &Path, tensors: &HashMap<String, Tensor>) -> Self {
        let is_own = |name: &str| name.ends_with(LORA_A) || name.ends_with(LORA_B);
        let own = tensors.iter().filter(|(name, _)| is_own(name)).map(|(name, tensor)| (name.clone(), tensor.clone()));
        Self { path: path.to_owned(), tensors: own.collect() }
    }

    /// Reads a safetensors file, which may hold other tensors too. Numbers are taken in half precision, in which trained models keep
    /// them.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Unusable`] where it is no safetensors file, or has no such change.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let bytes = std::fs::read(path).map_err(ModelError::io(path))?;
        let failed = |e: candle_core::Error| ModelError::unusable(path, e);
        let all = candle_core::safetensors::load_buffer(&bytes, &Device::Cpu).map_err(failed)?;
        let halved = |(name, tensor): (String, Tensor)| Ok((name, tensor.to_dtype(DType::F16)?.to_dtype(DType::F32)?));
        let all = all.into_iter().map(halved).collect::<candle_core::Result<_>>().map_err(failed)?;
        let found = Self::among(path, &all);
        if found.is_empty() {
            return Err(ModelError::unusable(
                path,
                format!("it changes no matrix: no tensor's name ends with {LORA_A}"),
            ));
        }
        Ok(found)
    }

    /// The file that it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True where it changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tensors.is_empty()
    }

    /// The rank of the changes; 0 where it changes nothing.
    #[must_use]
    pub fn rank(&self) -> usize {
        let own = self.tensors.iter().find(|(name, _)| name.ends_with(LORA_A));
        own.and_then(|(_, a)| a.dims().first().copied()).unwrap_or(0)
    }

    /// Its tensors by name.
    #[must_use]
    pub fn tensors(&self) -> &HashMap<String, Tensor> {
        &self.tensors
    }

    /// SHA-256 of names, shapes and numbers, hexadecimal: that of the same changes is the same whatever file holds them, and in whatever
    /// precision, where none was lost.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where a tensor cannot be read.
    pub fn checksum(&self) -> Result<String, ModelError> {
        let mut bytes = Vec::new();
        for (name, tensor) in self.tensors.iter().collect::<BTreeMap<_, _>>() {
            bytes.extend_from_slice(format!("{name}{:?}", tensor.dims()).as_bytes());
            bytes.extend(self.numbers(name, tensor.dims())?.into_iter().flat_map(f32::to_le_bytes));
        }
        Ok(pericope_util::sha256_hex(bytes))
    }

    /// The matrix `name` changed; `base` as it is where nothing changes it.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where one of the two is missing, or their shapes do not fit.
    pub fn changed(&self, name: &str, base: Tensor, device: &Device) -> Result<Tensor, ModelError> {
        let held = |name: &String| self.tensors.contains_key(name);
        let Some((a, b)) = names(name).filter(|(a, b)| held(a) || held(b)) else { return Ok(base) };
        let failed = |e: candle_core::Error| self.unusable(format!("tensor {name}: {e}"));
        let (outputs, inputs) = base.dims2().map_err(failed)?;
        let rank = self.tensors.get(&a).and_then(|a| a.dims().first().copied()).unwrap_or(0);
        let (a, b) = (self.tensor(&a, &[rank, inputs], device)?, self.tensor(&b, &[outputs, rank], device)?);
        sum(&base, &a, &b).map_err(failed)
    }
}

impl Tensors for LowRank {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        tensor_among(&self.tensors, name, shape, device).map_err(|reason| self.unusable(reason))
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(&self.path, reason)
    }
}

/// A model's tensors with changes of low rank.
pub struct Changed<'a> {
    /// The model as it is.
    pub base: &'a dyn Tensors,
    /// The changes.
    pub changes: &'a LowRank,
}

impl Tensors for Changed<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        self.changes.changed(name, self.base.tensor(name, shape, device)?, device)
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.base.unusable(reason)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::collections::HashMap;
    use std::path::Path;

    use candle_core::{DType, Device, Tensor};

    use super::{Changed, LowRank};
    use crate::encoders::Tensors;
    use crate::models::ModelError;

    /// A model of one matrix.
    struct One;

    impl Tensors for One {
        fn tensor(&self, _: &str, _: &[usize], device: &Device) -> Result<Tensor, ModelError> {
            Tensor::new(&[[1f32, 2.0, 3.0], [4.0, 5.0, 6.0]], device).map_err(|e| self.unusable(e.to_string()))
        }

        fn unusable(&self, reason: String) -> ModelError {
            ModelError::External(reason)
        }
    }

    fn changed(tensors: &[(&str, &Tensor)]) -> Result<Vec<f32>, String> {
        let tensors = tensors.iter().map(|(name, tensor)| ((*name).to_owned(), (*tensor).clone())).collect();
        let changes = LowRank::among(Path::new("changes"), &tensors);
        Changed { base: &One, changes: &changes }.numbers("x.weight", &[2, 3]).map_err(|e| e.to_string())
    }

    #[test]
    fn a_matrix_is_changed_by_a_product_of_two() {
        let a = Tensor::new(&[[1f32, 0.0, 2.0]], &Device::Cpu).unwrap();
        let b = Tensor::new(&[[10f32], [100.0]], &Device::Cpu).unwrap();
        assert_eq!(
            changed(&[("x.lora_a", &a), ("x.lora_b", &b), ("x.bias", &a)]).unwrap(),
            [11.0, 2.0, 23.0, 104.0, 5.0, 206.0]
        );
        assert_eq!(changed(&[("y.lora_a", &a)]).unwrap(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert!(changed(&[("x.lora_a", &a)]).unwrap_err().contains("x.lora_b"));
        assert!(changed(&[("x.lora_a", &b), ("x.lora_b", &a)]).unwrap_err().contains("x.lora_a"));
    }

    #[test]
    fn a_file_of_changes_is_known_by_what_it_changes() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, tensors: &HashMap<String, Tensor>| {
            let path = folder.path().join(name);
            candle_core::safetensors::save(tensors, &path).unwrap();
            LowRank::read(&path)
        };
        let a = Tensor::new(&[[1f32, 0.0, 2.0]], &Device::Cpu).unwrap();
        let half = a.to_dtype(DType::F16).unwrap();
        let one = file("one", &HashMap::from([("x.lora_a".into(), a.clone())])).unwrap();
        let other = file("other", &HashMap::from([("x.lora_a".into(), half), ("head".into(), a.clone())])).unwrap();
        let twice = file("twice", &HashMap::from([("x.lora_a".into(), (&a + &a).unwrap())])).unwrap();
        assert_eq!(one.checksum().unwrap(), other.checksum().unwrap());
        assert_ne!(one.checksum().unwrap(), twice.checksum().unwrap());
        let said = file("none", &HashMap::from([("head".into(), a)])).unwrap_err().to_string();
        assert!(said.contains("none") && said.contains("no tensor's name ends with .lora_a"), "{said}");
        std::fs::write(folder.path().join("no"), "no").unwrap();
        assert!(LowRank::read(&folder.path().join("no")).unwrap_err().to_string().contains("no"));
        assert!(LowRank::read(&folder.path().join("absent")).unwrap_err().to_string().contains("absent"));
    }
}
