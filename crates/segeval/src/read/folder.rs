//! Layouts of one document a file.

use std::path::{Path, PathBuf};

use pericope_eval::data::{DataError, refuse_stranger};

use super::{Options, Segmented, Set, sample, text_of};

/// Folders inside folders at most.
const DEEPEST: usize = 12;

/// Reads a file, or the files of a folder that end in one of `extensions` (empty: those without extension). The id is
/// the path inside the folder, with `/`, without extension.
///
/// Where a sample is wanted, only as many files are opened as it takes.
pub(super) fn read(
    path: &Path,
    extensions: &[&str],
    options: &Options<'_>,
    parse: fn(&str, &str) -> Result<Segmented, String>,
) -> Result<Set, DataError> {
    let mut files: Vec<(u64, String, PathBuf)> = files_of(path, extensions)?
        .into_iter()
        .map(|file| {
            let id = id_of(path, &file);
            (sample::rank(&id, options.seed), id, file)
        })
        .filter(|(_, id, _)| options.wants(id))
        .collect();
    let wanted = if options.documents == 0 { files.len() } else { options.documents };
    if wanted < files.len() {
        files.sort_unstable();
    }
    let mut set = Set::default();
    let mut found: Vec<(PathBuf, Segmented)> = Vec::new();
    for (_, id, file) in files {
        if found.len() == wanted {
            break;
        }
        match text_of(&file).map_err(|e| e.to_string()) {
            Ok(text) => match parse(&id, &text) {
                Ok(one) => found.push((file, one)),
                Err(problem) => set.skipped.push(format!("{}: {problem}", file.display())),
            },
            Err(problem) => set.skipped.push(problem),
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    set.skipped.sort();
    set.documents = found.into_iter().map(|(_, one)| one).collect();
    Ok(set)
}

/// The files of a folder and of the folders in it, sorted by path; a file alone.
pub(super) fn files_of(path: &Path, extensions: &[&str]) -> Result<Vec<PathBuf>, DataError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    walk(path, extensions, DEEPEST, &mut found)?;
    found.iter().try_for_each(|file| refuse_stranger(path, file))?;
    found.sort();
    Ok(found)
}

fn walk(folder: &Path, extensions: &[&str], depth: usize, found: &mut Vec<PathBuf>) -> Result<(), DataError> {
    let io = |source| DataError::Io { path: folder.to_owned(), source };
    for entry in std::fs::read_dir(folder).map_err(io)? {
        let entry = entry.map_err(io)?;
        let (path, name) = (entry.path(), entry.file_name());
        if name.to_string_lossy().starts_with('.') {
            continue;
        }
        // A link to a folder is not followed: it may lead back.
        if entry.file_type().map_err(io)?.is_dir() {
            if depth > 0 {
                walk(&path, extensions, depth - 1, found)?;
            }
        } else if path.is_file() && fits(&path, extensions) {
            found.push(path);
        }
    }
    Ok(())
}

fn fits(path: &Path, extensions: &[&str]) -> bool {
    match path.extension() {
        Some(extension) => extensions.iter().any(|one| extension.eq_ignore_ascii_case(one)),
        None => extensions.is_empty(),
    }
}

fn id_of(root: &Path, file: &Path) -> String {
    let inside = file.strip_prefix(root).ok().filter(|inside| inside.file_name().is_some());
    let inside = inside.map_or_else(|| PathBuf::from(file.file_name().unwrap_or_default()), Path::to_path_buf);
    let parts = inside.with_extension("");
    parts.components().map(|part| pericope_util::name_text(part.as_os_str()).into_owned()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;

    use crate::read::{Options, read};

    #[test]
    fn nested_folders_in_the_order_of_paths() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("1/3-5")).unwrap();
        for (name, text) in [("1/3-5/b.ref", "======\na\n======\nb\n"), ("1/3-5/a.ref", "======\na\n"), ("z.ref", "no")]
        {
            fs::write(folder.path().join(name), text).unwrap();
        }
        fs::write(folder.path().join("README.md"), "not data").unwrap();
        let set = read(folder.path(), &Options::new(&|_| Vec::new())).unwrap();
        let ids: Vec<&str> = set.documents.iter().map(|d| d.document.id.as_str()).collect();
        assert_eq!(ids, ["1/3-5/a", "1/3-5/b"]);
        assert_eq!(set.skipped.len(), 1);
        let one = read(&folder.path().join("1/3-5/b.ref"), &Options::new(&|_| Vec::new())).unwrap();
        assert_eq!((one.name.as_str(), one.documents[0].document.id.as_str()), ("b", "b"));
    }

    #[test]
    fn a_sample_is_full_where_files_are_unusable() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("00/11")).unwrap();
        for i in 0..20 {
            let text =
                if i % 2 == 0 { "========,1,preface.\nA.\n========,2,B.\nC.\n" } else { "========,1,preface.\n" };
            fs::write(folder.path().join(format!("00/11/{i:02}")), text).unwrap();
        }
        let options = Options { documents: 6, ..Options::new(&|_| Vec::new()) };
        let set = read(folder.path(), &options).unwrap();
        let ids: Vec<String> = set.documents.iter().map(|d| d.document.id.clone()).collect();
        assert!(ids.len() == 6 && ids.is_sorted(), "{ids:?}");
    }
}
