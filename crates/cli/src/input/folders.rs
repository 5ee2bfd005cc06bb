//! Folders of a kind that lie among documents: their files are none.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The folders of a kind that files were looked for in.
pub struct Folders<'a> {
    /// The paths that were named; what lies above them is nobody's business here.
    roots: HashSet<PathBuf>,
    /// The outermost such folder that a folder lies in, of those folders that were asked for.
    known: HashMap<PathBuf, Option<PathBuf>>,
    is_one: Box<dyn Fn(&Path) -> bool + 'a>,
}

impl<'a> Folders<'a> {
    /// Those in and below these paths of which `is_one` is true.
    pub fn below(roots: &[PathBuf], is_one: impl Fn(&Path) -> bool + 'a) -> Self {
        Self { roots: roots.iter().cloned().collect(), known: HashMap::new(), is_one: Box::new(is_one) }
    }

    /// True for a file of such a folder. One that is named itself is none.
    pub fn hold(&mut self, path: &Path) -> bool {
        !self.roots.contains(path) && path.parent().is_some_and(|folder| self.around(folder).is_some())
    }

    /// The outermost one, from the root that the folder lies below.
    fn around(&mut self, folder: &Path) -> Option<PathBuf> {
        if let Some(known) = self.known.get(folder) {
            return known.clone();
        }
        let is_root = self.roots.contains(folder);
        let above = match folder.parent().filter(|above| !is_root && self.is_below(above)) {
            Some(above) => self.around(above),
            None => None,
        };
        let found = above.or_else(|| (self.is_below(folder) && (self.is_one)(folder)).then(|| folder.to_owned()));
        self.known.insert(folder.to_owned(), found.clone());
        found
    }

    fn is_below(&self, folder: &Path) -> bool {
        folder.ancestors().any(|above| self.roots.contains(above))
    }

    /// Those that were met, sorted.
    pub fn met(self) -> Vec<PathBuf> {
        let mut met: Vec<PathBuf> = self.known.into_values().flatten().collect();
        met.sort_unstable();
        met.dedup();
        met
    }
}
