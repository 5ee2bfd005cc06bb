use std::fs;
use std::path::{Path, PathBuf};

use pericope_read::{ReadOptions, read_text};
use pericope_segment::split::{Shares, Split};
use pericope_util::{read_file, sha256_hex};
use serde::{Deserialize, Serialize};

use super::set::ClassSet;
use crate::data::{DataError, refuse_stranger};

/// What may be taken out of a message: it tells the group better than the message does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// All before the first empty line.
    Headers,
    /// Lines that quote others, or say that they do.
    Quotes,
    /// What stands behind the last line that is empty or a row of `-`: a signature, most of the time.
    Footers,
}

/// Reads a folder in the layout of 20news-bydate: two folders whose names end with `train` and `test`, in each a folder a class,
/// in each a file a message. The test documents are those of the second folder; `shares.validation` of the first are to validate on.
pub(super) fn read(path: &Path, strip: &[Part], shares: Shares) -> Result<ClassSet, DataError> {
    let mut set = ClassSet::default();
    for (ending, test) in [("train", false), ("test", true)] {
        let folder = below(path, |name| name.ends_with(ending))?;
        let Some(folder) = folder.into_iter().next() else {
            return Err(DataError::Layout {
                path: path.to_owned(),
                problem: format!("there is no folder in it whose name ends with \"{ending}\" (20news-bydate has two)"),
            });
        };
        for class in below(&folder, |_| true)? {
            for file in files(&class)? {
                let id = format!("{}/{}", name(&class), name(&file));
                let part = match test {
                    true => Split::Test,
                    false => Shares { test: 0.0, ..shares }.part(&id),
                };
                refuse_stranger(path, &file)?;
                let bytes = read_file(&file).map_err(|source| DataError::Io { path: file.clone(), source })?;
                set.checksums.push((name(&folder) + "/" + &id, sha256_hex(&bytes)));
                let text = stripped(&decoded(bytes), strip);
                if text.trim().is_empty() {
                    set.skipped.push(format!("{id}: nothing is left of it"));
                    set.harmless += usize::from(!strip.is_empty());
                    continue;
                }
                // A message may be in both folders.
                let id = format!("{}/{id}", if test { "test" } else { "train" });
                match read_text(&id, "plain", text.as_str(), &ReadOptions::default()) {
                    Ok(document) => set.add(document, &name(&class), part),
                    Err(error) => set.skipped.push(error.to_string()),
                }
            }
        }
    }
    Ok(set)
}

/// UTF-8 where it is that, else Latin-1, in which every byte is a letter.
fn decoded(bytes: Vec<u8>) -> String {
    let text =
        String::from_utf8(bytes).unwrap_or_else(|error| error.as_bytes().iter().map(|&b| char::from(b)).collect());
    text.replace("\r\n", "\n").replace('\0', " ")
}

/// A message without these parts, by the rules of scikit-learn's `fetch_20newsgroups(remove=...)`, in its order: headers,
/// footers, quotes. One without an empty line has no header here, and nothing but a header there.
fn stripped(text: &str, strip: &[Part]) -> String {
    let mut text = match text.split_once("\n\n") {
        Some((_, body)) if strip.contains(&Part::Headers) => body.to_owned(),
        _ => text.to_owned(),
    };
    if strip.contains(&Part::Footers) {
        text = without_footer(&text);
    }
    if strip.contains(&Part::Quotes) {
        text = text.split('\n').filter(|line| !quotes(line)).collect::<Vec<_>>().join("\n");
    }
    text
}

fn without_footer(text: &str) -> String {
    let lines: Vec<&str> = text.trim().split('\n').collect();
    match lines.iter().rposition(|line| line.trim().trim_matches('-').is_empty()) {
        Some(at) if at > 0 => lines.get(..at).unwrap_or_default().join("\n"),
        _ => text.to_owned(),
    }
}

