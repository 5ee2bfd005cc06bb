use std::path::Path;

use serde::{Deserialize, Serialize};

use super::error::ModelError;
use super::known::PublishedFile;

/// A file that is wanted: one whose checksum is known, or one that the hub names without.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Wanted {
    /// Name inside the model's folder, with forward slashes.
    pub name: String,
    /// Size.
    pub bytes: u64,
    /// SHA-256, hexadecimal, where it is known.
    pub sha256: Option<String>,
}

impl From<&PublishedFile> for Wanted {
    fn from(file: &PublishedFile) -> Self {
        Self { name: file.name.to_owned(), bytes: file.bytes, sha256: Some(file.sha256.to_owned()) }
    }
}

/// News of a pull.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress<'a> {
    /// A sentence for people: which source is tried, why the next one is.
    Note(&'a str),
    /// Part of a file has arrived.
    Bytes {
        /// The file's name.
        file: &'a str,
        /// The number of bytes that are here.
        done: u64,
        /// The size of the whole file in bytes.
        total: u64,
    },
    /// A file is here and its checksum is right.
    Ready(&'a str),
}

/// The SHA-256 of a file's content, hexadecimal.
///
/// # Errors
/// [`ModelError::Io`] where it cannot be read.
pub fn sha256_file(path: &Path) -> Result<String, ModelError> {
    pericope_util::sha256_file(path).map_err(ModelError::io(path))
}

/// True where `path` holds exactly the bytes that are wanted, as far as is known of them.
pub(super) fn is_whole(path: &Path, file: &Wanted) -> Result<bool, ModelError> {
    let size = std::fs::metadata(path).ok().map(|meta| meta.len());
    if size != Some(file.bytes) {
        return Ok(false);
    }
    match &file.sha256 {
        Some(sha256) => Ok(sha256_file(path)? == *sha256),
        None => Ok(true),
    }
}
