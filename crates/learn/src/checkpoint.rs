//! The file of a trained model: what differs from its base model, and how it is to be used.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use pericope_encode::encoders::{LowRank, Tensors, tensor_among};
use pericope_encode::{Base, ModelError, short};
use safetensors::SafeTensors;
use serde::{Serialize, de::DeserializeOwned};

/// The name of the checkpoint that comes with this crate, of every kind of model.
pub(crate) const SHIPPED: &str = "shipped";

/// The settings that a kind of trained model keeps in its file.
pub trait Metadata: Serialize + DeserializeOwned {
    /// The key of the safetensors header that holds it.
    const KEY: &'static str;
    /// The name of the model in messages.
    const NAME: &'static str;

    /// The base model, as [`Base::named_for`] names it.
    fn base(&self) -> &str;
}

/// The tensors that a training changed, and what else is to be known. Names are those of the base model
/// (`encoder.layer.3.attention.self.query.weight`), and those of the model's heads.
pub struct Checkpoint<S> {
    path: PathBuf,
    /// The settings.
    pub settings: S,
    tensors: HashMap<String, Tensor>,
    sha256: String,
    half: bool,
}

impl<S: Metadata> Checkpoint<S> {
    /// Puts a checkpoint together.
    #[must_use]
    pub fn new(settings: S, tensors: HashMap<String, Tensor>) -> Self {
        Self { path: PathBuf::from("(in memory)"), settings, tensors, sha256: String::new(), half: false }
    }

