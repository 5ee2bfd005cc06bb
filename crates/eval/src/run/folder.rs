//! The folder of a run.

use std::fs;
use std::path::{Path, PathBuf};

use pericope_util::{FolderLock, LockError, StagedFile};

use crate::record::ITEMS;

/// Where a chunker's index is kept while it is measured.
pub(super) const INDEX: &str = "index.tmp";

/// The folder of a run, which no other run may write into as long as this is held.
#[derive(Debug)]
pub struct RunFolder(FolderLock);

impl RunFolder {
    /// Takes a folder, which is made where it is missing. What a run that was killed left half written is removed.
    ///
    /// # Errors
    /// [`LockError`] where another run holds it, or where it cannot be written.
    pub fn take(path: &Path) -> Result<Self, LockError> {
        let folder = Self(FolderLock::take(path)?);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| LockError::Io { path, source }
        };
        for file in [folder.record(), folder.summary(), folder.items(), folder.chunkers()] {
            StagedFile::remove_left_over(&file).map_err(failed(&file))?;
        }
        let index = path.join(INDEX);
        match fs::remove_dir_all(&index) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(failed(&index)(e)),
            _ => Ok(folder),
        }
    }

    /// The folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.folder()
    }

    pub(super) fn pairwise(&self) -> PathBuf {
        self.path().join("pairwise.jsonl")
    }

    pub(super) fn record(&self) -> PathBuf {
        self.path().join("run.json")
    }

    pub(super) fn summary(&self) -> PathBuf {
        self.path().join("summary.json")
    }

    pub(super) fn items(&self) -> PathBuf {
        self.path().join(ITEMS)
    }

    pub(super) fn chunkers(&self) -> PathBuf {
        self.path().join("chunkers.jsonl")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_a_killed_run_left_is_removed() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("index.tmp/text")).unwrap();
        for name in ["run.json.abcdef.unfinished", "items.jsonl", "notes.txt"] {
            fs::write(at(name), "x").unwrap();
        }
        let held = RunFolder::take(root.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(root.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["items.jsonl", "lock", "notes.txt"]);
        assert!(RunFolder::take(root.path()).is_err());
        drop(held);
        RunFolder::take(root.path()).unwrap();
    }
}
