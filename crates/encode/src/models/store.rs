use std::path::{Path, PathBuf};

use super::error::ModelError;
use super::files::sha256_file;
use super::known::{PublishedModel, known, names};

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

/// A line of `pericope models list`.
#[derive(Debug, Clone)]
pub struct Listed {
    /// The model's name.
    pub name: &'static str,
    /// Its purpose in a few words, with language, sizes and licence.
    pub purpose: &'static str,
    /// Bytes of its files together.
    pub bytes: u64,
    /// The folder where it is, or would be.
    pub path: PathBuf,
    /// Whether it is there.
    pub state: InstallState,
}

/// Returns the folder of the user's files: `$PERICOPE_HOME`, or else the XDG data folder's `pericope`.
///
/// # Errors
/// [`ModelError::NoHome`] where none of the variables that say so is set.
pub fn home() -> Result<PathBuf, ModelError> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("PERICOPE_HOME")
        .or_else(|| set("XDG_DATA_HOME").map(|data| data.join("pericope")))
        .or_else(|| set("HOME").map(|home| home.join(".local/share/pericope")))
        .ok_or(ModelError::NoHome)
}

/// The models of one home folder.
#[derive(Debug, Clone)]
pub struct Models {
    pub(super) root: PathBuf,
}

impl Models {
    /// The models under `home/models`.
    #[must_use]
    pub fn at(home: &Path) -> Self {
        Self { root: home.join("models") }
    }

    /// The models of `$PERICOPE_HOME`, or else of the XDG data folder (`$XDG_DATA_HOME/pericope`,
    /// `~/.local/share/pericope`).
    ///
    /// # Errors
    /// [`ModelError::NoHome`] where none of these variables is set.
    pub fn from_env() -> Result<Self, ModelError> {
        Ok(Self::at(&home()?))
    }

    /// The models that Pericope knows, and whether they are here.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        let row = |model: &'static PublishedModel| Listed {
            name: model.name,
            purpose: model.purpose,
            bytes: model.files.iter().map(|file| file.bytes).sum(),
            path: self.folder(model),
            state: self.state(model),
        };
        known().iter().map(row).collect()
    }

    /// The folder of an installed model. Quick: looks at names and sizes alone.
    ///
    /// # Errors
    /// [`ModelError::Unknown`] for a name that is not on the list, [`ModelError::Missing`] where files are missing or
    /// have the wrong size.
    pub fn locate(&self, name: &str) -> Result<ModelDir, ModelError> {
        self.locate_known(find(name)?)
    }

    /// Reads every file of an installed model and compares its SHA-256 with the published one.
    ///
    /// # Errors
    /// As [`Models::locate`]; [`ModelError::Checksum`] for the first file that differs; [`ModelError::Io`].
    pub fn verify(&self, name: &str) -> Result<ModelDir, ModelError> {
        let model = find(name)?;
        let dir = self.locate_known(model)?;
        for file in model.files {
            let path = dir.file(file.name);
            let found = sha256_file(&path)?;
            if found != file.sha256 {
                return Err(ModelError::Checksum {
                    file: path,
                    expected: file.sha256.into(),
                    found,
                    model: name.into(),
                });
            }
        }
        Ok(dir)
    }

    pub(super) fn locate_known(&self, model: &PublishedModel) -> Result<ModelDir, ModelError> {
        let path = self.folder(model);
        for file in model.files {
            let found = std::fs::metadata(path.join(file.name)).ok().map(|meta| meta.len());
            if found != Some(file.bytes) {
                let problem = match found {
                    None => format!("{} is missing", file.name),
                    Some(bytes) => format!("{} has {bytes} bytes instead of {}", file.name, file.bytes),
                };
                return Err(ModelError::Missing { name: model.name.into(), path, problem });
            }
        }
        Ok(ModelDir { name: model.name.into(), path })
    }

    /// The folder of a model, whether it is there or not.
    pub(super) fn folder(&self, model: &PublishedModel) -> PathBuf {
        self.root.join(model.name)
    }

    /// The folder in which files are collected until they are whole.
    pub(super) fn staging(&self, model: &PublishedModel) -> PathBuf {
        self.root.join(format!(".{}.partial", model.name))
    }

    fn state(&self, model: &PublishedModel) -> InstallState {
        if self.locate_known(model).is_ok() {
            InstallState::Installed
        } else if self.folder(model).exists() || self.staging(model).exists() {
            InstallState::Partial
        } else {
            InstallState::Absent
        }
    }
}

/// The published model of a name.
pub(super) fn find(name: &str) -> Result<&'static PublishedModel, ModelError> {
    known()
        .iter()
        .find(|model| model.name == name)
        .ok_or_else(|| ModelError::Unknown { name: name.into(), known: names() })
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
