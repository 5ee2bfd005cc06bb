//! What lies in an index directory beside the two engines' folders, and where.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope_util::sync_folder;

use crate::engines::{TextIndex, VectorStore};
use crate::manifest::MANIFEST_FILE;
use crate::meta::{META_FILE, META_TEMPORARY};
use crate::own::remove_vectors;
pub(crate) use crate::own::{text_path, vectors_path};
use crate::{IndexError, IndexMeta};

/// Locked by the writer, always there.
const LOCK_FILE: &str = "lock";
/// There while points may exist that no commit of the full-text index names.
pub(crate) const PENDING_FILE: &str = "pending";

pub(crate) fn manifest_path(dir: &Path) -> PathBuf {
    dir.join(MANIFEST_FILE)
}

/// Opens the vectors of an index that has them, and checks that there is one for each chunk.
pub(crate) fn open_vectors(
    dir: &Path,
    meta: &IndexMeta,
    text: &TextIndex,
    create: bool,
) -> Result<Option<Arc<VectorStore>>, IndexError> {
    let Some(embedder) = &meta.embedder else { return Ok(None) };
    let path = vectors_path(dir);
    let chunks = text.chunks();
    let fresh = create && chunks == 0;
    let store = match VectorStore::open(dir, &path, embedder.dimension, fresh) {
        // A writer was stopped while it made the folder, before the first commit: there is nothing to lose in it.
        Err(IndexError::Corrupt { .. }) if fresh => {
            remove_vectors(&path)?;
            VectorStore::open(dir, &path, embedder.dimension, fresh)?
        }
        opened => opened?,
    };
    let points = store.len()?;
    if points < chunks {
        return Err(IndexError::corrupt(&path, format!("there are {points} vectors for {chunks} chunks")));
    }
    Ok(Some(store))
}

/// True where a directory without metadata holds more than what a writer leaves that was stopped at its first step.
pub(crate) fn holds_something_else(dir: &Path) -> Result<bool, IndexError> {
    match fs::read_dir(dir) {
        Ok(mut entries) => {
            let ours = |name: &std::ffi::OsStr| {
                let unfinished = |name: &str| {
                    name.strip_prefix(META_FILE)
                        .is_some_and(|rest| rest.starts_with('.') && rest.ends_with(".unfinished"))
                };
                name == LOCK_FILE || name == META_TEMPORARY || name.to_str().is_some_and(unfinished)
            };
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
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(IndexError::Locked { dir: dir.to_owned() }),
        Err(TryLockError::Error(source)) => Err(IndexError::Io { path, source }),
    }
}

pub(crate) fn set_pending(dir: &Path) -> Result<(), IndexError> {
    let path = dir.join(PENDING_FILE);
    if path.exists() {
        return Ok(());
    }
    let create = || File::create(&path)?.sync_all().and_then(|()| sync_folder(dir));
    create().map_err(IndexError::io(&path))
}

pub(crate) fn clear_pending(dir: &Path) -> Result<(), IndexError> {
    let path = dir.join(PENDING_FILE);
    match fs::remove_file(&path) {
        Err(source) if source.kind() != std::io::ErrorKind::NotFound => Err(IndexError::Io { path, source }),
        _ => Ok(()),
    }
}