fn quotes(line: &str) -> bool {
    const SAYS: [&str; 5] = ["writes in", "writes:", "wrote:", "says:", "said:"];
    const BEGINS: [&str; 4] = ["In article", "Quoted from", "|", ">"];
    SAYS.iter().any(|words| line.contains(words)) || BEGINS.iter().any(|words| line.starts_with(words))
}

fn name(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The folders in a folder whose names will do, by name.
fn below(folder: &Path, fits: impl Fn(&str) -> bool) -> Result<Vec<PathBuf>, DataError> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_dir() && fits(&name(path))).collect())
}

/// The files in a folder that are not hidden, by name.
fn files(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    Ok(entries(folder)?.into_iter().filter(|path| path.is_file() && !name(path).starts_with('.')).collect())
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, DataError> {
    let io = |source| DataError::Io { path: folder.to_owned(), source };
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(io)? {
        found.push(entry.map_err(io)?.path());
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[derive(Deserialize)]
    struct Golden {
        cases: Vec<Case>,
    }

    #[derive(Deserialize)]
    struct Case {
        text: String,
        strip: Vec<Part>,
        left: String,
    }

    #[test]
    fn what_is_left_is_what_scikit_learn_leaves() {
        let golden: Golden = serde_json::from_str(include_str!("../../tests/golden/newsgroups.json")).unwrap();
        assert!(golden.cases.len() >= 70);
        for Case { text, strip, left } in golden.cases {
            assert_eq!(stripped(&text, &strip), left, "{strip:?} of {text:?}");
        }
    }

    const MESSAGE: &str = "From: a@b.example\nSubject: Engines\n\nIn article <1> c wrote:\n> Which oil?\n\nThe thin one.\nIt \
        lasts.\n\n--\nA. Author\nSomewhere\n";

    #[test]
    fn parts_go_as_scikit_learn_takes_them_out() {
        let all = [Part::Headers, Part::Quotes, Part::Footers];
        assert_eq!(stripped(MESSAGE, &all).trim(), "The thin one.\nIt lasts.");
        assert!(stripped(MESSAGE, &[Part::Headers]).starts_with("In article"));
        assert!(stripped(MESSAGE, &[Part::Quotes]).starts_with("From:"));
        assert!(!stripped(MESSAGE, &[Part::Footers]).contains("Somewhere"));
        assert_eq!(stripped(MESSAGE, &[]), MESSAGE);
        // Without an empty line there is no header, and no footer.
        assert_eq!(stripped("a\nb", &all), "a\nb");
    }

    #[test]
    fn a_folder_of_messages_in_any_encoding() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, bytes: &[u8]| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        for number in 0..20 {
            write(&format!("20news-bydate-train/rec.autos/{number}"), MESSAGE.as_bytes());
        }
        write("20news-bydate-train/sci.space/1", b"Subject: x\n\nOrbits caf\xe9 \x00 and rockets.\r\nMore.");
        write("20news-bydate-train/sci.space/.hidden", b"x");
        write("20news-bydate-test/sci.space/1", b"Subject: x\n\nRockets.");
        write("20news-bydate-test/sci.space/2", b"Subject: x\n\n");
        let shares = Shares { validation: 0.3, test: 0.5, seed: 1 };
        let set = read(root.path(), &[Part::Headers], shares).unwrap();
        assert_eq!(set.labels, ["rec.autos", "sci.space"]);
        assert_eq!((set.documents.len(), set.skipped.len(), set.checksums.len()), (22, 1, 23));
        assert_eq!(set.unusable(), 0, "headers are taken out, as was asked");
        let of = |split: Split| set.splits.iter().filter(|found| **found == split).count();
        assert_eq!(of(Split::Test), 1, "the folder says what is tested on");
        assert!((1..20).contains(&of(Split::Validation)));
        let odd = set.documents.iter().find(|one| one.id == "train/sci.space/1").unwrap();
        assert!(odd.source.contains("café") && !odd.source.contains(['\0', '\r']));
        let error = read(&root.path().join("20news-bydate-test"), &[], shares).unwrap_err().to_string();
        assert!(error.contains("ends with \"train\""), "{error}");
    }
}
