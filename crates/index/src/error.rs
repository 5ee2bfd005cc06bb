use std::path::{Path, PathBuf};

use pericope_store::{ErrorKind, StoreError};
use pericope_util::one_line;

/// The reason why an index could not be opened, written or searched. Every message is one line that says what to do, where
/// something can be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// There is no index in the directory.
    #[error("{} is not an index; `pericope index PATH --into {}` makes one", dir.display(), dir.display())]
    NotAnIndex {
        /// The directory.
        dir: PathBuf,
    },
    /// The index was begun, and nothing was committed yet.
    #[error("{} holds nothing yet: its first run has not got that far, or was broken off; run `pericope index` again", dir.display())]
    Unfinished {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory holds something else.
    #[error("{} is not empty and not an index; name another directory", dir.display())]
    NotEmpty {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory has a `pericope.json` that is no index's.
    #[error("{} is not an index of Pericope: something else wrote its pericope.json; name another directory", dir.display())]
    Foreign {
        /// The directory.
        dir: PathBuf,
    },
    /// The path of the directory is empty.
    #[error("the path of the index is empty; name a directory")]
    NoPath,
    /// The index was made with another segmenter, embedder, tokenizer or option.
    #[error("{} was built with {what} `{found}`, not `{asked}`; ask for that one, use another directory or `--rebuild`", dir.display())]
    Mismatch {
        /// The directory.
        dir: PathBuf,
        /// The ingredient that differs: `segmenter`, `segmenter weights`, `embedder`, `tokenizer`, `heading prefix`, `late chunking`.
        what: &'static str,
        /// The index's value.
        found: String,
        /// The caller's value.
        asked: String,
    },
    /// The index was written in another format.
    #[error("{} has {what} {found}, this program reads {known}; index again with `--rebuild`", dir.display())]
    Format {
        /// The directory.
        dir: PathBuf,
        /// The thing that has a version: `index format`, `text analyzer`.
        what: &'static str,
        /// The index's version.
        found: String,
        /// The version that this program writes.
        known: String,
    },
    /// Another writer has the directory.
    #[error("{} is being written by another process; wait for it to end, or use another directory", dir.display())]
    Locked {
        /// The directory.
        dir: PathBuf,
    },
    /// Dense search on an index with the vectors of an earlier version.
    #[error("{} holds vectors of an earlier version, which this version does not read; run `pericope index` on its files again, which embeds them, or search with `--mode bm25`", dir.display())]
    OldVectors {
        /// The directory.
        dir: PathBuf,
    },
    /// Dense search on an index without vectors.
    #[error("{} was built without an embedder, so it knows no dense search; use `--mode bm25`, or index again with `--embedder minilm --rebuild`", dir.display())]
    NoVectors {
        /// The directory.
        dir: PathBuf,
    },
    /// Files that do not fit together, or cannot be read as what they should be.
    #[error("{} is damaged: {reason}; index again with `--rebuild`", path.display())]
    Corrupt {
        /// The file or folder.
        path: PathBuf,
        /// The finding, in one line.
        reason: String,
    },
    /// A file of the index is not there.
    #[error("{} is missing, so the index is damaged; index again with `--rebuild`", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// There is no room for more.
    #[error("{}: the disk is full; the index is as it was at its last commit: make room and run the same command again", path.display())]
    Full {
        /// The file or folder.
        path: PathBuf,
    },
    /// The file system said no.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },
    /// The full-text engine failed.
    #[error("full-text index: {0}")]
    Text(#[from] tantivy::TantivyError),
    /// Vectors that do not fit the index.
    #[error("vectors in {}: {reason}", path.display())]
    Vectors {
        /// The folder of the vectors.
        path: PathBuf,
        /// The finding, in one line.
        reason: String,
    },
    /// A file of the manifest or of the embedding cache cannot be opened, read or written.
    #[error("{}: {reason}; it may be deleted, and is made again", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// The database's words.
        reason: String,
    },
    /// A failure that every store may have.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<IndexError> for StoreError {
    fn from(error: IndexError) -> Self {
        let kind = match error {
            IndexError::Store(error) => return error,
            IndexError::NotAnIndex { .. } | IndexError::Unfinished { .. } => ErrorKind::NotFound,
            IndexError::NotEmpty { .. } | IndexError::Foreign { .. } => ErrorKind::NotAStore,
            IndexError::NoPath => ErrorKind::Address,
            IndexError::Mismatch { .. } => ErrorKind::Mismatch,
            IndexError::Format { .. } | IndexError::OldVectors { .. } => ErrorKind::Format,
            IndexError::Locked { .. } => ErrorKind::Busy,
            IndexError::NoVectors { .. } => ErrorKind::NoVectors,
            IndexError::Corrupt { .. } | IndexError::Missing { .. } => ErrorKind::Damaged,
            IndexError::Full { .. }
            | IndexError::Io { .. }
            | IndexError::Text(_)
            | IndexError::Vectors { .. }
            | IndexError::Database { .. } => ErrorKind::Other,
        };
        StoreError::backend(kind, error)
    }
}

impl IndexError {
    /// Wraps the file system's error together with the path. A full disk and contents that are not what they should be
    /// have errors of their own.
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> IndexError {
        use std::io::ErrorKind::{InvalidData, QuotaExceeded, StorageFull, UnexpectedEof};
        let path = path.to_owned();
        move |source| match (DamagedFile::within(&source), source.kind()) {
            (Some(DamagedFile { path, reason }), _) => IndexError::corrupt(path, *reason),
            (None, StorageFull | QuotaExceeded) => IndexError::Full { path },
            (None, InvalidData | UnexpectedEof) => IndexError::Corrupt { path, reason: source.to_string() },
            (None, _) => IndexError::Io { path, source },
        }
    }

    /// Wraps what the database said together with the path.
    pub(crate) fn database(path: &Path, error: &rusqlite::Error) -> IndexError {
        /// The file that readers and writers of a database share could not be made larger (SQLITE_IOERR_SHMSIZE).
        const NO_ROOM_TO_SHARE: i32 = 4874;
        let code = error.sqlite_error().map(|error| (error.code, error.extended_code));
        if matches!(code, Some((rusqlite::ErrorCode::DiskFull, _) | (_, NO_ROOM_TO_SHARE))) {
            return IndexError::Full { path: path.to_owned() };
        }
        IndexError::Database { path: path.to_owned(), reason: one_line(&error.to_string()) }
    }

    /// Files that do not fit together.
    pub(crate) fn corrupt(path: &Path, reason: impl Into<String>) -> IndexError {
        IndexError::Corrupt { path: path.to_owned(), reason: reason.into() }
    }
}

/// A file that does not have its checksum, in an error of the file system: the full-text engine passes those on, and with
/// them which file it is.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{reason}")]
pub(crate) struct DamagedFile {
    pub path: PathBuf,
    pub reason: &'static str,
}

impl DamagedFile {
    /// The file that an error of the file system is about.
    pub fn within(error: &std::io::Error) -> Option<&Self> {
        error.get_ref().and_then(|inner| inner.downcast_ref())
    }

    pub fn into_io(self) -> std::io::Error {
        std::io::Error::new(std::io::ErrorKind::InvalidData, self)
    }
}
