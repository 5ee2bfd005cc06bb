//! Where a project lies.

use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use pericope_index::is_index;
use pericope_index::project::{INDEX, of_index as project_of};

use super::FOLDER;
use super::owner;
use super::settings::{Settings, relative};
use crate::places::resolved;
use crate::resources::shown;
use crate::status::Failure;

/// The file of the settings, in that folder.
pub const SETTINGS: &str = "pericope.toml";

/// A folder with `.pericope` in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    root: PathBuf,
}

/// Returns the project of a folder: the first that is found on the way up.
#[must_use]
pub fn find(start: &Path) -> Option<Project> {
    let start = start.canonicalize().ok()?;
    let root = start.ancestors().find(|folder| folder.join(FOLDER).is_dir())?;
    Some(Project { root: root.to_owned() })
}

/// Returns the project of the working directory.
#[must_use]
pub fn find_here() -> Option<Project> {
    find(&env::current_dir().ok()?)
}

/// Returns the project of the working directory for a command that was told no index by `flag`.
///
/// # Errors
/// A usage failure that says what to do; also for a project of another user.
pub fn required(flag: &str) -> Result<Project, Failure> {
    let project = find_here().ok_or_else(|| {
        Failure::usage(format!(
            "no index is named, and there is no {FOLDER} in this folder or above it: name an index with {flag}, or make a \
             project with `pericope init`"
        ))
    })?;
    project.check_owner(&format!("name an index with {flag}"))?;
    Ok(project)
}

impl Project {
    /// The project whose own index a path is.
    #[must_use]
    pub fn of_index(index: &Path) -> Option<Self> {
        project_of(index).map(|root| Self { root: root.to_owned() })
    }

    /// The folder that holds `.pericope`. Documents are called by their paths from here.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The index.
    #[must_use]
    pub fn index(&self) -> PathBuf {
        self.root.join(Self::index_from_root())
    }

    /// Refuses the project of another user.
    fn check_owner(&self, instead: &str) -> Result<(), Failure> {
        let folder = self.root.join(FOLDER);
        owner::check(&self.root, &[&folder, &folder.join(SETTINGS)], instead)
    }

    /// The settings of a project that is not known to be the user's own; one of another user is refused, and `instead` says what to
    /// do without it.
    ///
    /// # Errors
    /// As [`settings`](Self::settings), and for a project of another user.
    pub fn trusted_settings(&self, instead: &str) -> Result<Settings, Failure> {
        self.check_owner(instead)?;
        self.settings()
    }

    /// The settings; the defaults where there is no file.
    ///
    /// # Errors
    /// A usage failure that names the file, the line and the key.
    pub fn settings(&self) -> Result<Settings, Failure> {
        let file = self.root.join(FOLDER).join(SETTINGS);
        match fs::read_to_string(&file) {
            Ok(text) => Settings::parse(&text).map_err(|why| Failure::usage(format!("{}, {why}", shown(&file)))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Settings::default()),
            Err(error) => Err(Failure::usage(format!("{}: {error}", shown(&file)))),
        }
    }

    /// Paths of the command line, as they are seen from the project's folder.
    ///
    /// # Errors
    /// A usage failure for one that lies outside of it; `instead` says what to do then.
    pub fn inside(&self, paths: &[PathBuf], instead: &str) -> Result<Vec<PathBuf>, Failure> {
        let here = env::current_dir().map_err(Failure::usage)?;
        paths.iter().map(|path| inside(&self.root, &here, path, instead)).collect()
    }

    /// Makes the project's folder the working directory, so that documents have the same names from wherever the command
    /// is started.
    ///
    /// # Errors
    /// Where the folder cannot be entered.
    pub fn enter(&self) -> Result<(), Failure> {
        env::set_current_dir(&self.root).map_err(|e| Failure::runtime(format!("{}: {e}", shown(&self.root))))
    }

    /// The index for those who search it. The project's folder is the working directory then: models are found as they
    /// are by `pericope index`.
    ///
    /// # Errors
    /// A usage failure where there is no index yet; as [`settings`](Self::settings) and [`enter`](Self::enter).
    pub fn searched(&self) -> Result<String, Failure> {
        self.settings()?;
        let index = self.index();
        if !is_index(&index) {
            return Err(Failure::usage(format!("{}: there is no index yet; `pericope index` makes it", shown(&index))));
        }
        self.enter()?;
        Ok(Self::index_from_root())
    }

    /// The index, from within the project's folder.
    #[must_use]
    pub fn index_from_root() -> String {
        format!("{FOLDER}/{INDEX}")
    }
}

/// Returns a path of the command line as it is seen from a folder, which is the working directory.
///
/// # Errors
/// As [`Project::inside`].
pub fn inside_of(here: &Path, path: &Path, instead: &str) -> Result<PathBuf, Failure> {
    inside(here, here, path, instead)
}

fn inside(root: &Path, here: &Path, path: &Path, instead: &str) -> Result<PathBuf, Failure> {
    let whole = resolved(&here.join(path));
    whole.strip_prefix(root).ok().and_then(relative).ok_or_else(|| {
        let (path, root) = (shown(path), shown(root));
        Failure::usage(format!("{path} lies outside of the project {root}: {instead}"))
    })
}

/// Whether a path leads through a project's own folder.
#[must_use]
pub fn is_own(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == FOLDER)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_nearest_project_on_the_way_up_counts() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("a/b/c")).unwrap();
        fs::create_dir_all(root.join(FOLDER)).unwrap();
        fs::write(root.join("a/b").join(FOLDER), "a file is none").unwrap();
        let project = find(&root.join("a/b/c")).unwrap();
        assert_eq!((project.root(), project.index()), (root.as_path(), root.join(".pericope/index")));
        fs::create_dir_all(root.join("a").join(FOLDER)).unwrap();
        assert_eq!(find(&root.join("a/b/c")).unwrap().root(), root.join("a"));
        assert_eq!(find(&root).unwrap().root(), root);
        assert_eq!(find(&root.join("nowhere")), None);
    }

    #[test]
    fn paths_are_seen_from_the_root() {
        let project = Project { root: "/home/me/project".into() };
        let here = Path::new("/home/me/project/docs");
        let seen = |path: &str| inside(project.root(), here, Path::new(path), "do this").map_err(|e| e.to_string());
        assert_eq!(seen("."), Ok("docs".into()));
        assert_eq!(seen("guide/a.md"), Ok("docs/guide/a.md".into()));
        assert_eq!(seen(".."), Ok(".".into()));
        assert_eq!(seen("../src"), Ok("src".into()));
        assert_eq!(seen("/home/me/project/src"), Ok("src".into()));
        assert!(seen("../../other").unwrap_err().ends_with(": do this"));
        assert!(seen("/etc").unwrap_err().contains("outside of the project /home/me/project"));
    }

    #[test]
    fn its_own_folder_is_known_by_its_name() {
        assert!(is_own(Path::new("docs/.pericope/index/pericope.json")));
        assert!(!is_own(Path::new("docs/.pericope.md")) && !is_own(Path::new("docs/pericope/a.md")));
    }
}
