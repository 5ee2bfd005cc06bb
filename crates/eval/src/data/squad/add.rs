//! An article as a document of a set, with its questions.

use std::sync::Arc;

use pericope_api::Span;
use pericope_read::ReadOptions;
use pericope_segment::foreign::Original;

use super::gold::moved;
use super::{Article, gold};
use crate::data::{CodePoints, Question, QuestionSet};

/// What stands between the paragraphs of one article.
const JOINT: &str = "\n\n";

/// Adds a document and its questions; what cannot be used is among the skipped.
pub(in crate::data) fn add(set: &mut QuestionSet, id: String, article: &Article) {
    let (index, before, mended) = (set.documents.len(), set.questions.len(), set.mended.len());
    let mut source = String::new();
    let is_masked = article.paragraphs.iter().any(|paragraph| !paragraph.masked.is_empty());
    let mut original = is_masked.then(String::new);
    let mut number = 0;
    for paragraph in &article.paragraphs {
        if !source.is_empty() {
            source.push_str(JOINT);
            original.iter_mut().for_each(|original| original.push_str(JOINT));
        }
        let base = source.len();
        source.push_str(&paragraph.context);
        if let Some(original) = &mut original {
            original.push_str(paragraph.original().as_ref().unwrap_or(&paragraph.context));
        }
        let points = CodePoints::new(&paragraph.context);
        for qa in &paragraph.qas {
            match gold(&paragraph.context, &points, qa) {
                Ok(span) => {
                    set.mended.extend(
                        moved(&points, qa, span).map(|how| format!("question '{}' of {id}: {how}", qa.question)),
                    );
                    set.questions.push(Question {
                        id: if qa.id.is_empty() { format!("{id}#{number}") } else { qa.id.clone() },
                        text: qa.question.trim().to_owned(),
                        document: index,
                        gold: vec![Span::new(base + span.start, base + span.end)],
                        elsewhere: Vec::new(),
                        answer: span.of(&paragraph.context).to_owned(),
                    });
                }
                Err(problem) => {
                    // SQuAD 2.0 asks what nothing answers, on purpose.
                    set.harmless += usize::from(qa.is_impossible && qa.answers.is_empty());
                    set.skipped.push(format!("question '{}' of {id}: {problem}", qa.question));
                }
            }
            number += 1;
        }
    }
    let text = original.filter(|original| *original != source).map(Into::into);
    let original = Original { text, path: article.path.clone() };
    let format = article.format.as_deref().unwrap_or("plain");
    match pericope_read::read_text(&id, format, source, &ReadOptions::default()) {
        Ok(mut document) => {
            if !article.title.is_empty() {
                document.title = Some(article.title.clone());
            }
            if original != Original::default() {
                Arc::make_mut(&mut set.originals).insert(document.id.clone(), original);
            }
            set.documents.push(document);
        }
        Err(problem) => {
            // Its questions cannot be answered by a corpus without it.
            set.skipped.push(format!("document {id}: {problem}"));
            set.questions.truncate(before);
            set.mended.truncate(mended);
        }
    }
}
