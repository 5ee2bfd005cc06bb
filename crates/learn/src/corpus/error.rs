use std::io;
use std::path::{Path, PathBuf};

use pericope_api::EncodeError;
use pericope_util::{LockError, shown_path, visible_line};

/// The characters of a text that an error shows.
const SHOWN: usize = 60;

/// Why training data cannot be read, or its vectors not be made or found.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// A file or a folder that the system does not give.
    #[error("{}: {source}", shown_path(path))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process writes into the folder.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The encoder failed.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The encoder gave a number that is none.
    #[error("the vector of {text:?} holds a number that is none, or is beyond half precision")]
    NotFinite {
        /// The beginning of the text.
        text: String,
    },
    /// No document can be read.
    #[error("{}: {problem}", shown_path(path))]
    Nothing {
        /// The file or folder.
        path: PathBuf,
        /// What is there instead.
        problem: String,
    },
    /// The folder holds the vectors of another encoder.
    #[error("{} holds vectors of {stored}, and these would be of {given}: name another folder", shown_path(folder))]
    OtherEncoder {
        /// The folder.
        folder: PathBuf,
        /// The fingerprint of the encoder that its vectors are of.
        stored: String,
        /// The fingerprint of the encoder at hand.
        given: String,
    },
    /// The folder holds no vectors, or in a format that is not known.
    #[error("{}: {reason}", shown_path(path))]
    NotVectors {
        /// The folder, or the file in it.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of vectors is damaged.
    #[error(
        "{}: {reason}; `pericope train embed` with the same --data and --out makes what is damaged anew",
        shown_path(path)
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        reason: String,
    },
    /// A text was never embedded.
    #[error(
        "{} holds no vector of {text:?}: run `pericope train embed --out {}` with the --data that it is of",
        shown_path(folder),
        shown_path(folder)
    )]
    Missing {
        /// The folder of the vectors.
        folder: PathBuf,
        /// The beginning of the text.
        text: String,
    },
    /// The options contradict each other, or the data.
    #[error("{0}")]
    Options(String),
}

impl CorpusError {
    /// Returns true where the user can mend it before anything runs.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        match self {
            Self::OtherEncoder { .. }
            | Self::Nothing { .. }
            | Self::NotVectors { .. }
            | Self::Missing { .. }
            | Self::Options(_) => true,
            Self::Io { source, .. } => source.kind() == io::ErrorKind::NotFound,
            _ => false,
        }
    }

    /// An error of the system about `path`.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}

/// The beginning of a text, on one line, as errors show it.
pub(crate) fn beginning(text: &str) -> String {
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    visible_line(&shown).into_owned()
}