    /// Reads a checkpoint. `path` names it in errors.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where the bytes are cut off, no safetensors, without settings, or where a number is none.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self, ModelError> {
        let unusable = |e: &dyn std::fmt::Display| ModelError::unusable(path, e);
        let settings = Self::settings_of(path, bytes)?;
        let all = candle_core::safetensors::load_buffer(bytes, &Device::Cpu).map_err(|e| unusable(&e))?;
        let half = all.values().all(|tensor| tensor.dtype() == DType::F16);
        let single = |(name, tensor): (String, Tensor)| {
            let tensor = tensor.to_dtype(DType::F32);
            let are_numbers = |tensor: &Tensor| -> candle_core::Result<bool> {
                Ok(tensor.flatten_all()?.to_vec1::<f32>()?.iter().all(|x| x.is_finite()))
            };
            match tensor.and_then(|tensor| Ok((are_numbers(&tensor)?, tensor))) {
                Ok((true, tensor)) => Ok((name, tensor)),
                // A training that came to nothing leaves such a file.
                Ok((false, _)) => Err(unusable(&format!("tensor {name} holds numbers that are none"))),
                Err(e) => Err(unusable(&format!("tensor {name}: {e}"))),
            }
        };
        let tensors = all.into_iter().map(single).collect::<Result<_, _>>()?;
        let sha256 = pericope_util::sha256_hex(bytes);
        Ok(Self { path: path.to_owned(), settings, tensors, sha256, half })
    }

    /// Reads the settings alone, without the tensors. `path` names the checkpoint in errors.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where the bytes are cut off, no safetensors, or without settings.
    pub fn settings_of(path: &Path, bytes: &[u8]) -> Result<S, ModelError> {
        let unusable = |e: &dyn std::fmt::Display| ModelError::unusable(path, e);
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| unusable(&e))?;
        let text = header.metadata().as_ref().and_then(|all| all.get(S::KEY));
        let text =
            text.ok_or_else(|| unusable(&format!("its header has no {:?}: it is no {} checkpoint", S::KEY, S::NAME)))?;
        serde_json::from_str(text).map_err(|e| unusable(&format!("its settings: {e}")))
    }

    /// Reads a checkpoint that came with the program. `sha256` is the checksum that it is to have.
    ///
    /// # Errors
    /// As [`Checkpoint::from_bytes`], and [`ModelError::Unusable`] where the checksum is another.
    pub fn shipped(name: &str, bytes: &[u8], sha256: &str) -> Result<Self, ModelError> {
        let path = PathBuf::from(format!("{name} (shipped)"));
        let checkpoint = Self::from_bytes(&path, bytes)?;
        if checkpoint.sha256 != sha256 {
            let reason = format!("its checksum is {}, expected {}", short(&checkpoint.sha256), short(sha256));
            return Err(ModelError::unusable(&path, reason));
        }
        Ok(checkpoint)
    }

    /// Reads the checkpoint of a name: [`SHIPPED`], a file, or the file called `file` in a folder.
    ///
    /// # Errors
    /// As [`Checkpoint::read`], and those of `shipped`.
    pub(crate) fn named(
        name: &str,
        file: &str,
        shipped: impl FnOnce() -> Result<Self, ModelError>,
    ) -> Result<Self, ModelError> {
        let path = Path::new(name);
        match name {
            SHIPPED => shipped(),
            _ if path.is_dir() => Self::read(&path.join(file)),
            _ => Self::read(path),
        }
    }

    /// Reads a checkpoint's file.
    ///
    /// # Errors
    /// [`ModelError::Io`], else as [`Checkpoint::from_bytes`].
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let bytes = std::fs::read(path).map_err(ModelError::io(path))?;
        Self::from_bytes(path, &bytes)
    }

    /// Writes it, whole or not at all, in half precision where `half`.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Unusable`] where a tensor cannot be written.
    pub fn write(&self, path: &Path, half: bool) -> Result<(), ModelError> {
        let unusable = |e: &dyn std::fmt::Display| ModelError::unusable(path, e);
        let settings = serde_json::to_string(&self.settings).map_err(|e| unusable(&e))?;
        let kind = if half { DType::F16 } else { DType::F32 };
        let tensors: HashMap<&String, Tensor> = (self.tensors.iter())
            .map(|(name, tensor)| Ok((name, tensor.to_dtype(kind)?)))
            .collect::<candle_core::Result<_>>()
            .map_err(|e| unusable(&e))?;
        let header = Some(HashMap::from([(S::KEY.to_owned(), settings)]));
        let bytes = safetensors::serialize(&tensors, header).map_err(|e| unusable(&e))?;
        pericope_util::replace_file(path, &bytes).map_err(ModelError::io(path))
    }

    /// Reads the base model that it was made for: see [`Base::of`].
    ///
    /// # Errors
    /// As [`Base::of`].
    pub fn base(&self) -> Result<Base, ModelError> {
        Base::of(self.settings.base(), &self.path)
    }

    /// SHA-256 of its bytes, hexadecimal; empty for one that was put together and not read.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// True where it was read from half precision.
    #[must_use]
    pub fn is_half(&self) -> bool {
        self.half
    }

    /// The path that it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The numbers of a tensor, row by row.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where the tensor is missing or of another shape.
    pub fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        Tensors::numbers(self, name, shape)
    }

    /// The tensors by name.
    #[must_use]
    pub fn tensors(&self) -> &HashMap<String, Tensor> {
        &self.tensors
    }

    /// The changes of its base model's matrices that it holds in place of them; none where it has none.
    #[must_use]
    pub fn low_rank(&self) -> LowRank {
        LowRank::among(&self.path, &self.tensors)
    }

    /// True where there is a tensor of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }
}

impl<S: Metadata> Tensors for Checkpoint<S> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        tensor_among(&self.tensors, name, shape, device).map_err(|reason| self.unusable(reason))
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(&self.path, reason)
    }
}

/// A base model with a checkpoint's tensors in place of its own, or [changed](LowRank) by them.
pub(crate) struct Overlaid<'a, S> {
    base: &'a dyn Tensors,
    pub(crate) checkpoint: &'a Checkpoint<S>,
    changes: LowRank,
}

impl<'a, S: Metadata> Overlaid<'a, S> {
    pub(crate) fn new(base: &'a dyn Tensors, checkpoint: &'a Checkpoint<S>) -> Self {
        Self { base, checkpoint, changes: checkpoint.low_rank() }
    }
}

impl<S: Metadata> Tensors for Overlaid<'_, S> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        let from: &dyn Tensors = if self.checkpoint.has(name) { self.checkpoint } else { self.base };
        self.changes.changed(name, from.tensor(name, shape, device)?, device)
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.checkpoint.unusable(reason)
    }
}

impl<S> std::fmt::Debug for Checkpoint<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoint").field("path", &self.path).finish_non_exhaustive()
    }
}
