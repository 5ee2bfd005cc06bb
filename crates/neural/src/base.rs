use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use std::sync::Arc;

use crate::encoders::{Config, Weights};
use crate::models::{ModelDir, ModelError};
use crate::tokens::Subwords;

/// An installed encoder, as trained models build on it.
pub struct Base {
    /// Its folder.
    pub dir: ModelDir,
    /// Its sizes.
    pub config: Config,
    /// Its tensors.
    pub weights: Weights,
    /// Its tokenizer.
    pub tokens: Arc<Subwords>,
}

impl Base {
    /// Reads an encoder: the name of an installed model (`minilm`), or the path of a folder with `config.json`,
    /// `model.safetensors` and `tokenizer.json`.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the tensor, or the command that installs the model.
    pub fn open(name: &str) -> Result<Self, ModelError> {
        let dir = if name.contains(MAIN_SEPARATOR) || Path::new(name).join("config.json").is_file() {
            ModelDir { name: name.to_owned(), path: PathBuf::from(name) }
        } else {
            crate::models::locate(name)?
        };
        let config = Config::read(&dir.file("config.json"))?;
        let (tokens, weights) =
            rayon::join(|| Subwords::load_for(&dir, &config), || Weights::read(&dir.file("model.safetensors")));
        Ok(Self { config, weights: weights?, tokens: Arc::new(tokens?), dir })
    }

    /// Checks that this is the encoder that a trained model was made for.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] about `model`, with the beginnings of both checksums.
    pub fn expect(&self, sha256: &str, model: &Path) -> Result<(), ModelError> {
        let own = self.weights.sha256();
        if own == sha256 {
            return Ok(());
        }
        let (own, wanted) = (short(own), short(sha256));
        let reason = format!("it was trained on a base model with checksum {wanted}; {} has {own}", self.dir.name);
        Err(ModelError::unusable(model, reason))
    }
}

/// The beginning of a checksum.
pub(crate) fn short(checksum: &str) -> &str {
    checksum.get(..12).unwrap_or(checksum)
}
