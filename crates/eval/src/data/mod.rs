//! Question sets: documents, questions and where in the documents the answers stand.
//!
//! One loader a layout, beside each other; [`load`] picks by name.

mod beir;
mod chroma;
mod copies;
pub mod draft;
mod from_docs;
mod offsets;
pub mod review;
mod sample;
mod sections;
mod squad;
mod text;
mod unique;
pub mod validate;

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope_api::{Document, Span};
use pericope_segment::foreign::Originals;
use pericope_segment::split::{Split, split_of};
use serde::{Deserialize, Serialize};

use pericope_util::leads_out;

pub(crate) use copies::copies;
pub use from_docs::{FromDocs, FromDocsOptions, SegmentationLine, from_docs, is_question};
pub(crate) use offsets::CodePoints;
pub use sample::Sampling;
pub(crate) use sections::format_name;
pub use squad::{Answer, Article, Masked, Paragraph, Qa, SquadFile};
pub use text::DataText;
pub use unique::Unique;

/// Why a question set could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// The file or folder cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The file is there, but not in the layout that was promised.
    #[error("{path}: {problem}")]
    Layout {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the place.
        problem: String,
    },
}

/// Refuses a file of a folder that is a link out of it: what it leads to was not named.
///
/// # Errors
/// [`DataError::Layout`] for such a link.
pub fn refuse_stranger(folder: &Path, file: &Path) -> Result<(), DataError> {
    match leads_out(folder, file) {
        true => Err(DataError::Layout {
            path: file.to_owned(),
            problem: "a link out of the folder, which is not followed; put the file itself there, or name it".into(),
        }),
        false => Ok(()),
    }
}

/// Gold spans in one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Unique in the set.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// Index of the document that answers it.
    pub document: usize,
    /// Where the answer stands: byte ranges into the document's source, at least one, none empty.
    pub gold: Vec<Span>,
    /// Where else it stands: ranges of other documents (index, byte range). They count in retrieval metrics as `gold`
    /// does; empty in layouts with one document a question.
    pub elsewhere: Vec<(usize, Span)>,
    /// The answer's text (several spans are joined by line ends); empty in layouts that name passages but no answers.
    pub answer: String,
}

impl Question {
    /// All gold ranges with the document that each lies in.
    pub fn places(&self) -> impl Iterator<Item = (usize, Span)> + '_ {
        self.gold.iter().map(|&span| (self.document, span)).chain(self.elsewhere.iter().copied())
    }
}

/// Which part of the data a run wants.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// `squad`: only articles whose `source` is one of these; empty: all.
    pub sources: Vec<String>,
    /// `squad` folders: only files with this word in their names (NLQuAD's `train`, `dev`, `test`); `beir`: which of
    /// `qrels/NAME.tsv` (default `test`).
    pub split: Option<String>,
}

/// Documents and the questions that they answer.
#[derive(Debug, Clone, Default)]
pub struct QuestionSet {
    /// The corpus, in file order.
    pub documents: Vec<Document>,
    /// The questions, in file order.
    pub questions: Vec<Question>,
    /// What was left out, each with its reason ("question 'x': ...").
    pub skipped: Vec<String>,
    /// How many of these are no loss: questions that have no answer, and documents without text.
    pub harmless: usize,
    /// What was taken otherwise than the file has it, each in words: an answer that stands elsewhere, an id that was there before.
    pub mended: Vec<String>,
    /// SHA-256 of each file that was read, by path as given.
    pub checksums: Vec<(String, String)>,
    /// What gold spans and retrieval metrics are counted in for this layout.
    pub unit: Unit,
    /// The ids in the file of documents that got another one, to be unique, by the new id.
    pub renamed: HashMap<String, String>,
    /// The sources that the file names (`source` of an article), by the ids of the documents.
    pub sources: HashMap<String, String>,
    /// What others know of the documents and this set changed, by their ids: texts before headings were taken out, and
    /// paths.
    pub originals: Arc<Originals>,
}

impl QuestionSet {
    /// Leaves out the questions without a letter or digit: nothing can be looked for.
    fn skip_wordless(&mut self) {
        let Self { questions, skipped, .. } = self;
        questions.retain(|question| {
            let asks = question.text.contains(char::is_alphanumeric);
            if !asks {
                skipped.push(format!("question '{}' ('{}'): it asks nothing", question.id, question.text));
            }
            asks
        });
    }

