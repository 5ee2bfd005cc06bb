//! Models of the hub whose checksums are not known beforehand: what was fetched is recorded beside the files.

use std::path::Path;

use super::embedders::KnownEmbedder;
use super::error::ModelError;
use super::files::{Progress, Wanted, sha256_file};
use super::hub::Hub;
use super::record::{NEEDED, PICKLED, Record, WEIGHTS, WELCOME};
use super::staging::{drop_whole, lock, names, offline, place};
use super::store::{ModelDir, Models};

/// Gets a model of the hub, or what is missing or damaged of it.
pub(super) fn pull(
    models: &Models,
    model: &KnownEmbedder,
    hub: &Hub,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<ModelDir, ModelError> {
    let (target, staging) = (models.folder(model.name), models.staging(model.name));
    std::fs::create_dir_all(&models.root).map_err(ModelError::io(&models.root))?;
    let _lock = lock(&models.root, model.name)?;
    let failed = |reasons: String| ModelError::Pull { name: model.name.into(), reasons };

    let mut recorded = Record::read(&target);
    if let Some(record) = &recorded {
        let mut needed = record.files.clone();
        drop_whole(&mut needed, &target, progress)?;
        if needed.is_empty() {
            return models.locate(model.name);
        }
    }
    if let Some(variable) = offline() {
        return Err(ModelError::Offline { name: model.name.into(), variable });
    }
    // Weights that were made here are made anew, of what the repository has now.
    recorded = recorded.filter(|record| !record.converted);
    std::fs::create_dir_all(&staging).map_err(ModelError::io(&staging))?;
    let mut record = match recorded {
        Some(record) => record,
        None => listed(model, hub).map_err(failed)?,
    };
    let mut needed = record.files.clone();
    drop_whole(&mut needed, &target, &mut |_| {})?;
    let fetched = hub.fetch(&record.repository, &record.revision, &needed, &staging, progress);
    // What did arrive is moved into place even where the rest did not.
    place(&mut needed, &staging, &target, progress)?;
    fetched.map_err(failed)?;
    if !needed.is_empty() {
        return Err(failed(format!("{} is not the published file there", names(&needed))));
    }
    if record.converted {
        let weights = convert(&target)?;
        record.files.retain(|file| file.name != PICKLED);
        record.files.push(weights);
    }
    for file in &mut record.files {
        if file.sha256.is_none() {
            file.sha256 = Some(sha256_file(&target.join(&file.name))?);
        }
    }
    record.write(&target)?;
    std::fs::remove_dir_all(&staging).map_err(ModelError::io(&staging))?;
    models.locate(model.name)
}

/// What is to be fetched of a repository as it is now.
fn listed(model: &KnownEmbedder, hub: &Hub) -> Result<Record, String> {
    let listing = hub.list(model.hub)?;
    let find = |name: &str| listing.files.iter().find(|file| file.name == name).cloned();
    let missing = |name: &str| format!("{} has no {name}", model.hub);
    let mut files = Vec::new();
    for name in NEEDED {
        files.push(find(name).ok_or_else(|| missing(name))?);
    }
    files.extend(WELCOME.iter().filter_map(|name| find(name)));
    let weights = find(WEIGHTS).or_else(|| find(PICKLED)).ok_or_else(|| missing(WEIGHTS))?;
    let converted = weights.name == PICKLED;
    files.push(weights);
    Ok(Record { repository: model.hub.to_owned(), revision: listing.revision, files, converted })
}

/// Writes the tensors of a PyTorch file as safetensors, and removes it. Nothing in the file is run.
fn convert(folder: &Path) -> Result<Wanted, ModelError> {
    let (from, to) = (folder.join(PICKLED), folder.join(WEIGHTS));
    let unusable = |e: candle_core::Error| ModelError::unusable(&from, e);
    let tensors = candle_core::pickle::read_all(&from).map_err(unusable)?;
    let tensors: std::collections::HashMap<String, candle_core::Tensor> = tensors.into_iter().collect();
    // Written beside, and renamed: a model that is there is whole.
    let part = folder.join(format!("{WEIGHTS}.part"));
    candle_core::safetensors::save(&tensors, &part).map_err(unusable)?;
    std::fs::rename(&part, &to).map_err(ModelError::io(&to))?;
    std::fs::remove_file(&from).map_err(ModelError::io(&from))?;
    let bytes = std::fs::metadata(&to).map_err(ModelError::io(&to))?.len();
    Ok(Wanted { name: WEIGHTS.to_owned(), bytes, sha256: None })
}

#[cfg(test)]
mod tests;
