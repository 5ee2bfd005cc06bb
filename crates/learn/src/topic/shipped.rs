use std::path::Path;

use pericope_encode::ModelError;

use super::checkpoint::Checkpoint;

/// The model that comes with this crate: none yet.
///
/// # Errors
/// [`ModelError::Unusable`], which says how to make one.
pub fn shipped() -> Result<Checkpoint, ModelError> {
    let reason = "no model of it ships: train one (`pericope train topic`), and name it with model=DIR";
    Err(ModelError::unusable(Path::new("topic.safetensors (shipped)"), reason))
}
