//! Documents whose segmentation is known, from the layouts in which the field's data sets come.
//!
//! | layout | what it looks like |
//! | --- | --- |
//! | [`Layout::Jsonl`] | one document a line, `{"id", "sentences": [...], "boundaries": [...]}` |
//! | [`Layout::Choi`] | `.ref` files, or folders of them: one sentence a line, `==========` around the segments |
//! | [`Layout::Wiki727`] | nested folders of files without extension; `========,LEVEL,TITLE.` before each segment |
//! | [`Layout::WikiSection`] | a JSON list of `{"id", "text", "annotations": [{"begin", "length", ...}]}` |
//!
//! JSONL may be packed by gzip, and a folder of such files is one set. Files are read in the order of their paths, so a set is the same on every machine.

mod choi;
mod detect;
mod folder;
mod jsonl;
mod sample;
mod wiki727;
mod wikisection;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use pericope_api::{Boundaries, Document};

use pericope_eval::data::{DataError, DataText, Unique};
use pericope_segment::split::{Split, split_of};

pub use detect::detect;

/// A document and its true boundaries.
#[derive(Debug, Clone)]
pub struct Segmented {
    /// The sentences.
    pub document: Document,
    /// Where its segments end.
    pub reference: Boundaries,
    /// The topic label of each segment (WikiSection's `sectionLabel`); empty where there are none.
    pub labels: Vec<String>,
}

/// Documents that are scored together.
#[derive(Debug, Clone, Default)]
pub struct Set {
    /// What tables call it.
    pub name: String,
    /// In file order; ids are unique.
    pub documents: Vec<Segmented>,
    /// What was left out, each with its place and reason.
    pub skipped: Vec<String>,
    /// The ids in the file of documents that got another one, to be unique, by the new id.
    pub renamed: HashMap<String, String>,
}

impl Set {
    /// What a document serves for in training. Documents of the same id in the file go together: a copy of one that is
    /// tested on is not trained on.
    #[must_use]
    pub fn part(&self, one: &Segmented) -> Split {
        let id = &one.document.id;
        split_of(self.renamed.get(id).unwrap_or(id))
    }
}

/// How a data set is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Layout {
    /// Pericope's own.
    Jsonl,
    /// Choi (2000), also used for the books of Kazantseva and Szpakowicz and of Eisenstein and Barzilay.
    Choi,
    /// Koshorek et al. (2018).
    Wiki727,
    /// Arnold et al. (2019).
    WikiSection,
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Jsonl => "segmentation JSONL",
            Self::Choi => "Choi .ref",
            Self::Wiki727 => "Wiki-727K",
            Self::WikiSection => "WikiSection JSON",
        })
    }
}

/// Cuts running text into sentences: byte ranges, in order.
pub type Splitter<'a> = &'a dyn Fn(&str) -> Vec<Range<usize>>;

/// What is read, and how.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// What to call the set; the name of the file or folder where there is none.
    pub name: Option<&'a str>,
    /// Most documents; 0: all. They are sampled by a hash of their ids, and a larger sample holds every smaller one.
    pub documents: usize,
    /// Seed of the sampling.
    pub seed: u64,
    /// Only the documents of this part, as training parts them; all where there is none.
    pub part: Option<Split>,
    /// The sentences of a text that comes without (WikiSection).
    pub split: Splitter<'a>,
    /// The layout; found by looking where there is none.
    pub layout: Option<Layout>,
}

impl fmt::Debug for Options<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, documents, seed, layout, .. } = self;
        write!(f, "Options {{ name: {name:?}, documents: {documents}, seed: {seed}, layout: {layout:?} }}")
    }
}

impl<'a> Options<'a> {
    /// All documents of whatever layout there is.
    #[must_use]
    pub fn new(split: Splitter<'a>) -> Self {
        Self { name: None, documents: 0, seed: 7, part: None, split, layout: None }
    }
}

impl Options<'_> {
    /// Whether a document of this id is wanted.
    fn wants(&self, id: &str) -> bool {
        self.part.is_none_or(|part| split_of(id) == part)
    }
}

