use std::path::{Path, PathBuf};

use super::embedders::{self, KnownEmbedder, known_embedders};
use super::error::ModelError;
use super::files::{Wanted, sha256_file};
use super::home::{MODELS, home_folder};
use super::known::{PublishedModel, known};
use super::record::Record;

/// An installed model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelDir {
    /// The name on the command line: `minilm`.
    pub name: String,
    /// The folder that holds its files.
    pub path: PathBuf,
}

impl ModelDir {
    /// Path of one of its files.
    #[must_use]
    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }
}

/// The state of a model on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstallState {
    /// All files are there with the right sizes.
    Installed,
    /// A pull was interrupted, or files are missing or cut off.
    Partial,
    /// Nothing is there.
    Absent,
}

/// A model by name: one whose files are known, or one of the hub.
#[derive(Debug, Clone, Copy)]
pub(super) enum Known {
    Published(&'static PublishedModel),
    OfHub(&'static KnownEmbedder),
}

/// A line of `pericope models list`.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The model's name.
    pub name: &'static str,
    /// Its purpose in a few words, with language, sizes and licence.
    pub purpose: &'static str,
    /// Bytes of its files together; `None` where they are not known before they are here.
    pub bytes: Option<u64>,
    /// The folder where it is, or would be.
    pub path: PathBuf,
    /// Whether it is there.
    pub state: InstallState,
    /// What is known of it, where it is an embedding model of the hub.
    pub embedder: Option<&'static KnownEmbedder>,
}

/// Returns the folder of the user's files: `$PERICOPE_HOME`, or else the XDG data folder's `pericope`.
///
/// # Errors
/// [`ModelError::NoHome`] where none of the variables that say so is set.
pub fn home() -> Result<PathBuf, ModelError> {
    home_folder().ok_or(ModelError::NoHome)
}

/// The name of the static vectors that are made of MiniLM, and of their folder.
const STATIC: &str = "static";

/// The bytes that they will have: 30,522 tokens, 256 numbers in half precision.
const STATIC_BYTES: u64 = 30_522 * 256 * 2;

/// The models of one home folder.
#[derive(Debug, Clone)]
pub struct Models {
    pub(super) root: PathBuf,
}

impl Models {
    /// The models under `home/models`.
    #[must_use]
    pub fn at(home: &Path) -> Self {
        Self { root: home.join(MODELS) }
    }

    /// The models of `$PERICOPE_HOME`, or else of the XDG data folder (`$XDG_DATA_HOME/pericope`,
    /// `~/.local/share/pericope`).
    ///
    /// # Errors
    /// [`ModelError::NoHome`] where none of these variables is set.
    pub fn from_env() -> Result<Self, ModelError> {
        Ok(Self::at(&home()?))
    }

    /// The models that Pericope knows, and whether they are here: those whose files are known, the static vectors, which are made
    /// and not fetched, and the embedding models of the hub.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        let row = |model: &'static PublishedModel| Listed {
            name: model.name,
            purpose: model.purpose,
            bytes: Some(model.files.iter().map(|file| file.bytes).sum()),
            path: self.folder(model.name),
            state: self.state(model.name),
            embedder: None,
        };
        let mut rows: Vec<Listed> = known().iter().map(row).collect();
        let path = self.static_folder();
        let state = match self.static_vectors() {
            Ok(_) => InstallState::Installed,
            Err(_) if path.exists() => InstallState::Partial,
            Err(_) => InstallState::Absent,
        };
        rows.push(Listed {
            name: STATIC,
            purpose: "sentence embeddings, English, a hundred times as quick (made of minilm on this machine, 256 numbers)",
            bytes: Some(std::fs::metadata(path.join("model.safetensors")).map_or(STATIC_BYTES, |file| file.len())),
            path,
            state,
            embedder: None,
        });
        rows.extend(known_embedders().iter().map(|model| Listed {
            name: model.name,
            purpose: model.hub,
            bytes:
                Record::read(&self.folder(model.name)).map(|record| record.files.iter().map(|file| file.bytes).sum()),
            path: self.folder(model.name),
            state: self.state(model.name),
            embedder: Some(model),
        }));
        rows
    }

    /// The folder of the static vectors made of MiniLM, whether they are there or not.
    #[must_use]
    pub fn static_folder(&self) -> PathBuf {
        self.root.join(STATIC)
    }

    /// The static vectors made of MiniLM.
    ///
    /// # Errors
    /// [`ModelError::Missing`] where they have not been made.
    pub fn static_vectors(&self) -> Result<ModelDir, ModelError> {
        let path = self.static_folder();
        match ["tokenizer.json", "model.safetensors"].iter().find(|file| !path.join(file).is_file()) {
            None => Ok(ModelDir { name: STATIC.into(), path }),
            Some(file) => Err(ModelError::Missing { name: STATIC.into(), path, problem: format!("{file} is missing") }),
        }
    }

    /// The folder of an installed model. Quick: looks at names and sizes alone.
    ///
    /// # Errors
    /// [`ModelError::Unknown`] for a name that is not on the list, [`ModelError::Missing`] where files are missing or
    /// have the wrong size.
    pub fn locate(&self, name: &str) -> Result<ModelDir, ModelError> {
        match find(name)? {
            Known::Published(model) => self.locate_known(model),
            Known::OfHub(model) => {
                let path = self.folder(model.name);
                let record = Record::read(&path);
                let missing = || ModelError::Missing {
                    name: model.name.into(),
                    path: path.clone(),
                    problem: "it was not fetched yet".into(),
                };
                self.whole(model.name, &record.ok_or_else(missing)?.files)
            }
        }
    }

    /// Reads every file of an installed model and compares its SHA-256 with the published one, or with that of its first pull.
    ///
    /// # Errors
    /// As [`Models::locate`]; [`ModelError::Checksum`] for the first file that differs; [`ModelError::Io`].
    pub fn verify(&self, name: &str) -> Result<ModelDir, ModelError> {
        let dir = self.locate(name)?;
        let files = match find(name)? {
            Known::Published(model) => model.files.iter().map(Wanted::from).collect(),
            Known::OfHub(_) => Record::read(&dir.path).map(|record| record.files).unwrap_or_default(),
        };
        for file in files {
            let path = dir.file(&file.name);
            let found = sha256_file(&path)?;
            if let Some(expected) = file.sha256.filter(|expected| *expected != found) {
                return Err(ModelError::Checksum { file: path, expected, found, model: dir.name });
            }
        }
        Ok(dir)
    }

    pub(super) fn locate_known(&self, model: &PublishedModel) -> Result<ModelDir, ModelError> {
        let files: Vec<Wanted> = model.files.iter().map(Wanted::from).collect();
        self.whole(model.name, &files)
    }

    /// The folder of a model whose files are all there with their sizes.
    fn whole(&self, name: &str, files: &[Wanted]) -> Result<ModelDir, ModelError> {
        let path = self.folder(name);
        for file in files {
            let found = std::fs::metadata(path.join(&file.name)).ok().map(|meta| meta.len());
            if found != Some(file.bytes) {
                let problem = match found {
                    None => format!("{} is missing", file.name),
                    Some(bytes) => format!("{} has {bytes} bytes instead of {}", file.name, file.bytes),
                };
                return Err(ModelError::Missing { name: name.into(), path, problem });
            }
        }
        Ok(ModelDir { name: name.into(), path })
    }

    /// The folder of a model, whether it is there or not.
    pub(super) fn folder(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// The folder in which files are collected until they are whole.
    pub(super) fn staging(&self, name: &str) -> PathBuf {
        self.root.join(format!(".{name}.partial"))
    }

    fn state(&self, name: &str) -> InstallState {
        if self.locate(name).is_ok() {
            InstallState::Installed
        } else if self.folder(name).exists() || self.staging(name).exists() {
            InstallState::Partial
        } else {
            InstallState::Absent
        }
    }
}

