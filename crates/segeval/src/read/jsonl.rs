//! One document a line.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Read;
use std::path::{Path, PathBuf};

use pericope_api::{Boundaries, Document};
use pericope_util::open_unpacked;
use serde::Deserialize;
use serde::de::IgnoredAny;

use pericope_eval::data::DataError;

use super::{Segmented, folder};

#[derive(Deserialize)]
struct Line {
    id: String,
    sentences: Vec<String>,
    boundaries: Vec<usize>,
    #[serde(default)]
    labels: Vec<String>,
    /// Nothing here needs the depths and the titles of segments, but a wrong number of them says that the line is none.
    #[serde(default)]
    levels: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    headings: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    paragraphs: Vec<usize>,
}

/// A file, or the files of a folder, at any depth, that may hold documents: `*.jsonl` and `*.jsonl.gz`, sorted by path.
pub(super) fn files_of(path: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut files = folder::files_of(path, &["jsonl", "gz"])?;
    if path.is_dir() {
        files.retain(|file| file.extension().is_some_and(|end| end != "gz") || is_packed(file));
    }
    Ok(files)
}

fn is_packed(file: &Path) -> bool {
    file.file_stem().map(Path::new).and_then(Path::extension).is_some_and(|end| end == "jsonl")
}

/// Every line, of a file or of all [files](files_of) of a folder, as a document, or why it is none.
pub(super) fn read(path: &Path) -> Result<Vec<Result<Segmented, String>>, DataError> {
    let files = files_of(path)?.into_iter().map(|file| read_file(&file));
    Ok(files.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn read_file(path: &Path) -> Result<Vec<Result<Segmented, String>>, DataError> {
    let mut bytes = Vec::new();
    let read = open_unpacked(path).and_then(|mut input| input.read_to_end(&mut bytes));
    read.map_err(|source| DataError::Io { path: path.to_owned(), source })?;
    let lines = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes).split(|&byte| byte == b'\n').enumerate();
    let lines = lines.filter(|(_, line)| !line.trim_ascii().is_empty());
    let place = |number: usize| format!("{}:{}", path.display(), number + 1);
    // Line by line, so that one bad byte costs its document and not the whole set.
    let text = |line| std::str::from_utf8(line).map_err(|e| format!("it is not UTF-8: {e}"));
    // A document that stands there twice would count twice. Files of a folder may each have ids of their own.
    let mut known: HashMap<String, usize> = HashMap::new();
    let mut one = |number: usize, line| -> Result<Segmented, String> {
        let one = text(line).and_then(parse)?;
        match known.entry(one.document.id.clone()) {
            Entry::Occupied(first) => {
                Err(format!("the document {:?} stands in line {} already", one.document.id, first.get() + 1))
            }
            Entry::Vacant(place) => {
                place.insert(number);
                Ok(one)
            }
        }
    };
    Ok(lines.map(|(i, line)| one(i, line).map_err(|problem| format!("{}: {problem}", place(i)))).collect())
}

fn parse(line: &str) -> Result<Segmented, String> {
    // An array would be taken for the fields in their order.
    if line.trim_start().starts_with('[') {
        return Err("a document is a JSON object, and this is an array".to_owned());
    }
    // serde_json counts lines too, and always says 1 here.
    let mut line: Line =
        serde_json::from_str(line).map_err(|e| e.to_string().replace(" at line 1 column", " at column"))?;
    let reference = Boundaries::new(line.sentences.len(), line.boundaries).map_err(|e| e.to_string())?;
    if line.sentences.is_empty() {
        return Err("it holds no sentence".into());
    }
    let boundaries = reference.after().len();
    let count = |list: &Option<Vec<IgnoredAny>>| list.as_ref().map_or(0, Vec::len);
    for (key, found, wanted, each) in [
        ("levels", count(&line.levels), boundaries, "boundary"),
        ("headings", count(&line.headings), boundaries + 1, "segment"),
        ("labels", line.labels.len(), boundaries + 1, "segment"),
    ] {
        if found != 0 && found != wanted {
            return Err(format!("{key} has {found} entries, not {wanted} (one a {each})"));
        }
    }
    let paragraphs = reference.paragraph_ends(line.paragraphs).map_err(|e| format!("paragraphs: {e}"))?;
    for sentence in &mut line.sentences {
        // A blank sentence would vanish from the document and shift every index after it.
        if sentence.trim().is_empty() {
            ".".clone_into(sentence);
        }
    }
    let mut document = Document::from_sentences(&line.id, &line.sentences);
    if !paragraphs.is_empty() {
        document = document.with_paragraphs(&paragraphs);
    }
    Ok(Segmented { document, reference, labels: line.labels })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write;

    use super::super::{Layout, detect};
    use super::{parse, read};

    #[test]
    fn blank_sentences_keep_their_place() {
        let one = parse(r#"{"id":"d","sentences":["a"," ","b"],"boundaries":[2],"levels":[1]}"#).unwrap();
        assert_eq!((one.document.len(), one.document.sentence(1)), (3, "."));
    }

    #[test]
    fn paragraphs_are_read_where_they_are_given() {
        let paragraphs = |more: &str| {
            let line = format!(r#"{{"id":"d","sentences":["a","b","c","d"],"boundaries":[3]{more}}}"#);
            parse(&line).map(|one| one.document.sentences.iter().map(|s| s.paragraph).collect::<Vec<_>>())
        };
        assert_eq!(paragraphs("").unwrap(), [0, 1, 2, 3]);
        assert_eq!(paragraphs(r#","paragraphs":[1,4]"#).unwrap(), [0, 1, 1, 2]);
        assert!(paragraphs(r#","paragraphs":[2,2]"#).unwrap_err().contains("paragraphs: "));
    }

    #[test]
    fn lists_have_one_entry_for_each_boundary_or_segment() {
        let of =
            |more: &str| parse(&format!(r#"{{"id":"d","sentences":["a","b","c"],"boundaries":[2],{more}}}"#)).map(drop);
        for fine in [r#""levels":[3],"headings":["x",null]"#, r#""levels":null,"headings":[]"#, r#""labels":["x","y"]"#]
        {
            assert_eq!(of(fine), Ok(()), "{fine}");
        }
        for (more, says) in [
            (r#""levels":[1,2]"#, "levels has 2 entries, not 1 (one a boundary)"),
            (r#""headings":["x"]"#, "headings has 1 entries, not 2 (one a segment)"),
            (r#""labels":["x"]"#, "labels has 1 entries, not 2 (one a segment)"),
        ] {
            assert_eq!(of(more), Err(says.to_owned()));
        }
    }

    #[test]
    fn a_document_that_stands_there_twice_is_a_bad_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let line = |id: &str| format!("{{\"id\":\"{id}\",\"sentences\":[\"a\"],\"boundaries\":[]}}\n");
        std::fs::write(&path, [line("1"), line("2"), line("1"), line("1")].concat()).unwrap();
        let found = read(&path).unwrap();
        assert_eq!(found.iter().filter(|one| one.is_ok()).count(), 2);
        let said = found[2].as_ref().unwrap_err();
        assert!(said.ends_with("x.jsonl:3: the document \"1\" stands in line 1 already"), "{said}");
        assert!(found[3].as_ref().unwrap_err().ends_with("x.jsonl:4: the document \"1\" stands in line 1 already"));
    }

    #[test]
    fn a_folder_is_one_set() {
        let folder = tempfile::tempdir().unwrap();
        let line = |id: &str| format!(r#"{{"id":"{id}","sentences":["a","b"],"boundaries":[1]}}"#);
        std::fs::create_dir(folder.path().join("b")).unwrap();
        std::fs::write(folder.path().join("b/x.seg.jsonl"), line("2") + "\nnonsense\n").unwrap();
        std::fs::write(folder.path().join("a.jsonl"), line("1")).unwrap();
        std::fs::write(folder.path().join("notes.json"), "[]").unwrap();
        std::fs::write(folder.path().join("dump.gz"), "no documents").unwrap();
        assert_eq!(detect(folder.path()).unwrap(), Layout::Jsonl);
        let found = read(folder.path()).unwrap();
        let ids: Vec<&str> = found.iter().flatten().map(|one| one.document.id.as_str()).collect();
        assert_eq!(ids, ["1", "2"]);
        assert!(found[2].as_ref().unwrap_err().contains("x.seg.jsonl:2: "));
    }

    #[test]
    fn packed_files_are_read_like_others() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl.gz");
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(b"{\"id\":\"d\",\"sentences\":[\"a\",\"b\"],\"boundaries\":[1],\"labels\":[\"x\",\"y\"]}\n")
            .unwrap();
        std::fs::write(&path, out.finish().unwrap()).unwrap();
        assert_eq!(detect(&path).unwrap(), Layout::Jsonl);
        let found = read(&path).unwrap();
        let one = found[0].as_ref().unwrap();
        assert_eq!((one.reference.after(), one.labels.as_slice()), (&[1][..], &["x".to_owned(), "y".to_owned()][..]));
        std::fs::write(&path, b"\x1f\x8bno more").unwrap();
        assert!(read(&path).is_err());
    }

    #[test]
    fn bad_lines_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.jsonl");
        let text =
            b"\xef\xbb\xbf\n{\"id\":\"d\",\"sentences\":[\"a\"],\"boundaries\":[]}\nnonsense\r\n{\"id\":\"\xff\"}\n";
        std::fs::write(&path, text).unwrap();
        let found = read(&path).unwrap();
        assert_eq!((found.len(), found.iter().filter(|one| one.is_ok()).count()), (3, 1));
        assert!(found[2].as_ref().unwrap_err().contains("x.jsonl:4: it is not UTF-8"));
        assert!(found[1].as_ref().unwrap_err().contains("x.jsonl:3: "));
    }
}
