use std::path::{Path, PathBuf};

use super::home::{MODELS, home_folder};

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
    #[error("{file}: {reason}{}", hint(.file))]
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
        Self::Unusable { file: file.to_owned(), reason: one_line(&reason.to_string()) }
    }
}

/// What another library says, in one line: parsers put line ends into their messages, and candle a backtrace behind its own where
/// `RUST_BACKTRACE` is set.
pub(crate) fn one_line(said: &str) -> String {
    let said = said.lines().take_while(|line| !line.trim_start().starts_with("0: "));
    said.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// What is said behind a fault of a file that `models pull` got; nothing of a user's own.
fn hint(file: &Path) -> &'static str {
    match home_folder() {
        Some(home) if file.starts_with(home.join(MODELS)) => "; `pericope models verify` tells whether it is damaged",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{MODELS, ModelError, home_folder, one_line};

    #[test]
    fn what_others_say_is_one_line_without_a_backtrace() {
        let said =
            "tensor x: it is\n  cut off\n   0: candle_core::error::Error::bt\n             at /a/b.rs:3\n   1: main\n";
        assert_eq!(one_line(said), "tensor x: it is cut off");
        assert_eq!(one_line("expected 10: 3\nfound\t4"), "expected 10: 3 found 4");
    }

    #[test]
    fn models_that_were_pulled_can_be_verified() {
        let own = ModelError::unusable(Path::new("mine/model.safetensors"), "it is cut off");
        assert_eq!(own.to_string(), "mine/model.safetensors: it is cut off");
        let Some(home) = home_folder() else { return };
        let pulled = ModelError::unusable(&home.join(MODELS).join("minilm/model.safetensors"), "it is cut off");
        assert!(pulled.to_string().ends_with("it is cut off; `pericope models verify` tells whether it is damaged"));
    }
}
