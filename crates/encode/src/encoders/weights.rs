use std::collections::HashMap;
use std::path::{Path, PathBuf};

use candle_core::safetensors::BufferedSafetensors;
use candle_core::{DType, Device, Tensor};

use crate::models::{ModelError, known_sha256};

/// A source of a model's tensors: a file, a file with some of them replaced, or variables that are being trained.
pub trait Tensors {
    /// The tensor `name` in single precision on `device`.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where it is missing or of another shape.
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError>;

    /// An error about where they come from.
    fn unusable(&self, reason: String) -> ModelError;

    /// The numbers of the tensor `name`, row by row.
    ///
    /// # Errors
    /// As [`Tensors::tensor`].
    fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        self.tensor(name, shape, &Device::Cpu)?
            .flatten_all()
            .and_then(|t| t.to_vec1())
            .map_err(|e| self.unusable(format!("tensor {name}: {e}")))
    }
}

/// The tensor `name` among those in memory, on `device`.
///
/// # Errors
/// The reason, where it is missing or of another shape.
pub fn tensor_among(
    tensors: &HashMap<String, Tensor>,
    name: &str,
    shape: &[usize],
    device: &Device,
) -> Result<Tensor, String> {
    let tensor = tensors.get(name).ok_or_else(|| format!("there is no tensor {name}"))?;
    if tensor.dims() != shape {
        return Err(format!("tensor {name} has shape {:?}, expected {shape:?}", tensor.dims()));
    }
    tensor.to_device(device).map_err(|e| format!("tensor {name}: {e}"))
}

/// The prefixes that the names of an encoder's tensors can have: none, or the name of the encoder inside a larger model.
const PREFIXES: &[&str] = &["", "bert.", "roberta.", "longformer.", "distilbert.", "mpnet.", "nomic_bert.", "model."];

/// The tensors by which the prefix is found: the tables of words as BERT, ModernBERT and Qwen3 call them.
const WORDS: [&str; 3] =
    ["embeddings.word_embeddings.weight", "embeddings.tok_embeddings.weight", "embed_tokens.weight"];

/// The tensors of a `model.safetensors`.
///
/// Names are those of the bare encoder (`encoder.layer.0.output.dense.weight`): where the file writes `bert.` or the
/// like before them, that is looked for first, and then the name as it is, which tensors beside the encoder have. The
/// `gamma` and `beta` of old files are found under `weight` and `bias`.
pub struct Weights {
    path: PathBuf,
    tensors: BufferedSafetensors,
    prefix: &'static str,
    sha256: String,
}

/// The file of a model's weights in its folder.
///
/// # Errors
/// [`ModelError::Unusable`] where it is not there, with what is in its place.
pub(crate) fn weights_file(folder: &Path) -> Result<PathBuf, ModelError> {
    let file = folder.join("model.safetensors");
    if file.is_file() {
        return Ok(file);
    }
    let is_there = |other: &str| folder.join(other).is_file();
    let reason = if is_there("model.safetensors.index.json") {
        "it is not there, and weights in several files (model.safetensors.index.json) are not read: save the model as one \
         (save_pretrained with a large max_shard_size)"
    } else if is_there("pytorch_model.bin") {
        "it is not there, and pytorch_model.bin is not read: save the model with safetensors"
    } else {
        "it is not there: the folder of a model holds config.json, tokenizer.json and model.safetensors"
    };
    Err(ModelError::unusable(&file, reason))
}

impl Weights {
    /// Reads the file once, and works out its checksum where it is not known yet.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Unusable`] where it is cut off or no safetensors file.
    pub fn read(path: &Path) -> Result<Self, ModelError> {
        let bytes = std::fs::read(path).map_err(ModelError::io(path))?;
        let sha256 = known_sha256(path, &bytes)?;
        let tensors = BufferedSafetensors::new(bytes).map_err(|e| ModelError::unusable(path, e))?;
        let held = |prefix: &&&str| WORDS.iter().any(|words| tensors.get(&format!("{prefix}{words}")).is_ok());
        let prefix = PREFIXES.iter().find(held).copied().unwrap_or("");
        Ok(Self { path: path.to_owned(), tensors, prefix, sha256 })
    }

    /// SHA-256 of the file, hexadecimal.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// True where there is a tensor of that name.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// The name that the file gives a tensor.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where it has none.
    fn find(&self, name: &str) -> Result<String, ModelError> {
        let full = format!("{}{name}", self.prefix);
        // Looked up on its own: candle's message for a missing tensor is long.
        let here = |name: &String| self.tensors.get(name).is_ok();
        let old = [("LayerNorm.weight", "gamma"), ("LayerNorm.bias", "beta")].iter().find_map(|(new, old)| {
            let stem = full.strip_suffix(new)?;
            Some(format!("{stem}LayerNorm.{old}"))
        });
        let missing = || {
            let reason = match self.prefix {
                "" => format!("there is no tensor {full}"),
                _ => format!("there is no tensor {full}, and no {name}"),
            };
            ModelError::unusable(&self.path, reason)
        };
        let names = [Some(full.clone()), Some(name.to_owned()), old];
        names.into_iter().flatten().find(here).ok_or_else(missing)
    }
}

impl Tensors for Weights {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        let name = self.find(name)?;
        let unusable = |e: candle_core::Error| ModelError::unusable(&self.path, format!("tensor {name}: {e}"));
        let view = self.tensors.get(&name).map_err(unusable)?;
        if view.shape() != shape {
            let reason = format!("tensor {name} has shape {:?}, expected {shape:?}", view.shape());
            return Err(ModelError::unusable(&self.path, reason));
        }
        self.tensors.load(&name, device).and_then(|t| t.to_dtype(DType::F32)).map_err(unusable)
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(&self.path, reason)
    }
}