/// Reads a data set.
///
/// Documents that cannot be used are left out and named in [`Set::skipped`] (`FILE:LINE: problem`).
///
/// # Errors
/// [`DataError`] where the path cannot be read, fits no layout, or holds no document that can be used.
pub fn read(path: &Path, options: &Options<'_>) -> Result<Set, DataError> {
    let layout = match options.layout {
        Some(layout) => layout,
        None => detect(path)?,
    };
    let mut set = match layout {
        Layout::Jsonl => sample::take(jsonl::read(path)?, options),
        Layout::WikiSection => sample::take(wikisection::read(path, options.split)?, options),
        Layout::Choi => folder::read(path, &["ref"], options, choi::parse)?,
        Layout::Wiki727 => folder::read(path, &[], options, wiki727::parse)?,
    };
    if set.documents.is_empty() {
        let first = set.skipped.first().cloned().unwrap_or_else(|| {
            if options.part.is_some() { "none falls into that part of the split" } else { "it is empty" }.into()
        });
        let problem = format!("no document in it can be used as {layout} ({first})");
        return Err(DataError::Layout { path: path.to_owned(), problem });
    }
    set.name = options.name.map_or_else(|| name_of(path), str::to_owned);
    set.renamed = make_unique(&mut set.documents);
    Ok(set)
}

/// The file's name without extension, the folder's name.
fn name_of(path: &Path) -> String {
    let name = if path.is_dir() { path.file_name() } else { path.file_stem() };
    let name = name.map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    // Of a packed file: `docs.jsonl.gz`.
    name.strip_suffix(".jsonl").map(str::to_owned).unwrap_or(name)
}

/// A later document with an id that was there before gets a number behind it. Gives the ids before by those after.
fn make_unique(documents: &mut [Segmented]) -> HashMap<String, String> {
    let mut renamed = HashMap::new();
    let mut ids = Unique::default();
    for document in documents.iter_mut().map(|one| &mut one.document) {
        let id = ids.name(&document.id, |id, number| format!("{id}#{number}"));
        if id != document.id {
            renamed.insert(id.clone(), std::mem::replace(&mut document.id, id));
        }
    }
    renamed
}

/// The text of a file that is one document.
fn text_of(path: &Path) -> Result<String, DataError> {
    let read = DataText::read(path)?;
    let layout = |problem| DataError::Layout { path: path.to_owned(), problem };
    read.check(&read.text).map_err(layout)?;
    Ok(read.text)
}

/// A document from its segments; blank sentences and segments without sentences are left out.
fn from_segments<S: AsRef<str>>(id: &str, segments: &[Vec<S>]) -> Result<Segmented, String> {
    let mut sentences: Vec<&str> = Vec::new();
    let mut after: Vec<usize> = Vec::new();
    for segment in segments {
        let before = sentences.len();
        sentences.extend(segment.iter().map(|s| s.as_ref().trim()).filter(|s| !s.is_empty()));
        if sentences.len() > before && before > 0 {
            after.push(before);
        }
    }
    if sentences.is_empty() {
        return Err("it holds no sentence".into());
    }
    let document = Document::from_sentences(id, &sentences);
    let reference = Boundaries::new(document.len(), after).map_err(|e| e.to_string())?;
    Ok(Segmented { document, reference, labels: Vec::new() })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Options, Split, from_segments, read, split_of};

    #[test]
    fn empty_segments_and_blank_sentences_vanish() {
        let one = from_segments("d", &[vec![], vec!["a", " "], vec![""], vec!["b", "c"], vec![]]).unwrap();
        assert_eq!((one.document.len(), one.reference.after()), (3, &[1][..]));
        assert!(from_segments("d", &[vec![" "]]).is_err());
    }

    #[test]
    fn ids_are_made_unique_and_the_set_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("twice");
        std::fs::create_dir(&path).unwrap();
        // Of two files, which may count their documents each by itself.
        let line = r#"{"id":"a","sentences":["x","y"],"boundaries":[1]}"#;
        std::fs::write(path.join("1.jsonl"), line).unwrap();
        let other = r#"{"id":"a#2","sentences":["x"],"boundaries":[]}"#;
        std::fs::write(path.join("2.jsonl"), format!("{line}\n{other}\n")).unwrap();
        let set = read(&path, &Options::new(&|_| Vec::new())).unwrap();
        let ids: Vec<&str> = set.documents.iter().map(|d| d.document.id.as_str()).collect();
        assert_eq!((set.name.as_str(), ids), ("twice", vec!["a", "a#2", "a#2#2"]));
        // By the ids in the file: SHA-256 puts "a" into the test part, "a#2" and "a#2#2" elsewhere.
        let parts: Vec<Split> = set.documents.iter().map(|d| set.part(d)).collect();
        assert_eq!(parts, [split_of("a"), split_of("a"), split_of("a#2")]);
        assert!(split_of("a#2") != split_of("a"));
    }

    #[test]
    fn a_set_without_documents_is_an_error_that_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bad.jsonl");
        std::fs::write(&path, "{\"id\":\"a\",\"sentences\":[\"x\"],\"boundaries\":[4]}\n").unwrap();
        let error = read(&path, &Options::new(&|_| Vec::new())).unwrap_err().to_string();
        assert!(error.contains("bad.jsonl:1: boundary 4 is outside"), "{error}");
    }
}
