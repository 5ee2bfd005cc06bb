//! The one place where what the full-text engine says becomes an error of ours, its panics included.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use pericope_util::short_line;
use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use crate::IndexError;
use crate::error::DamagedFile;

/// The longest account of a finding, in characters.
const LONGEST: usize = 200;

/// Does work with the full-text index in `text`. A panic within it becomes an error: the engine's checks are not all
/// errors.
pub(crate) fn guarded<T>(text: &Path, work: impl FnOnce() -> Result<T, IndexError>) -> Result<T, IndexError> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Err(IndexError::Text(error))) => Err(error_of_text(text, error)),
        Ok(outcome) => outcome,
        Err(panic) => {
            let said = panic.downcast_ref::<String>().map(String::as_str);
            let said = said.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("the engine gave up");
            Err(IndexError::corrupt(text, short(said)))
        }
    }
}

/// What the engine's error means.
pub(crate) fn error_of_text(text: &Path, error: TantivyError) -> IndexError {
    let missing = |path: &Path| IndexError::Missing { path: path.to_owned() };
    match error {
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(file)) => missing(&text.join(file)),
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, filepath }) => {
            IndexError::io(&text.join(filepath))(copy(&io_error))
        }
        TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, filepath }) => {
            IndexError::io(&text.join(filepath))(copy(&io_error))
        }
        TantivyError::OpenDirectoryError(OpenDirectoryError::DoesNotExist(folder)) => missing(&folder),
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => {
            IndexError::io(text)(copy(&io_error))
        }
        TantivyError::IoError(error) | TantivyError::LockFailure(LockError::IoError(error), _) => {
            IndexError::io(text)(copy(&error))
        }
        TantivyError::LockFailure(LockError::LockBusy, _) => {
            IndexError::Locked { dir: text.parent().unwrap_or(text).to_owned() }
        }
        error @ (TantivyError::InvalidArgument(_)
        | TantivyError::SystemError(_)
        | TantivyError::ErrorInThread(_)
        | TantivyError::Poisoned) => IndexError::Text(error),
        error => IndexError::corrupt(text, short(&error.to_string())),
    }
}

/// An error of the file system, which the engine shares between owners.
pub(crate) fn copy(error: &io::Error) -> io::Error {
    match (DamagedFile::within(error), error.raw_os_error()) {
        (Some(damaged), _) => damaged.clone().into_io(),
        (None, Some(code)) => io::Error::from_raw_os_error(code),
        (None, None) => io::Error::new(error.kind(), short(&error.to_string())),
    }
}

/// The engine's messages may run over several lines, and hold whole files; ours do not.
fn short(text: &str) -> String {
    short_line(text, LONGEST)
}