/// The model of a name.
pub(super) fn find(name: &str) -> Result<Known, ModelError> {
    match known().iter().find(|model| model.name == name) {
        Some(model) => Ok(Known::Published(model)),
        None => embedder_by_name(name).map(Known::OfHub),
    }
}

/// The embedding model of the hub that has a name, an alias or a repository.
///
/// # Errors
/// [`ModelError::Unknown`], with the names of all models.
pub fn embedder_by_name(name: &str) -> Result<&'static KnownEmbedder, ModelError> {
    embedders::find(name).ok_or_else(|| ModelError::Unknown { name: name.to_owned(), known: names() })
}

/// The names of all models, those that are made here and those of the hub too, with commas.
fn names() -> String {
    let own = known().iter().map(|model| model.name);
    let all = own.chain([STATIC]).chain(known_embedders().iter().map(|model| model.name));
    all.collect::<Vec<_>>().join(", ")
}

/// [`Models::list`] of the home folder that the environment names.
///
/// # Errors
/// [`ModelError::NoHome`].
pub fn list() -> Result<Vec<Listed>, ModelError> {
    Ok(Models::from_env()?.list())
}

/// [`Models::locate`] in the home folder that the environment names.
///
/// # Errors
/// As [`Models::locate`], and [`ModelError::NoHome`].
pub fn locate(name: &str) -> Result<ModelDir, ModelError> {
    Models::from_env()?.locate(name)
}

/// [`Models::static_vectors`] in the home folder that the environment names.
///
/// # Errors
/// As [`Models::static_vectors`], and [`ModelError::NoHome`].
pub fn static_vectors() -> Result<ModelDir, ModelError> {
    Models::from_env()?.static_vectors()
}

/// [`Models::verify`] in the home folder that the environment names.
///
/// # Errors
/// As [`Models::verify`], and [`ModelError::NoHome`].
pub fn verify(name: &str) -> Result<ModelDir, ModelError> {
    Models::from_env()?.verify(name)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{InstallState, ModelError, Models};

    #[test]
    fn a_missing_model_names_the_command_that_gets_it() {
        let home = tempfile::tempdir().unwrap();
        let models = Models::at(home.path());
        let text = models.locate("minilm").unwrap_err().to_string();
        assert!(text.contains("run `pericope models pull minilm`"), "{text}");
        assert!(text.contains("config.json is missing") && !text.contains('\n'), "{text}");
        assert_eq!(models.list()[0].state, InstallState::Absent);
    }

    #[test]
    fn a_file_of_the_wrong_size_is_no_model() {
        let home = tempfile::tempdir().unwrap();
        let models = Models::at(home.path());
        let dir = home.path().join("models/minilm");
        std::fs::create_dir_all(&dir).unwrap();
        std::fs::write(dir.join("config.json"), "{").unwrap();
        let text = models.locate("minilm").unwrap_err().to_string();
        assert!(text.contains("config.json has 1 bytes instead of 612"), "{text}");
        assert_eq!(models.list()[0].state, InstallState::Partial);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let home = tempfile::tempdir().unwrap();
        let error = Models::at(home.path()).locate("maxilm").unwrap_err();
        assert!(matches!(error, ModelError::Unknown { .. }));
        assert!(error.to_string().contains("minilm"), "{error}");
    }
}
