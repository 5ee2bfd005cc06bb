use std::path::{MAIN_SEPARATOR, Path};
use std::sync::Arc;

use crate::encoders::{Config, Weights, check_vocabulary, weights_file};
use crate::models::{ModelDir, ModelError};
use crate::modules::transformer_folder;
use crate::tokens::Subwords;

/// An installed encoder, as trained models build on it.
pub struct Base {
    /// The folder that it was read from.
    pub dir: ModelDir,
    /// The sizes of its layers and tables.
    pub config: Config,
    /// The tensors of `model.safetensors`.
    pub weights: Weights,
    /// The tokenizer of `tokenizer.json`.
    pub tokens: Arc<Subwords>,
}

impl Base {
    /// Reads an encoder: the name of an installed model (`minilm`), or the path of a folder with `config.json`,
    /// `model.safetensors` and `tokenizer.json`, or of one whose `modules.json` says where those lie.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the tensor, or the command that installs the model.
    pub fn open(name: &str) -> Result<Self, ModelError> {
        let folder = transformer_folder(Path::new(name));
        let dir = if name.contains(MAIN_SEPARATOR) || folder.join("config.json").is_file() {
            // By where its files lie: checkpoints find it there.
            ModelDir { name: folder.display().to_string(), path: folder }
        } else {
            crate::models::locate(name)?
        };
        Self::read(dir)
    }

    /// Reads the base model that the file `checkpoint` names as [`named_for`](Self::named_for) does: a folder seen from the
    /// checkpoint's, or an installed model. An absolute path is taken too, and one from the working directory, which older
    /// checkpoints have; of a folder that is not there an installed model of its name takes the place.
    ///
    /// # Errors
    /// As [`Base::open`].
    pub fn of(name: &str, checkpoint: &Path) -> Result<Self, ModelError> {
        let holds = |path: &Path| path.join("config.json").is_file();
        let beside = checkpoint.parent().filter(|_| checkpoint.is_file()).map(|folder| folder.join(name));
        let given = Path::new(name);
        let is_path = given.components().count() > 1;
        let folder = beside.filter(|path| holds(path)).or((is_path && holds(given)).then(|| given.to_owned()));
        if let Some(path) = folder {
            return Self::read(ModelDir { name: name.to_owned(), path });
        }
        let own = given.file_name().map(|own| own.to_string_lossy()).unwrap_or_default();
        match crate::models::locate(&own) {
            Ok(dir) => Self::read(dir),
            Err(e) if !is_path => Err(e),
            Err(_) => {
                let reason = format!("its base model is not there: {name}, from the folder that the file lies in");
                Err(ModelError::unusable(checkpoint, reason))
            }
        }
    }

    /// Returns the name by which a checkpoint in `folder` finds this base model from any working directory: an installed
    /// model's name, or the path from `folder` to the model's, with `/`.
    #[must_use]
    pub fn named_for(&self, folder: &Path) -> String {
        let ModelDir { name, path } = &self.dir;
        if Path::new(name) != path {
            return name.clone();
        }
        let between = || Some(relative(&folder.canonicalize().ok()?, &path.canonicalize().ok()?));
        between().unwrap_or_else(|| name.clone())
    }

    fn read(dir: ModelDir) -> Result<Self, ModelError> {
        let config = Config::read(&dir.file("config.json"))?;
        let (tokens, weights) =
            rayon::join(|| Subwords::load(&dir.file("tokenizer.json")), || Weights::read(&weights_file(&dir.path)?));
        let (weights, tokens) = (weights?, tokens?);
        check_vocabulary(&dir, tokens.vocabulary(), &config)?;
        Ok(Self { config, weights, tokens: Arc::new(tokens), dir })
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

/// The path from one folder to another, both absolute; absolute where they have nothing in common.
fn relative(from: &Path, to: &Path) -> String {
    let shared = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    if shared == 0 {
        return to.display().to_string();
    }
    let up = from.components().skip(shared).map(|_| "..".to_owned());
    let down = to.components().skip(shared).map(|part| part.as_os_str().to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).collect();
    if parts.is_empty() { ".".into() } else { parts.join("/") }
}

/// The first twelve digits of a checksum, as names and messages show it.
#[must_use]
pub fn short(checksum: &str) -> &str {
    checksum.get(..12).unwrap_or(checksum)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::path::Path;

    use super::{Base, relative};

    #[test]
    fn paths_between_folders() {
        for (from, to, path) in [
            ("/a/b/out", "/a/b/base", "../base"),
            ("/a/out/deep", "/a/base", "../../base"),
            ("/a", "/a/base", "base"),
            ("/a", "/a", "."),
            ("/x", "/y/base", "../y/base"),
        ] {
            assert_eq!(relative(Path::new(from), Path::new(to)), path);
        }
    }

    #[test]
    fn a_checkpoint_finds_its_base_model_from_anywhere() {
        let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/bert-tiny");
        let all = tempfile::tempdir().unwrap();
        for folder in ["models/base", "models/out", "moved"] {
            fs::create_dir_all(all.path().join(folder)).unwrap();
        }
        for file in ["config.json", "model.safetensors", "tokenizer.json"] {
            fs::copy(golden.join(file), all.path().join("models/base").join(file)).unwrap();
        }
        let base = Base::open(&all.path().join("models/base").display().to_string()).unwrap();
        let name = base.named_for(&all.path().join("models/out"));
        assert_eq!(name, "../base");
        let file = all.path().join("models/out/weswin.safetensors");
        fs::write(&file, "").unwrap();
        assert_eq!(Base::of(&name, &file).unwrap().weights.sha256(), base.weights.sha256());
        // Both moved together.
        fs::rename(all.path().join("models"), all.path().join("moved/models")).unwrap();
        let file = all.path().join("moved/models/out/weswin.safetensors");
        assert_eq!(Base::of(&name, &file).unwrap().weights.sha256(), base.weights.sha256());
        // Absolute paths, as older checkpoints have them.
        let absolute = all.path().join("moved/models/base").display().to_string();
        assert!(Base::of(&absolute, Path::new("(in memory)")).is_ok());
        fs::remove_dir_all(all.path().join("moved/models/base")).unwrap();
        let text = Base::of(&name, &file).err().unwrap().to_string();
        assert!(text.contains("../base") && text.contains("weswin.safetensors"), "{text}");
    }
}
