use std::path::Path;

use super::error::ModelError;
use super::known::PublishedFile;

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

/// True where `path` holds exactly the published bytes.
pub(super) fn is_whole(path: &Path, file: PublishedFile) -> Result<bool, ModelError> {
    let size = std::fs::metadata(path).ok().map(|meta| meta.len());
    Ok(size == Some(file.bytes) && sha256_file(path)? == file.sha256)
}
