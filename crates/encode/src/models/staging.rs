//! From the files that were collected to those of a model: what both ways of pulling share.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::error::ModelError;
use super::files::{Progress, Wanted, is_whole};

/// Leaves those that are not whole in `target`.
pub(super) fn drop_whole(
    needed: &mut Vec<Wanted>,
    target: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), ModelError> {
    let mut left = Vec::new();
    for file in needed.drain(..) {
        if is_whole(&target.join(&file.name), &file)? {
            progress(Progress::Ready(&file.name));
        } else {
            left.push(file);
        }
    }
    *needed = left;
    Ok(())
}

/// Moves the staged files that are whole into the model's folder; a staged file that is not is removed.
pub(super) fn place(
    needed: &mut Vec<Wanted>,
    staging: &Path,
    target: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), ModelError> {
    let mut left = Vec::new();
    for file in needed.drain(..) {
        let staged = staging.join(&file.name);
        if is_whole(&staged, &file)? {
            let place = target.join(&file.name);
            let folder = place.parent().unwrap_or(target);
            std::fs::create_dir_all(folder).map_err(ModelError::io(folder))?;
            std::fs::rename(&staged, &place).map_err(ModelError::io(&place))?;
            progress(Progress::Ready(&file.name));
            continue;
        }
        if staged.exists() {
            std::fs::remove_file(&staged).map_err(ModelError::io(&staged))?;
        }
        left.push(file);
    }
    *needed = left;
    Ok(())
}

pub(super) fn names(files: &[Wanted]) -> String {
    files.iter().map(|file| file.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// The variable that forbids the network, where one does.
pub(super) fn offline() -> Option<&'static str> {
    let says_yes = |name: &str| std::env::var(name).is_ok_and(|v| !matches!(v.as_str(), "" | "0" | "false" | "no"));
    ["PERICOPE_OFFLINE", "HF_HUB_OFFLINE"].into_iter().find(|name| says_yes(name))
}

/// Keeps a second pull of the same model out. The operating system frees the lock when the process ends.
pub(super) fn lock(root: &Path, name: &str) -> Result<File, ModelError> {
    let path = root.join(format!(".{name}.lock"));
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(ModelError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ModelError::Busy { name: name.into(), lock: path }),
        Err(TryLockError::Error(source)) => Err(ModelError::Io { path, source }),
    }
}
