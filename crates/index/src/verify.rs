//! All files of an index, read and checked.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::build::{home, serving};
use crate::directory::manifest_path;
use crate::engines::TextIndex;
use crate::guard::guarded;
use crate::manifest::Manifest;
use crate::vectors::VectorSet;
use crate::{IndexError, IndexMeta, directory};

/// How often what seems to be damaged is looked at.
const ATTEMPTS: usize = 3;

/// What reading all files of an index showed.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Verified {
    /// What is damaged; each names the file and what to do.
    pub damaged: Vec<IndexError>,
    /// The number of chunks that have no vector, though the index has vectors: those that an earlier version embedded,
    /// and whose files have not been indexed since.
    pub without_vectors: u64,
}

/// Reads all files of the index in `dir` and compares them with their checksums, words with vectors, and asks the manifest
/// whether it is whole. Nothing is changed. A writer may be at work: what is checked is its last commit.
///
/// # Errors
/// [`IndexError::NotAnIndex`] and [`IndexError::Format`], and where the file system says no. Damage is no error.
pub fn verify(dir: &Path) -> Result<Verified, IndexError> {
    let mut verified = Verified::default();
    // What a writer replaced meanwhile looks like damage, and does so once.
    for _ in 0..ATTEMPTS {
        verified = words_and_vectors(dir)?;
        if verified.damaged.is_empty() {
            break;
        }
    }
    verified.damaged.extend(Manifest::verify(&manifest_path(&home(dir, serving(dir)?)))?);
    Ok(verified)
}

fn words_and_vectors(dir: &Path) -> Result<Verified, IndexError> {
    let mut verified = Verified::default();
    match look(dir, &mut verified) {
        Err(error) if error.damaged_file().is_some() => verified.damaged.push(error),
        outcome => outcome?,
    }
    Ok(verified)
}

/// Each file by itself first, so that each that is damaged is named; then whether words and vectors belong together.
fn look(dir: &Path, verified: &mut Verified) -> Result<(), IndexError> {
    let meta = IndexMeta::read(dir)?;
    let home = home(dir, meta.build);
    let (text, vectors) = (directory::text_path(&home), directory::vectors_path(&home));
    let (committed, damaged) = guarded(&text, || TextIndex::verify(&text))?;
    verified.damaged.extend(damaged);
    if let (Some(embedder), Some(id)) = (&meta.embedder, committed.vectors) {
        match VectorSet::open(&vectors, id, embedder.dimension, None)? {
            Some(set) => verified.damaged.extend(set.verify()),
            None => return Err(IndexError::corrupt(&vectors, "the vectors of the last commit are missing")),
        }
    }
    if !verified.damaged.is_empty() {
        return Ok(());
    }
    let snapshots = directory::open(&home, &meta)?;
    let snapshot = snapshots.current();
    let set = match snapshots.vectors(&snapshot) {
        Err(IndexError::OldVectors { .. }) => {
            verified.without_vectors = snapshot.chunks();
            return Ok(());
        }
        opened => opened?,
    };
    let Some(set) = set else { return Ok(()) };
    let chunks = guarded(&text, || snapshots.text.all_points(&snapshot.searcher))?;
    let points: HashSet<_> = set.all_points()?.into_iter().collect();
    let strays = points.difference(&chunks).count();
    if strays > 0 {
        verified.damaged.push(IndexError::corrupt(&vectors, format!("{strays} vectors are of no chunk")));
    }
    verified.without_vectors = chunks.difference(&points).count() as u64;
    Ok(())
}

impl IndexError {
    /// Returns the file or folder that is damaged, where that is what the error says.
    #[must_use]
    pub fn damaged_file(&self) -> Option<PathBuf> {
        match self {
            Self::Corrupt { path, .. } | Self::Missing { path } | Self::Database { path, .. } => Some(path.clone()),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::META_FILE;

    #[test]
    fn what_is_no_index_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        assert!(matches!(verify(dir.path()), Err(IndexError::NotAnIndex { .. })));
        std::fs::write(dir.path().join(META_FILE), "{\"format\": 77}").unwrap();
        assert!(matches!(verify(dir.path()), Err(IndexError::Format { .. })));
    }
}
