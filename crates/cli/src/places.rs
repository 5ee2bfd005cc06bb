//! The folders that flags name. An empty path (a variable that was not set) and the root of the file system are never
//! meant.

use std::io::BufReader;
use std::path::{Component, Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};
use pericope::stores;

use crate::resources::shown;
use crate::status::Failure;

/// A flag that names a folder, or a file to write.
pub fn path() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(checked)
}

/// A folder, or a file to write, wherever it is named.
pub fn checked(path: PathBuf) -> Result<PathBuf, String> {
    if path.as_os_str().is_empty() {
        return Err("the path is empty: name a folder".to_owned());
    }
    if is_root(&path) {
        return Err(format!("{} is the root of the file system: name a folder in it", shown(&path)));
    }
    // It would make folders of that name.
    if path.to_str().is_some_and(stores::is_server) {
        return Err(format!("{} is an address: name a folder or a file", shown(&path)));
    }
    Ok(path)
}

/// An index: a folder, or a collection on a server.
pub fn index(text: &str) -> Result<String, String> {
    if !stores::is_server(text) {
        checked(PathBuf::from(text))?;
    }
    Ok(text.to_owned())
}

/// True for two names of one file or folder that is there.
pub fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

/// Refuses to write over a file that is, or lies in, something that is read.
pub fn check_out(flag: &str, out: &Path, read: &[PathBuf]) -> Result<(), Failure> {
    let Ok(whole) = out.canonicalize() else { return Ok(()) };
    if read.iter().any(|path| path.canonicalize().is_ok_and(|path| whole.starts_with(path))) {
        let problem =
            format!("{flag} {}: it is among what is read, and would be written over; name another", shown(out));
        return Err(Failure::usage(problem));
    }
    Ok(())
}

/// As [`check_out`], for commands that read documents and pass over what they wrote before: questions, boundaries, classes.
pub fn check_out_beside_documents(flag: &str, out: &Path, read: &[PathBuf]) -> Result<(), Failure> {
    check_out(flag, out, read).or_else(|refused| if is_made(out) { Ok(()) } else { Err(refused) })
}

/// True for a file of questions, of boundaries or of classes.
fn is_made(path: &Path) -> bool {
    let Ok(file) = std::fs::File::open(path) else { return false };
    let first = serde_json::Deserializer::from_reader(BufReader::new(file)).into_iter::<serde_json::Value>().next();
    let Some(Ok(first)) = first else { return false };
    [("data", true), ("sentences", true), ("label", false)]
        .iter()
        .any(|&(key, list)| first.get(key).is_some_and(|value| if list { value.is_array() } else { value.is_string() }))
}

/// A path without `..`, by its words alone: `index/../docs` does not lie in `index`.
pub fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            resolved.pop();
        } else {
            resolved.push(part);
        }
    }
    resolved
}

/// True for `/` in all its spellings, seen from the working directory. Looks at no disk.
fn is_root(path: &Path) -> bool {
    let Ok(whole) = std::path::absolute(path) else { return false };
    let mut depth = 0usize;
    for part in whole.components() {
        match part {
            Component::Normal(_) => depth += 1,
            Component::ParentDir => depth = depth.saturating_sub(1),
            Component::Prefix(_) | Component::RootDir | Component::CurDir => {}
        }
    }
    depth == 0
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn empty_and_root_paths_are_refused() {
        for refused in ["", "/", "//", "/.", "/..", "/a/..", "/../"] {
            assert!(checked(PathBuf::from(refused)).is_err() && index(refused).is_err(), "{refused:?}");
        }
        for address in ["http://host/a", "s3://bucket"] {
            assert!(checked(PathBuf::from(address)).unwrap_err().contains("is an address"), "{address}");
        }
        for fine in [".", "a", "/a", "./a/", "a/..", "a:b", "://", "C://docs"] {
            assert_eq!(checked(PathBuf::from(fine)), Ok(PathBuf::from(fine)));
        }
        assert_eq!(index("qdrant://localhost:6334/docs").as_deref(), Ok("qdrant://localhost:6334/docs"));
    }
}
