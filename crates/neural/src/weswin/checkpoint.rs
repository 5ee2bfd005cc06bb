//! The file of a trained WeSWin: what differs from its base model, and how it is to be used.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candle_core::{DType, Device, Tensor};
use safetensors::SafeTensors;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::weighting::Curve;
use crate::encoders::Tensors;
use crate::models::ModelError;

/// How a checkpoint was made, and how it is used where nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The base model's name (`minilm`) or the path of its folder.
    pub base: String,
    /// SHA-256 of the base model's `model.safetensors`, hexadecimal.
    pub base_sha256: String,
    /// Tokens of a sequence, special tokens included.
    pub tokens: usize,
    /// The partition with the best F1 on validation documents: `ss-4`.
    pub partition: String,
    /// The weighting with the best F1 there: `mean:lin_k5_e0.1`.
    pub weights: String,
    /// The threshold with the best F1 there, in `[0, 1]`.
    pub tau: f64,
    /// What `mean:lob` weighs by.
    #[serde(default)]
    pub curve: Curve,
    /// What it was trained on, and anything else worth keeping.
    #[serde(default)]
    pub notes: String,
}

/// Key of the settings in the safetensors header.
const KEY: &str = "weswin";

/// The tensors that a training changed, with their [`Settings`]. Names are those of the base model
/// (`encoder.layer.3.attention.self.query.weight`), and `snt` (`[hidden]`, the embedding of `[SNT]`), `boundary.weight`
/// (`[2, hidden]`), `boundary.bias` (`[2]`), `retrieval.weight`, `retrieval.bias`.
pub struct Checkpoint {
    path: PathBuf,
    /// The settings.
    pub settings: Settings,
    tensors: HashMap<String, Tensor>,
    sha256: String,
}

impl Checkpoint {
    /// Puts a checkpoint together.
    #[must_use]
    pub fn new(settings: Settings, tensors: HashMap<String, Tensor>) -> Self {
        Self { path: PathBuf::from("(in memory)"), settings, tensors, sha256: String::new() }
    }

    /// Reads a checkpoint. `path` names it in errors.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where the bytes are cut off, no safetensors, or without settings.
    pub fn from_bytes(path: &Path, bytes: &[u8]) -> Result<Self, ModelError> {
        let unusable = |e: &dyn std::fmt::Display| ModelError::unusable(path, e);
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| unusable(&e))?;
        let text = header.metadata().as_ref().and_then(|all| all.get(KEY));
        let text = text.ok_or_else(|| unusable(&format!("its header has no {KEY:?}: it is no WeSWin checkpoint")))?;
        let settings = serde_json::from_str(text).map_err(|e| unusable(&format!("its settings: {e}")))?;
        let all = candle_core::safetensors::load_buffer(bytes, &Device::Cpu).map_err(|e| unusable(&e))?;
        let single = |(name, tensor): (String, Tensor)| match tensor.to_dtype(DType::F32) {
            Ok(tensor) => Ok((name, tensor)),
            Err(e) => Err(unusable(&format!("tensor {name}: {e}"))),
        };
        let tensors = all.into_iter().map(single).collect::<Result<_, _>>()?;
        let sha256 = format!("{:x}", Sha256::digest(bytes));
        Ok(Self { path: path.to_owned(), settings, tensors, sha256 })
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
        let header = Some(HashMap::from([(KEY.to_owned(), settings)]));
        let bytes = safetensors::serialize(&tensors, header).map_err(|e| unusable(&e))?;
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let io = |e| ModelError::io(path)(e);
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(io)?;
        std::io::Write::write_all(&mut file, &bytes).map_err(io)?;
        file.persist(path).map_err(|e| io(e.error))?;
        Ok(())
    }

    /// SHA-256 of its bytes, hexadecimal; empty for one that was put together and not read.
    #[must_use]
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// Where it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The numbers of a head or of `[SNT]`.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where the tensor is missing or of another shape.
    pub fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let problem = |e: String| ModelError::unusable(&self.path, e);
        let tensor = self.tensors.get(name).ok_or_else(|| problem(format!("there is no tensor {name}")))?;
        if tensor.dims() != shape {
            return Err(problem(format!("tensor {name} has shape {:?}, expected {shape:?}", tensor.dims())));
        }
        let numbers = tensor.flatten_all().and_then(|t| t.to_vec1());
        numbers.map_err(|e| problem(format!("tensor {name}: {e}")))
    }

    /// The tensors by name.
    #[must_use]
    pub fn tensors(&self) -> &HashMap<String, Tensor> {
        &self.tensors
    }

    /// True where there is a tensor of that name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.tensors.contains_key(name)
    }
}

/// Where the embeddings of words are in a base model.
pub(crate) const WORDS: &str = "embeddings.word_embeddings.weight";

/// A base model with a checkpoint's tensors in place of its own, and `[SNT]` as the last row of its vocabulary.
pub(super) struct Overlaid<'a> {
    pub(super) base: &'a dyn Tensors,
    pub(super) checkpoint: &'a Checkpoint,
}

impl Tensors for Overlaid<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        let problem = |e: candle_core::Error| self.unusable(format!("tensor {name}: {e}"));
        if let Some(tensor) = self.checkpoint.tensors.get(name) {
            if tensor.dims() != shape {
                let reason = format!("tensor {name} has shape {:?}, expected {shape:?}", tensor.dims());
                return Err(self.unusable(reason));
            }
            return tensor.to_device(device).map_err(problem);
        }
        match *shape {
            [rows, hidden] if name == WORDS => {
                let base = self.base.tensor(name, &[rows.saturating_sub(1), hidden], device)?;
                let row = self.checkpoint.numbers("snt", &[hidden])?;
                let row = Tensor::from_vec(row, (1, hidden), device).map_err(problem)?;
                Tensor::cat(&[&base, &row], 0).map_err(problem)
            }
            _ => self.base.tensor(name, shape, device),
        }
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(self.checkpoint.path(), reason)
    }
}
