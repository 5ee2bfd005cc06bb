//! The checkpoint that comes with this crate.

use std::path::Path;

use super::checkpoint::Checkpoint;
use crate::models::ModelError;

const BYTES: &[u8] = include_bytes!("../../weights/weswin.safetensors");

/// WeSWin-Ret on all-MiniLM-L6-v2, trained for this crate; see `weights/README.md`.
///
/// # Errors
/// None, unless the crate was built from a damaged file.
pub fn shipped() -> Result<Checkpoint, ModelError> {
    Checkpoint::from_bytes(Path::new("weswin.safetensors (shipped)"), BYTES)
}
