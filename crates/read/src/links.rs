//! Symbolic links in folders: which are followed, and which lead to what is found anyway.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The links that a walk met.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// The folders that are walked, as the system calls them: what lies in them is no stranger.
    roots: Vec<PathBuf>,
    /// Whether links out of them are followed.
    everywhere: bool,
    /// Links that lead out of them and were not followed.
    pub outside: Vec<PathBuf>,
    /// Links to a folder that another link led to before, and files that have another path.
    pub twice: Vec<PathBuf>,
    followed: HashSet<PathBuf>,
    /// What links to folders led to.
    entered: HashSet<PathBuf>,
}

impl Links {
    /// Before the walk through `roots`, folders as the system calls them.
    pub fn new(roots: Vec<PathBuf>, everywhere: bool) -> Self {
        Self { roots, everywhere, ..Self::default() }
    }

    /// Decides whether a link is followed.
    pub fn admit(&mut self, link: &Path, is_folder: bool) -> bool {
        // What cannot be resolved is no file either: the walk says why.
        let Ok(target) = link.canonicalize() else { return true };
        if !self.everywhere && !self.roots.iter().any(|root| target.starts_with(root)) {
            self.outside.push(link.to_owned());
            return false;
        }
        if is_folder && !self.entered.insert(target) {
            // Without this, folders that link to each other are walked in every order.
            self.twice.push(link.to_owned());
            return false;
        }
        self.followed.insert(link.to_owned());
        true
    }

    /// The folders behind links that were followed.
    pub fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<_> = self.followed.iter().filter(|link| link.is_dir()).cloned().collect();
        folders.sort_unstable();
        folders
    }

    /// Keeps one path of each file that was found: the one without a link in it, else the first. `files` are sorted, and
    /// the second of each pair is the path as the system calls it, where that is known.
    pub fn keep_once(&mut self, files: &mut Vec<(PathBuf, Option<PathBuf>)>) {
        if self.followed.is_empty() {
            return;
        }
        let is_linked = |path: &Path| path.ancestors().any(|part| self.followed.contains(part));
        let mut seen = HashSet::new();
        for (path, real) in files.iter() {
            if !is_linked(path) {
                seen.extend(real.clone());
            }
        }
        let mut twice = Vec::new();
        files.retain(|(path, _)| {
            let first = !is_linked(path) || path.canonicalize().map_or(true, |real| seen.insert(real));
            if !first {
                twice.push(path.clone());
            }
            first
        });
        self.twice.append(&mut twice);
    }
}
