use std::path::Path;
use std::sync::Arc;

use pericope_encode::ModelError;

use super::checkpoint::{CHECKPOINT, Checkpoint};
use super::judge::Judge;
use crate::model_cache::ModelCache;

/// The name of the checkpoint that comes with this crate.
pub(super) const SHIPPED: &str = "shipped";

/// What is said where there is no model.
pub const NO_MODEL: &str =
    "no judge comes with this version: make one with `pericope train judge --data ... --out DIR`, and name DIR";

/// The shipped checkpoint, a file, or `judge.safetensors` in a folder.
///
/// # Errors
/// [`ModelError`], naming the file; that none ships, and which command makes one.
pub fn open(name: &str) -> Result<Checkpoint, ModelError> {
    let path = Path::new(name);
    match name {
        SHIPPED => shipped(),
        _ if path.is_dir() => read(&path.join(CHECKPOINT)),
        _ => read(path),
    }
}

fn read(path: &Path) -> Result<Checkpoint, ModelError> {
    Checkpoint::read(path).map_err(|error| match error {
        ModelError::Io { path, source } if source.kind() == std::io::ErrorKind::NotFound => ModelError::External(
            format!("{} is not there: name the file or the --out folder of `pericope train judge`", path.display()),
        ),
        other => other,
    })
}

/// The model that comes with this crate.
fn shipped() -> Result<Checkpoint, ModelError> {
    Err(ModelError::External(NO_MODEL.into()))
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
    fn a_missing_model_names_the_command_that_makes_one() {
        for name in ["shipped", "nowhere.safetensors"] {
            let said = super::open(name).err().map(|error| error.to_string()).unwrap_or_default();
            assert!(said.contains("pericope train judge") && !said.contains('\n'), "{said}");
        }
    }
}
