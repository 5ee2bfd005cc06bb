//! The builds of an index: where its words, vectors and manifest lie.
//!
//! The first build lies in the directory itself, later ones in folders `build-N` in it. `pericope.json` of the directory
//! says which one is searched: replacing that file is the moment at which a rebuild takes the place of the old index. A
//! build with a larger number is being made, and has a `pericope.json` of its own; those with smaller numbers are gone
//! soon.

use std::fs;
use std::path::{Path, PathBuf};

use crate::IndexError;
use crate::meta::META_FILE;

const PREFIX: &str = "build-";

/// The folder of a build.
pub(crate) fn home(dir: &Path, build: u64) -> PathBuf {
    match build {
        0 => dir.to_owned(),
        number => dir.join(format!("{PREFIX}{number}")),
    }
}

/// The numbers of the builds that have a folder of their own, in order.
pub(crate) fn later_builds(dir: &Path) -> Result<Vec<u64>, IndexError> {
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(IndexError::io(dir)(e)),
    };
    let mut builds = Vec::new();
    for entry in entries {
        let entry = entry.map_err(IndexError::io(dir))?;
        let number = entry.file_name().to_str().and_then(number_of);
        if let Some(number) = number
            && entry.file_type().is_ok_and(|kind| kind.is_dir())
        {
            builds.push(number);
        }
    }
    builds.sort_unstable();
    Ok(builds)
}

/// The number in the name of a build's folder, written as [`home`] does.
fn number_of(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX)?;
    let number: u64 = digits.parse().ok()?;
    (number > 0 && number.to_string() == digits).then_some(number)
}

/// The build that is searched, whatever the format of the metadata; the newest where the metadata is damaged.
pub(crate) fn serving(dir: &Path) -> Result<u64, IndexError> {
    let read = fs::read(dir.join(META_FILE)).ok();
    let meta: Option<serde_json::Value> = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    match meta {
        Some(meta) => Ok(meta.get("build").and_then(serde_json::Value::as_u64).unwrap_or(0)),
        None => Ok(later_builds(dir)?.last().copied().unwrap_or(0)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn builds_are_folders_with_our_names() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["build-2", "build-10", "build-x", "build-03", "build-0", "build", "build--1"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        fs::write(dir.path().join("build-7"), "a file").unwrap();
        assert_eq!(later_builds(dir.path()).unwrap(), [2, 10]);
        assert_eq!(home(dir.path(), 10), dir.path().join("build-10"));
        assert_eq!(serving(dir.path()).unwrap(), 10);
        fs::write(dir.path().join(META_FILE), r#"{"format": 1}"#).unwrap();
        assert_eq!(serving(dir.path()).unwrap(), 0);
        fs::write(dir.path().join(META_FILE), r#"{"format": 3, "build": 2}"#).unwrap();
        assert_eq!(serving(dir.path()).unwrap(), 2);
        assert_eq!(later_builds(&dir.path().join("none")).unwrap(), [] as [u64; 0]);
    }
}