    /// How much was left out that should have been there.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.skipped.len().saturating_sub(self.harmless)
    }

    /// What a document serves for in training, by its id in the file.
    #[must_use]
    pub fn part(&self, document: &Document) -> Split {
        split_of(self.renamed.get(&document.id).unwrap_or(&document.id))
    }
}

/// What lengths of text are counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// Bytes of UTF-8.
    #[default]
    Bytes,
    /// Unicode code points (Chroma's figures are).
    CodePoints,
}

/// The layouts that [`load`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DataKind {
    /// SQuAD v1.1 JSON, which NLQuAD's is too: a file or a folder of them.
    Squad,
    /// The layout of Chroma's evaluation: `corpora/*.md` and `questions_df.csv`.
    Chroma,
    /// A BEIR folder: `corpus.jsonl`, `queries.jsonl`, `qrels/NAME.tsv`.
    Beir,
}

impl fmt::Display for DataKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DataKind::Squad => "squad",
            DataKind::Chroma => "chroma",
            DataKind::Beir => "beir",
        })
    }
}

/// Reads the question set at `path`.
///
/// # Errors
/// [`DataError`] where the file is missing, is not of this layout, or holds no question at all.
pub fn load(kind: DataKind, path: &Path) -> Result<QuestionSet, DataError> {
    select(kind, path, &Selection::default())
}

/// Reads a part of the question set at `path`.
///
/// # Errors
/// As [`load`]; and where the layout knows no such part, or it holds no question.
pub fn select(kind: DataKind, path: &Path, selection: &Selection) -> Result<QuestionSet, DataError> {
    let foreign = |key: &str| {
        let problem = format!("data.{key} means nothing for data.kind = \"{kind}\"");
        Err(DataError::Layout { path: path.to_owned(), problem })
    };
    if kind != DataKind::Squad && !selection.sources.is_empty() {
        return foreign("sources");
    }
    if kind == DataKind::Chroma && selection.split.is_some() {
        return foreign("split");
    }
    let mut set = match kind {
        DataKind::Squad => squad::load(path, selection)?,
        DataKind::Chroma => chroma::load(path)?,
        DataKind::Beir => beir::load(path, selection.split.as_deref().unwrap_or("test"))?,
    };
    set.skip_wordless();
    if set.questions.is_empty() {
        let first = set.skipped.first().map(|s| format!(" (first of {} left out: {s})", set.skipped.len()));
        let problem = format!("no question in it can be used{}", first.unwrap_or_default());
        return Err(DataError::Layout { path: path.to_owned(), problem });
    }
    // Comparisons are paired by the questions' ids.
    let mut ids = Unique::default();
    for question in &mut set.questions {
        let id = ids.name(&question.id, |id, number| format!("{id} ({number})"));
        if id != question.id {
            set.mended.push(format!(
                "question '{}': its id {:?} was there before; here it is {id:?}",
                question.text, question.id
            ));
            question.id = id;
        }
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_question_without_a_word_is_left_out_with_its_reason() {
        let qa = |id: &str, question: &str| serde_json::json!({"id": id, "question": question, "answers": [{"text": "Two.", "answer_start": 5}]});
        let write = |questions: &[serde_json::Value]| {
            let data = serde_json::json!({"data": [{"title": "d", "paragraphs": [{"context": "One. Two.", "qas": questions}]}]});
            let file = tempfile::NamedTempFile::new().unwrap();
            std::fs::write(file.path(), data.to_string()).unwrap();
            file
        };
        let file = write(&[qa("a", " "), qa("b", "Two?"), qa("c", "?!"), qa("d", "何?")]);
        let set = load(DataKind::Squad, file.path()).unwrap();
        assert_eq!(set.questions.iter().map(|q| q.id.as_str()).collect::<Vec<_>>(), ["b", "d"]);
        assert_eq!(set.skipped.len(), 2);
        assert_eq!(set.left_out(), 2);
        assert!(set.skipped[1].contains("'c' ('?!')") && set.skipped[1].contains("asks nothing"), "{:?}", set.skipped);
        let none = load(DataKind::Squad, write(&[qa("a", "")]).path()).unwrap_err().to_string();
        assert!(none.contains("no question in it can be used") && none.contains("asks nothing"), "{none}");
    }
}
