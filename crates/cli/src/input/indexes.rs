//! Indexes that lie among documents: known by what their metadata says, not by a file's name.

use std::path::{Path, PathBuf};

use pericope_index::is_index;

use super::folders::Folders;
use crate::places::resolved;

/// Indexes in and below these paths.
pub fn indexes_below(roots: &[PathBuf]) -> Folders<'static> {
    Folders::below(roots, is_index)
}

/// The indexes that were met, without the one that is being written.
pub fn others(indexes: Folders<'_>, written: Option<&Path>) -> Vec<PathBuf> {
    let written = written.and_then(|dir| dir.canonicalize().ok());
    let mut met = indexes.met();
    met.retain(|index| written.is_none() || index.canonicalize().ok() != written);
    met
}

/// True for the files of an index: some folder above them is one.
pub fn inside_index(path: &Path) -> bool {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    resolved(&path).ancestors().skip(1).any(is_index)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn an_index_is_known_by_its_contents() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["real", "fake"] {
            std::fs::create_dir_all(at(name).join("deep")).unwrap();
        }
        let meta = "{\"format\": 2, \"segmenter\": \"s\", \"tokenizer\": \"t\", \"program\": \"0.1.0\"}";
        std::fs::write(at("real/pericope.json"), meta).unwrap();
        std::fs::write(at("fake/pericope.json"), "{}").unwrap();
        let mut indexes = indexes_below(&[folder.path().to_owned()]);
        assert!(indexes.hold(&at("real/deep/a.md")) && indexes.hold(&at("real/b.md")));
        assert!(!indexes.hold(&at("fake/deep/a.md")) && !indexes.hold(&at("c.md")));
        assert_eq!(others(indexes, None), [at("real")]);
        let mut indexes = indexes_below(&[at("real/deep")]);
        assert!(!indexes.hold(&at("real/deep/a.md")), "what was named is read");
        assert!(inside_index(&at("real/deep/a.md")) && !inside_index(&at("fake/a.md")));
    }
}
