use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the history cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// A folder or file cannot be made, read or written.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The folder or file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is something else.
    #[error("{path} is no history of nights; move it away, or name another folder with --history DIR", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file was written by a newer program.
    #[error("{path} has schema {found}, this program knows {known}: it was written by a newer pericope; nothing was changed", path = path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its schema.
        found: i64,
        /// The newest schema known.
        known: i64,
    },
    /// The file holds the nights of another experiment.
    #[error("{path} is the history of '{found}', not of '{asked}'; name another folder with --history DIR", path = path.display())]
    OtherExperiment {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        found: String,
        /// Whose was asked for.
        asked: String,
    },
    /// There is no night of that number.
    #[error("{path} has no night {number}", path = path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// The number.
        number: u32,
    },
    /// Another night has that number.
    #[error("{path} has another night {number} already; import into an empty folder", path = path.display())]
    Taken {
        /// The file.
        path: PathBuf,
        /// The number.
        number: u32,
    },
    /// What is kept of a night is not what was written.
    #[error("{path}: night {number} is damaged ({problem}); restore a copy, or import an export into a new folder", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The night.
        number: u32,
        /// What is wrong.
        problem: String,
    },
    /// The file is damaged.
    #[error("{path} is damaged ({problem}); restore a copy, or import an export into a new folder", path = path.display())]
    Broken {
        /// The file.
        path: PathBuf,
        /// What SQLite found.
        problem: String,
    },
    /// The last night has the last number that there is.
    #[error("{path}: night {number} has the last number that there is; begin a history in another folder with --history DIR", path = path.display())]
    Exhausted {
        /// The file.
        path: PathBuf,
        /// The number.
        number: u32,
    },
    /// A line of an exported history is damaged.
    #[error("{path}, line {line}: {problem}", path = path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
    /// The database refused.
    #[error("cannot {what} ({path}): {source}{hint}", path = path.display())]
    Sql {
        /// The file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What SQLite said.
        source: rusqlite::Error,
        /// What to do.
        hint: &'static str,
    },
}

impl HistoryError {
    /// Wraps what SQLite said; its commonest reasons come with what to do.
    pub(super) fn sql(path: &Path, what: &'static str) -> impl Fn(rusqlite::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| {
            let code = source.sqlite_error_code();
            if code == Some(ErrorCode::NotADatabase) {
                return HistoryError::Foreign { path: path.clone() };
            }
            let hint = match code {
                Some(ErrorCode::DiskFull) => "; make room and run the same command again",
                Some(ErrorCode::SystemIoFailure) => {
                    "; is the disk full, or a quota reached? Make room and run the same command again"
                }
                Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
                    "; the folder and the file must be writable"
                }
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => "; another program holds it",
                Some(ErrorCode::DatabaseCorrupt) => {
                    "; the file is damaged: restore a copy, or import an export into a new folder"
                }
                _ => "",
            };
            HistoryError::Sql { path: path.clone(), what, source, hint }
        }
    }

    /// True where the caller named something that cannot be right, rather than the system failing.
    #[must_use]
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            HistoryError::Foreign { .. }
                | HistoryError::Newer { .. }
                | HistoryError::OtherExperiment { .. }
                | HistoryError::Missing { .. }
                | HistoryError::Taken { .. }
                | HistoryError::Line { .. }
        )
    }
}
