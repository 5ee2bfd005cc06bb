//! Errors of reading and writing reports.

use std::path::{Path, PathBuf};

use pericope_eval::record::ItemError;

/// Why a report could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A file is missing or cannot be read.
    #[error("cannot read {path}: {source}{hint}", path = path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
        /// Advice to the user; empty where there is none.
        hint: &'static str,
    },
    /// A file is not what it should be.
    #[error("{path}, line {line}: {source}", path = path.display())]
    Parse {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// The error there.
        source: serde_json::Error,
    },
    /// An item is not where the run wrote it.
    #[error("{path}, byte {offset}: {source}", path = path.display())]
    Moved {
        /// The file.
        path: PathBuf,
        /// The byte at which its line should begin.
        offset: u64,
        /// The error there.
        source: serde_json::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl From<ItemError> for ReportError {
    fn from(error: ItemError) -> Self {
        match error {
            ItemError::Io { path, source } => Self::read(&path, source),
            ItemError::Line { path, line, source } => Self::Parse { path, line, source },
            ItemError::Moved { path, offset, source } => Self::Moved { path, offset, source },
        }
    }
}

impl ReportError {
    pub(super) fn read(path: &Path, source: std::io::Error) -> Self {
        let hint = if source.kind() == std::io::ErrorKind::NotFound {
            " (give the folder of a finished run; `pericope eval run CONFIG --resume` finishes one that was cut off)"
        } else {
            ""
        };
        Self::Read { path: path.to_owned(), source, hint }
    }

    pub(crate) fn write(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Write { path, source }
    }
}
