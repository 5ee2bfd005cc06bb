//! Which files of a directory are the index's own: what it deletes, and what it leaves alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::IndexError;
use crate::build::{home, later_builds};
use crate::directory::{PENDING_FILE, manifest_path};
use crate::engines::{is_own_text, is_text_index};
use crate::manifest::Manifest;
use crate::meta::{META_FILE, says_index};
use crate::vectors::{is_old_vectors, is_own_vectors};

pub(crate) fn text_path(dir: &Path) -> PathBuf {
    dir.join("text")
}

pub(crate) fn vectors_path(dir: &Path) -> PathBuf {
    dir.join("vectors")
}

/// Returns true for the directory of an index, by the contents of its metadata.
#[must_use]
pub fn is_index(dir: &Path) -> bool {
    says_index(dir)
}

/// Returns the files in the folders of an index that no version of this program wrote, sorted. A rebuild leaves them alone.
///
/// # Errors
/// Where a folder cannot be read.
pub fn foreign_files(dir: &Path) -> Result<Vec<PathBuf>, IndexError> {
    let mut foreign = Vec::new();
    for (folder, is_own) in engines_of_all_builds(dir)? {
        let found = contents(&folder).map_err(IndexError::io(&folder))?;
        foreign.extend(found.files.into_iter().filter(|file| !is_own(file)).map(|file| folder.join(file)));
    }
    foreign.sort_unstable();
    Ok(foreign)
}

/// Checks that a `pericope.json` in `dir`, if there is one, is an index's, damaged or not.
pub(crate) fn refuse_foreign(dir: &Path) -> Result<(), IndexError> {
    if dir.as_os_str().is_empty() {
        return Err(IndexError::NoPath);
    }
    let there = fs::symlink_metadata(dir.join(META_FILE)).is_ok();
    let builds = later_builds(dir)?.into_iter().chain([0]);
    if there && !says_index(dir) && !builds.into_iter().any(|build| is_text_index(&text_path(&home(dir, build)))) {
        return Err(IndexError::Foreign { dir: dir.to_owned() });
    }
    Ok(())
}

/// Deletes a build: its words, vectors and manifest, and its folders where nothing else is in them.
pub(crate) fn remove_build(dir: &Path, build: u64) -> Result<(), IndexError> {
    let home = home(dir, build);
    Manifest::remove(&manifest_path(&home))?;
    for (folder, is_own) in engines(&home) {
        remove(&folder, is_own)?;
        remove_empty(&folder)?;
    }
    let rest = if build == 0 { PENDING_FILE } else { META_FILE };
    match fs::remove_file(home.join(rest)) {
        Err(e) if !matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Err(IndexError::io(&home.join(rest))(e));
        }
        _ => {}
    }
    if build > 0 { remove_empty(&home) } else { Ok(()) }
}

/// Deletes the builds before this one. What cannot be deleted now is tried again by the next writer.
pub(crate) fn remove_older_builds(dir: &Path, build: u64) -> Result<(), IndexError> {
    let later = later_builds(dir)?.into_iter();
    for older in later.chain([0]).filter(|&older| older < build) {
        remove_build(dir, older).ok();
    }
    Ok(())
}

/// Deletes the vectors of earlier versions alone.
pub(crate) fn remove_old_vectors(folder: &Path) -> Result<(), IndexError> {
    remove(folder, is_old_vectors)
}

/// Whether a path in a folder is one that an engine writes.
type IsOwn = fn(&Path) -> bool;

fn engines_of_all_builds(dir: &Path) -> Result<Vec<(PathBuf, IsOwn)>, IndexError> {
    let builds = later_builds(dir)?.into_iter().chain([0]);
    Ok(builds.flat_map(|build| engines(&home(dir, build))).collect())
}

/// The folders of the engines, and which paths in them are their own.
fn engines(dir: &Path) -> [(PathBuf, IsOwn); 2] {
    [(text_path(dir), is_own_text), (vectors_path(dir), is_own_vectors)]
}

fn remove(folder: &Path, is_own: IsOwn) -> Result<(), IndexError> {
    let mut found = contents(folder).map_err(IndexError::io(folder))?;
    for file in found.files.iter().filter(|file| is_own(file)) {
        let file = folder.join(file);
        fs::remove_file(&file).map_err(IndexError::io(&file))?;
    }
    // The innermost first.
    found.folders.reverse();
    found.folders.iter().filter(|inner| is_own(inner)).try_for_each(|inner| remove_empty(&folder.join(inner)))
}

/// Deletes a folder that is empty. One that is a link to a folder stays, and is used again.
fn remove_empty(folder: &Path) -> Result<(), IndexError> {
    use io::ErrorKind::{DirectoryNotEmpty, NotADirectory, NotFound};
    match fs::remove_dir(folder) {
        Err(e) if !matches!(e.kind(), DirectoryNotEmpty | NotADirectory | NotFound) => Err(IndexError::io(folder)(e)),
        _ => Ok(()),
    }
}

/// What lies in a folder, by paths from there; links are not followed. A folder comes before what lies in it.
#[derive(Default)]
struct Contents {
    folders: Vec<PathBuf>,
    files: Vec<PathBuf>,
}

fn contents(folder: &Path) -> io::Result<Contents> {
    let mut found = Contents::default();
    let mut waiting = vec![PathBuf::new()];
    while let Some(inner) = waiting.pop() {
        let entries = match fs::read_dir(folder.join(&inner)) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(e),
        };
        for entry in entries {
            let entry = entry?;
            let path = inner.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                found.folders.push(path.clone());
                waiting.push(path);
            } else {
                found.files.push(path);
            }
        }
    }
    Ok(found)
}
