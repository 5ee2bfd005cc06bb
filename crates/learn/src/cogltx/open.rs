use std::sync::Arc;

use pericope_encode::ModelError;

use super::checkpoint::{CHECKPOINT, Checkpoint};
use super::judge::Judge;
use crate::model_cache::ModelCache;

/// The shipped checkpoint, a file, or `judge.safetensors` in a folder.
///
/// # Errors
/// [`ModelError`], naming the file, or the command that makes it.
pub fn open(name: &str) -> Result<Checkpoint, ModelError> {
    Checkpoint::named(name, CHECKPOINT, shipped).map_err(|error| match error {
        ModelError::Io { path, source } if source.kind() == std::io::ErrorKind::NotFound => ModelError::External(
            format!("{} is not there: name the file or the --out folder of `pericope train judge`", path.display()),
        ),
        other => other,
    })
}

/// The judge on all-MiniLM-L6-v2, trained for this project; its card is the README of `pericope-weights-judge`.
///
/// # Errors
/// None, unless the program was built from a damaged file.
pub fn shipped() -> Result<Checkpoint, ModelError> {
    Checkpoint::shipped(CHECKPOINT, pericope_weights_judge::BYTES, pericope_weights_judge::SHA256)
}

/// The checksum of [`shipped`], hexadecimal.
#[must_use]
pub fn shipped_sha256() -> &'static str {
    pericope_weights_judge::SHA256
}

/// By checksum: a file that changed is another model.
static LOADED: ModelCache<Judge> = ModelCache::new();

/// The judge of [`open`], loaded once.
pub(super) fn loaded(name: &str) -> Result<Arc<Judge>, ModelError> {
    let checkpoint = open(name)?;
    LOADED.get(checkpoint.sha256(), || Judge::load(&checkpoint, &pericope_encode::best_device()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_shipped_model_is_whole() {
        let shipped = super::open("shipped");
        assert!(shipped.is_ok_and(|checkpoint| checkpoint.settings.base == "minilm"));
    }

    #[test]
    fn a_missing_model_names_the_command_that_makes_one() {
        let said = super::open("nowhere.safetensors").err().map(|error| error.to_string()).unwrap_or_default();
        assert!(said.contains("pericope train judge") && !said.contains('\n'), "{said}");
    }
}
