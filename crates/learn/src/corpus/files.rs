use std::fs;
use std::io::{self, BufRead};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use pericope_util::{open_unpacked, shown_path};

use super::{CorpusError, Record};

/// How the names of files with documents end.
const ENDINGS: [&str; 2] = [".jsonl", ".jsonl.gz"];

/// Problems that are kept in words; all are counted.
const KEPT: usize = 100;

/// What of the data could not be used.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// The number of lines, and of files that end in the middle.
    pub count: usize,
    /// The first hundred, each with its place: `FILE:LINE: problem`.
    pub problems: Vec<String>,
}

impl Skipped {
    fn add(&mut self, problem: String) {
        self.extend(Self { count: 1, problems: vec![problem] });
    }

    /// Adds what was skipped elsewhere.
    pub fn extend(&mut self, other: Self) {
        self.count += other.count;
        let room = KEPT.saturating_sub(self.problems.len());
        self.problems.extend(other.problems.into_iter().take(room));
    }
}

/// The files with documents that `paths` name, in a fixed order, each once: a file itself, or all in a folder at any depth
/// whose names end in `.jsonl` or `.jsonl.gz`.
///
/// # Errors
/// [`CorpusError::Io`] where a path cannot be read, [`CorpusError::Nothing`] for a folder without such files.
pub fn files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, CorpusError> {
    let mut all: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !fs::metadata(path).map_err(CorpusError::io(path))?.is_dir() {
            all.push(path.clone());
            continue;
        }
        let before = all.len();
        walk(path, &mut all)?;
        if all.len() == before {
            let problem = "the folder holds no file *.jsonl or *.jsonl.gz".to_owned();
            return Err(CorpusError::Nothing { path: path.clone(), problem });
        }
    }
    let mut known = std::collections::HashSet::new();
    all.retain(|path| known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    Ok(all)
}

/// Adds the files of a folder, and of those in it. Links to folders are not followed: they may lead in a circle.
fn walk(folder: &Path, all: &mut Vec<PathBuf>) -> Result<(), CorpusError> {
    let entries = fs::read_dir(folder).and_then(|entries| entries.collect::<io::Result<Vec<_>>>());
    let mut entries: Vec<PathBuf> = entries.map_err(CorpusError::io(folder))?.iter().map(fs::DirEntry::path).collect();
    entries.sort();
    for path in entries {
        let about = path.symlink_metadata().map_err(CorpusError::io(&path))?;
        if about.is_dir() {
            walk(&path, all)?;
        } else if has_documents(&path) && path.is_file() {
            all.push(path);
        }
    }
    Ok(())
}

/// True for a name that documents are looked for in: it ends in `.jsonl` or `.jsonl.gz`.
#[must_use]
pub fn has_documents(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// The name of a file up to its first dot.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Shows `visit` every document of the files, one at a time, in the order of files and lines; ends early where it breaks.
/// Lines that are no document are left out and named; so is the rest of a file that cannot be unpacked. A document that does
/// not name its source is of one named as the file: `docs` for `docs.seg.jsonl.gz`.
///
/// # Errors
/// [`CorpusError::Io`] where a file cannot be opened.
pub fn each_record(
    files: &[PathBuf],
    visit: &mut dyn FnMut(Record) -> ControlFlow<()>,
) -> Result<Skipped, CorpusError> {
    let mut skipped = Skipped::default();
    let mut line = Vec::new();
    for path in files {
        let source = name_of(path);
        let mut input = open_unpacked(path).map_err(CorpusError::io(path))?;
        for number in 1.. {
            line.clear();
            match input.read_until(b'\n', &mut line) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) => {
                    skipped.add(format!("{}:{number}: the file ends here: {error}", shown_path(path)));
                    break;
                }
            }
            let text = if number == 1 { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line) } else { &line };
            if text.trim_ascii().is_empty() {
                continue;
            }
            match Record::parse(text) {
                Ok(mut record) => {
                    if record.source.is_empty() {
                        record.source.clone_from(&source);
                    }
                    if visit(record).is_break() {
                        return Ok(skipped);
                    }
                }
                Err(problem) => skipped.add(format!("{}:{number}: {problem}", shown_path(path))),
            }
        }
    }
    Ok(skipped)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::fs;
    use std::io::Write;
    use std::ops::ControlFlow;
    use std::path::PathBuf;

    use super::{CorpusError, each_record, files};

    fn packed(text: &str) -> Vec<u8> {
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(text.as_bytes()).unwrap();
        out.finish().unwrap()
    }

    fn line(id: &str) -> String {
        format!("{{\"id\":\"{id}\",\"sentences\":[\"a\",\"b\"],\"boundaries\":[1]}}\n")
    }

    #[test]
    fn files_at_any_depth_packed_or_not_and_bad_lines_by_their_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("b/c")).unwrap();
        fs::write(at("b/c/x.jsonl.gz"), packed(&(line("2") + "nonsense\n\n" + &line("3")))).unwrap();
        fs::write(at("a.seg.jsonl"), format!("\u{feff}{}", line("1"))).unwrap();
        fs::write(at("b/notes.txt"), "no data").unwrap();
        // Cut off in the middle: what is before the cut counts.
        let whole = packed(&(0..200).map(|i| line(&format!("z{i}"))).collect::<String>());
        fs::write(at("z.jsonl.gz"), &whole[..whole.len() / 2]).unwrap();
        let found = files(&[folder.path().to_owned(), at("a.seg.jsonl")]).unwrap();
        assert_eq!(found, [at("a.seg.jsonl"), at("b/c/x.jsonl.gz"), at("z.jsonl.gz")]);
        let (mut ids, mut sources) = (Vec::new(), Vec::new());
        let skipped = each_record(&found, &mut |record| {
            ids.push(record.id);
            sources.push(record.source);
            ControlFlow::Continue(())
        });
        let skipped = skipped.unwrap();
        assert_eq!(
            (&ids[..3], &sources[..3]),
            (&["1", "2", "3"].map(String::from)[..], &["a", "x", "x"].map(String::from)[..])
        );
        assert!(ids.len() > 3 && ids.len() < 203, "{}", ids.len());
        assert_eq!(skipped.count, 2);
        assert!(skipped.problems[0].contains("x.jsonl.gz:2: expected"), "{skipped:?}");
        assert!(skipped.problems[1].contains("z.jsonl.gz:") && skipped.problems[1].contains("the file ends here"));
    }

    #[test]
    fn it_ends_where_it_is_told_to() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        fs::write(&path, line("1") + &line("2") + "nonsense\n").unwrap();
        let mut seen = 0;
        let skipped = each_record(&[path], &mut |_| {
            seen += 1;
            ControlFlow::Break(())
        });
        assert_eq!((seen, skipped.unwrap().count), (1, 0));
    }

    #[test]
    fn a_folder_without_data_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(files(&[folder.path().to_owned()]), Err(CorpusError::Nothing { .. })));
        assert!(matches!(files(&[PathBuf::from("/nowhere/at/all")]), Err(CorpusError::Io { .. })));
    }
}
