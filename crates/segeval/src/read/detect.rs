//! Which layout a path has.

use std::io::Read;
use std::path::{Path, PathBuf};

use pericope_eval::data::DataError;

use super::{Layout, choi, folder, jsonl, wiki727};

/// Bytes of a file that are looked at.
const LOOK: u64 = 16 * 1024;
/// Files of a folder that are looked into.
const FILES: usize = 20;

/// Finds the layout of a file by its extension and its first lines, of a folder by its files.
///
/// # Errors
/// [`DataError`] where the path cannot be read or nothing fits; the message says what would.
pub fn detect(path: &Path) -> Result<Layout, DataError> {
    if path.is_dir() {
        return detect_folder(path);
    }
    let start = start_of(path)?;
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match (extension.as_str(), by_content(&start)) {
        ("ref", _) => Ok(Layout::Choi),
        ("jsonl" | "ndjson", _) => Ok(Layout::Jsonl),
        (_, Some(layout)) => Ok(layout),
        _ => Err(unfit(path, "this file is none of them")),
    }
}

fn detect_folder(path: &Path) -> Result<Layout, DataError> {
    if !folder::files_of(path, &["ref"])?.is_empty() {
        return Ok(Layout::Choi);
    }
    let bare = folder::files_of(path, &[])?;
    let fits = |file: &PathBuf| start_of(file).is_ok_and(|start| by_content(&start) == Some(Layout::Wiki727));
    if bare.iter().take(FILES).any(fits) {
        return Ok(Layout::Wiki727);
    }
    if !jsonl::files_of(path)?.is_empty() {
        return Ok(Layout::Jsonl);
    }
    let single = folder::files_of(path, &["json"])?;
    let names: Vec<String> = single.iter().take(4).map(|file| file.display().to_string()).collect();
    Err(if names.is_empty() {
        unfit(path, "this folder holds none of them")
    } else {
        unfit(
            path,
            &format!("a folder of JSON files is not read as one set; name one file, such as {}", names.join(", ")),
        )
    })
}

fn unfit(path: &Path, why: &str) -> DataError {
    let known = "readable are segmentation JSONL (one {\"id\", \"sentences\", \"boundaries\"} a line) and folders of it, Choi's .ref files \
                 or folders of them, Wiki-727K folders (files without extension, sections marked ========,LEVEL,TITLE.) \
                 and WikiSection JSON (a list of {\"text\", \"annotations\"})";
    DataError::Layout { path: path.to_owned(), problem: format!("{why}: {known}") }
}

fn by_content(start: &str) -> Option<Layout> {
    match start.trim_start_matches('\u{feff}').trim_start().chars().next() {
        Some('{') => return Some(Layout::Jsonl),
        Some('[') => return Some(Layout::WikiSection),
        _ => {}
    }
    if start.lines().any(wiki727::is_separator) {
        return Some(Layout::Wiki727);
    }
    start.lines().any(choi::is_separator).then_some(Layout::Choi)
}

/// The first bytes of a file, unpacked; what is not UTF-8 is replaced.
fn start_of(path: &Path) -> Result<String, DataError> {
    let io = |source| DataError::Io { path: path.to_owned(), source };
    let mut bytes = Vec::new();
    pericope_util::open_unpacked(path).map_err(io)?.take(LOOK).read_to_end(&mut bytes).map_err(io)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use super::{Layout, detect};

    #[test]
    fn files_by_name_and_content() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text, layout) in [
            ("a.jsonl", "", Layout::Jsonl),
            ("a.json", " [\n{}]", Layout::WikiSection),
            ("b.json", "{\"id\": 1}", Layout::Jsonl),
            ("a.ref", "", Layout::Choi),
            ("a.txt", "x\n==========\ny\n", Layout::Choi),
            ("plain", "========,1,preface.\nx\n", Layout::Wiki727),
        ] {
            let path = folder.path().join(name);
            fs::write(&path, text).unwrap();
            assert_eq!(detect(&path).unwrap(), layout, "{name}");
        }
    }

    #[test]
    fn what_does_not_fit_says_what_would() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "Just text.\n").unwrap();
        assert!(detect(&path).unwrap_err().to_string().contains("WikiSection"));
        fs::write(folder.path().join("test.json"), "[]").unwrap();
        assert!(detect(folder.path()).unwrap_err().to_string().contains("test.json"));
        assert!(detect(&folder.path().join("none")).unwrap_err().to_string().starts_with("cannot read"));
    }
}
