use std::path::{Path, PathBuf};

use crate::data::DataError;

/// Why a run could not be finished.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The configuration asks for something that is not there.
    #[error("{0}")]
    Config(String),
    /// The question set cannot be read.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A chunker failed.
    #[error("chunker '{chunker}' failed on document '{document}': {problem}")]
    Chunker {
        /// Name of the chunker.
        chunker: String,
        /// Id of the document.
        document: String,
        /// What went wrong.
        problem: String,
    },
    /// The index failed.
    #[error("chunker '{chunker}': {source}")]
    Index {
        /// Name of the chunker.
        chunker: String,
        /// What the index said.
        source: pericope_store::StoreError,
    },
    /// The encoder failed.
    #[error(transparent)]
    Encoder(#[from] pericope_api::EncodeError),
    /// The judge gave impossible scores to answers whose score is known.
    #[error(
        "the judge cannot be trusted: {0}\nTo measure all the same, set `judge.checks = false`; to measure without a \
         judge, set `judge.kind = \"none\"`"
    )]
    Judge(String),
    /// Something that concerns every item that is left: a model that refuses the key, a spent budget. What is done is
    /// kept: `--resume` goes on.
    #[error("the run was stopped: {0}")]
    Stopped(String),
    /// A file of the run is not what the run wrote.
    #[error("{path}: {problem}; was something else writing there? `--resume` measures again what is missing")]
    Incomplete {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        problem: String,
    },
    /// The run's folder cannot be written, or another run writes there.
    #[error(transparent)]
    Folder(#[from] pericope_util::LockError),
    /// A file of the run cannot be written or read.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

impl RunError {
    pub(super) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| RunError::Io { path, source }
    }
}
