use std::path::{Path, PathBuf};

/// The errors of a model and of fetching it. Every message is one line and says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A name that Pericope does not know.
    #[error("there is no model {name:?}; known: {known}")]
    Unknown {
        /// The name asked for.
        name: String,
        /// The names that there are, with commas.
        known: String,
    },
    /// The model is not installed, or not wholly.
    #[error("the model {name} is not installed in {path} ({problem}): run `pericope models pull {name}`")]
    Missing {
        /// The model.
        name: String,
        /// The folder where it would be.
        path: PathBuf,
        /// The first thing that is wrong.
        problem: String,
    },
    /// A file is not the published one.
    #[error("{file} is damaged (SHA-256 {found}, expected {expected}): run `pericope models pull {model}`")]
    Checksum {
        /// The file.
        file: PathBuf,
        /// The published checksum, hexadecimal.
        expected: String,
        /// The checksum of what is there.
        found: String,
        /// The model that it belongs to.
        model: String,
    },
    /// A file that cannot be used: cut off, of another shape, of another kind.
    #[error("{file}: {reason}; if this is a model of Pericope's, `pericope models verify` tells whether it is damaged")]
    Unusable {
        /// The file.
        file: PathBuf,
        /// The fault, with the name of the tensor or field.
        reason: String,
    },
    /// The folder for a new model holds something that would be lost.
    #[error("{path}: {reason}: name a folder that is empty or not there")]
    Taken {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        reason: String,
    },
    /// A model that another library runs cannot be used.
    #[error("{0}")]
    External(String),
    /// A variable of the environment has a value that means nothing.
    #[error("{0}")]
    Setting(String),
    /// Files are needed, and the environment forbids the network.
    #[error(
        "the model {name} has to be fetched, but {variable} forbids the network: unset it and run `pericope models pull {name}`"
    )]
    Offline {
        /// The model.
        name: String,
        /// The variable that says so.
        variable: &'static str,
    },
    /// No source had the model.
    #[error(
        "cannot fetch the model {name}: {reasons}; what was fetched is kept, run `pericope models pull {name}` again"
    )]
    Pull {
        /// The model.
        name: String,
        /// The failure of each source, with semicolons.
        reasons: String,
    },
    /// Another process is fetching the same model.
    #[error("the model {name} is being fetched by another process (lock {lock}): wait for it")]
    Busy {
        /// The model.
        name: String,
        /// The lock file.
        lock: PathBuf,
    },
    /// Neither `PERICOPE_HOME` nor `HOME` is set.
    #[error("no folder for models: set PERICOPE_HOME")]
    NoHome,
    /// The file system.
    #[error("{path}: {source}")]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
}

impl ModelError {
    /// Returns what wraps an error of the file system about `path`.
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }

    /// Returns the error of a file that cannot be used, in one line.
    #[must_use]
    pub fn unusable(file: &Path, reason: impl ToString) -> Self {
        // Parsers put line ends into their messages; ours are one line.
        let reason = reason.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        Self::Unusable { file: file.to_owned(), reason }
    }
}
