//! Indexes that lie among documents: known by what their metadata says, not by a file's name.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use pericope_index::is_index;

use crate::places::resolved;

/// The indexes that files were looked for in.
pub struct Indexes {
    /// The folders that were named, which may be indexes themselves; what lies above them is nobody's business here.
    roots: HashSet<PathBuf>,
    /// The outermost index that a folder lies in, of those folders that were asked for.
    known: HashMap<PathBuf, Option<PathBuf>>,
}

impl Indexes {
    /// Indexes in and below these paths.
    pub fn below(roots: &[PathBuf]) -> Self {
        Self { roots: roots.iter().cloned().collect(), known: HashMap::new() }
    }

    /// True for a file of an index. One that is named itself is none.
    pub fn hold(&mut self, path: &Path) -> bool {
        !self.roots.contains(path) && path.parent().is_some_and(|folder| self.around(folder).is_some())
    }

    /// The outermost index, from the root that the folder lies below.
    fn around(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let is_root = self.roots.contains(folder);
        let above = match folder.parent().filter(|above| !is_root && self.is_below(above)) {
            Some(above) => self.around(above),
            None => None,
        };
        let found = above.or_else(|| (self.is_below(folder) && is_index(folder)).then(|| folder.to_owned()));
        self.known.insert(folder.to_owned(), found.clone());
        found
    }

    fn is_below(&self, folder: &Path) -> bool {
        folder.ancestors().any(|above| self.roots.contains(above))
    }

    /// The indexes that were met, sorted, without the one that is being written.
    pub fn met(self, written: Option<&Path>) -> Vec<PathBuf> {
        let written = written.and_then(|dir| dir.canonicalize().ok());
        let mut met: Vec<PathBuf> = self.known.into_values().flatten().collect();
        met.sort_unstable();
        met.dedup();
        met.retain(|index| written.is_none() || index.canonicalize().ok() != written);
        met
    }
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
        let mut indexes = Indexes::below(&[folder.path().to_owned()]);
        assert!(indexes.hold(&at("real/deep/a.md")) && indexes.hold(&at("real/b.md")));
        assert!(!indexes.hold(&at("fake/deep/a.md")) && !indexes.hold(&at("c.md")));
        assert_eq!(indexes.met(None), [at("real")]);
        let mut indexes = Indexes::below(&[at("real/deep")]);
        assert!(!indexes.hold(&at("real/deep/a.md")), "what was named is read");
        assert!(inside_index(&at("real/deep/a.md")) && !inside_index(&at("fake/a.md")));
    }
}
