//! Why the engine's files could not be written.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::IndexError;
use crate::guard::copy;

/// The first write that failed, in whichever thread: the engine's threads are not asked why they ended.
#[derive(Debug, Clone, Default)]
pub(super) struct Failures(Arc<OnceLock<(PathBuf, io::Error)>>);

impl Failures {
    /// Remembers why a file could not be written, where nothing failed before.
    pub fn keep<T>(&self, path: &Path, result: io::Result<T>) -> io::Result<T> {
        result.inspect_err(|error| drop(self.0.set((path.to_owned(), copy(error)))))
    }

    /// The first failure, with the path of its file.
    pub fn first(&self) -> Option<IndexError> {
        self.0.get().map(|(path, error)| IndexError::io(path)(copy(error)))
    }
}
