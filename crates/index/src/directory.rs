//! What lies in an index directory beside the folders of words and vectors, and where.

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use pericope_util::is_left_over;

use crate::engines::Snapshots;
use crate::manifest::MANIFEST_FILE;
use crate::meta::{META_FILE, META_TEMPORARY};
use crate::own::remove_old_vectors;
pub(crate) use crate::own::{text_path, vectors_path};
use crate::{IndexError, IndexMeta};

/// Locked by the writer, always there.
const LOCK_FILE: &str = "lock";
/// Written by earlier versions: there while points might exist that no commit of the full-text index named.
pub(crate) const PENDING_FILE: &str = "pending";

pub(crate) fn manifest_path(dir: &Path) -> PathBuf {
    dir.join(MANIFEST_FILE)
}

/// Opens the index in `dir` to read it.
pub(crate) fn open(dir: &Path, meta: &IndexMeta) -> Result<Snapshots, IndexError> {
    Snapshots::open(dir, &text_path(dir), &vectors_path(dir), meta)
}

/// Opens the index in `dir` for its one writer; makes what is missing.
pub(crate) fn open_or_create(dir: &Path, meta: &IndexMeta) -> Result<Snapshots, IndexError> {
    Snapshots::create_or_open(dir, &text_path(dir), &vectors_path(dir), meta)
}

/// True where a directory without metadata holds more than what a writer leaves that was stopped at its first step.
pub(crate) fn holds_something_else(dir: &Path) -> Result<bool, IndexError> {
    match fs::read_dir(dir) {
        Ok(mut entries) => {
            let ours =
                |name: &OsStr| name == LOCK_FILE || name == META_TEMPORARY || is_left_over(name, OsStr::new(META_FILE));
            Ok(entries.any(|entry| entry.is_ok_and(|entry| !ours(&entry.file_name()))))
        }
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(source) => Err(IndexError::Io { path: dir.to_owned(), source }),
    }
}

/// Becomes the directory's one writer, until the file is dropped.
pub(crate) fn lock(dir: &Path) -> Result<File, IndexError> {
    let path = dir.join(LOCK_FILE);
    let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(IndexError::io(&path))?;
    match pericope_util::try_lock(&file) {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(IndexError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(IndexError::Io { path, source }),
    }
}

/// Deletes what an earlier version left: its vectors, and its note that there may be more of them than chunks.
pub(crate) fn clear_old_vectors(dir: &Path) -> Result<(), IndexError> {
    remove_old_vectors(&vectors_path(dir))?;
    let pending = dir.join(PENDING_FILE);
    match fs::remove_file(&pending) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(IndexError::io(&pending)(error)),
        _ => Ok(()),
    }
}
