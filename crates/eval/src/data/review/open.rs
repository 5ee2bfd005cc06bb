use std::path::Path;

use serde::Serialize;

use super::super::squad;
use super::super::{CodePoints, DataError, DataText};

/// Bytes of the document that are shown before an answer: so few that the answer is seen at once.
const BEFORE: usize = 500;
/// Bytes that are shown after it.
const AFTER: usize = 1500;
/// Bytes of an answer that are shown.
const ANSWER: usize = 6000;

/// A question as a page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its number in the file, from 1.
    pub number: usize,
    /// Its id.
    pub id: String,
    /// What it was made from, where the file says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The id of its document.
    pub document: String,
    /// The title of its document.
    pub title: String,
    /// What is asked.
    pub question: String,
    /// The text before the answer.
    pub before: String,
    /// The answer.
    pub answer: String,
    /// The text after the answer.
    pub after: String,
    /// Why the answer cannot be shown in its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The questions of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Review {
    /// The name of the file.
    pub file: String,
    /// SHA-256 of the file: decisions are about this one and no other.
    pub sha256: String,
    /// The questions, in file order.
    pub entries: Vec<Entry>,
}

/// Reads a question file in SQuAD's layout for review.
///
/// # Errors
/// [`DataError`] where it cannot be read, is not of this layout, or one of its articles is not: decisions go by the numbers
/// of the questions, so none may be missing.
pub fn open(path: &Path) -> Result<Review, DataError> {
    let read = DataText::read(path)?;
    let mut entries = Vec::new();
    for (at, article) in squad::articles(&read, path)?.into_iter().enumerate() {
        let article = article.map_err(|problem| DataError::Layout {
            path: path.to_owned(),
            problem: format!("article {}: {problem}; mend or remove it first", at + 1),
        })?;
        for paragraph in &article.paragraphs {
            let points = CodePoints::new(&paragraph.context);
            for qa in &paragraph.qas {
                let (parts, problem) = match squad::gold(&paragraph.context, &points, qa) {
                    Ok(span) => (parts(&paragraph.context, span.start, span.end), None),
                    Err(problem) => {
                        let answer = qa.answers.first().map(|answer| answer.text.clone()).unwrap_or_default();
                        ([String::new(), answer, String::new()], Some(problem))
                    }
                };
                let [before, answer, after] = parts;
                entries.push(Entry {
                    number: entries.len() + 1,
                    id: qa.id.clone(),
                    kind: qa.kind.clone(),
                    document: article.id.clone().unwrap_or_else(|| article.title.clone()),
                    title: article.title.clone(),
                    question: qa.question.trim().to_owned(),
                    before,
                    answer,
                    after,
                    problem,
                });
            }
        }
    }
    let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Review { file, sha256: read.checksum, entries })
}

/// The text before, in and after a range, each cut to what a page shows.
fn parts(context: &str, start: usize, end: usize) -> [String; 3] {
    let from = word_start(context, context.ceil_char_boundary(start.saturating_sub(BEFORE)), start);
    let to = context.floor_char_boundary(end.saturating_add(AFTER).min(context.len()));
    let cut = context.floor_char_boundary(end.min(start.saturating_add(ANSWER)));
    let part = |from: usize, to: usize| context.get(from..to).unwrap_or_default().to_owned();
    let ellipsis = |is_cut: bool| if is_cut { "…" } else { "" };
    [
        format!("{}{}", ellipsis(from > 0), part(from, start)),
        format!("{}{}", part(start, cut), ellipsis(cut < end)),
        format!("{}{}", part(end, to), ellipsis(to < context.len())),
    ]
}

/// The first word that begins at `from` or later, and before `start`.
fn word_start(context: &str, from: usize, start: usize) -> usize {
    if from == 0 {
        return 0;
    }
    let between = context.get(from..start).unwrap_or_default();
    between.find(char::is_whitespace).map_or(from, |at| from + at)
}
