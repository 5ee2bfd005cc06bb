//! Two nights never overlap.

use std::path::Path;

use pericope_util::{FolderLock, LockError};

use super::NightlyError;

/// The lock of a history's folder, held while a night runs.
#[derive(Debug)]
pub struct Lock(FolderLock);

impl Lock {
    /// Takes the lock of a history's folder, which is made where it is missing.
    ///
    /// # Errors
    /// [`NightlyError::Locked`] where another process holds it, [`NightlyError::Io`] where the folder cannot be written.
    pub fn take(dir: &Path) -> Result<Self, NightlyError> {
        match FolderLock::take(dir) {
            Ok(lock) => Ok(Self(lock)),
            Err(LockError::Held { path, who }) => Err(NightlyError::Locked { path, who }),
            Err(LockError::Io { path, source }) => Err(NightlyError::Io { path, source }),
        }
    }

    /// The history's folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.0.folder()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Lock;

    #[test]
    fn one_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let held = Lock::take(dir.path()).unwrap();
        let refused = Lock::take(dir.path()).unwrap_err().to_string();
        assert!(refused.contains(&format!("process {}, since 2", std::process::id())), "{refused}");
        assert!(refused.contains("two nights never overlap"));
        drop(held);
        Lock::take(dir.path()).unwrap();
    }
}
