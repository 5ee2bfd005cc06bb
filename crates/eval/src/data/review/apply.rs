use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::{DataError, DataText};

/// What is decided on a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Choice {
    /// It stays.
    Keep,
    /// It goes.
    Drop,
    /// It stays, in other words.
    Mend,
}

/// A decision on one question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// The question's number in the file, from 1.
    pub number: usize,
    /// Its id, which must be the one of that number.
    #[serde(default)]
    pub id: String,
    /// What is decided.
    pub decision: Choice,
    /// The new words, of a question that is mended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
}

/// The file that a review page saves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decisions {
    /// The name of the question file.
    #[serde(default)]
    pub file: String,
    /// SHA-256 of the question file.
    pub sha256: String,
    /// The decisions; questions without one are undecided.
    pub decisions: Vec<Decision>,
}

/// A question file after a review.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// The file's text: all that it held, in its order, without the questions that were dropped.
    #[serde(skip)]
    pub text: String,
    /// Questions that were kept as they are.
    pub kept: usize,
    /// Questions in other words.
    pub mended: usize,
    /// Questions that were dropped.
    pub dropped: usize,
    /// Questions without a decision.
    pub undecided: usize,
}

/// Applies decisions to a question file. Documents stay, also those without a question; so do keys that other programs put
/// there. Undecided questions stay where `keep_undecided` is set, else they go.
///
/// # Errors
/// [`DataError`] where a file cannot be read, the decisions are about another file, or a decision is about no question.
pub fn apply(questions: &Path, decisions: &Path, keep_undecided: bool) -> Result<Applied, DataError> {
    let wrong = |path: &Path, problem: String| DataError::Layout { path: path.to_owned(), problem };
    let read = DataText::read(questions)?;
    let decided: Decisions = serde_json::from_str(&DataText::read(decisions)?.text)
        .map_err(|e| wrong(decisions, format!("no decisions of a review (sha256, decisions): {e}")))?;
    if decided.sha256 != read.checksum {
        let problem = format!(
            "these decisions are about another file ({}, sha256 {}) than {} (sha256 {}): review it again",
            decided.file,
            decided.sha256,
            questions.display(),
            read.checksum
        );
        return Err(wrong(decisions, problem));
    }
    let mut by_number: HashMap<usize, Decision> = HashMap::new();
    for decision in decided.decisions {
        by_number.insert(decision.number, decision);
    }
    let mut file: Value = serde_json::from_str(&read.text).map_err(|e| wrong(questions, e.to_string()))?;
    let mut applied = Applied { text: String::new(), kept: 0, mended: 0, dropped: 0, undecided: 0 };
    let mut number = 0;
    let articles = file.get_mut("data").and_then(Value::as_array_mut).into_iter().flatten();
    let paragraphs = articles.flat_map(|article| article.get_mut("paragraphs").and_then(Value::as_array_mut)).flatten();
    for paragraph in paragraphs {
        let Some(qas) = paragraph.get_mut("qas").and_then(Value::as_array_mut) else { continue };
        let mut left = Vec::with_capacity(qas.len());
        for mut qa in std::mem::take(qas) {
            number += 1;
            let decision = by_number.remove(&number);
            let id = qa.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), ToOwned::to_owned));
            if let Some(decision) = &decision
                && decision.id != id.clone().unwrap_or_default()
            {
                let problem =
                    format!("question {number} has the id '{}', not '{}'", id.unwrap_or_default(), decision.id);
                return Err(wrong(decisions, problem));
            }
            let stays = match decision.map(|decision| (decision.decision, decision.question)) {
                None => {
                    applied.undecided += 1;
                    keep_undecided
                }
                Some((Choice::Keep, _)) => {
                    applied.kept += 1;
                    true
                }
                Some((Choice::Drop, _)) => {
                    applied.dropped += 1;
                    false
                }
                Some((Choice::Mend, words)) => {
                    let words = words.map(|words| words.trim().to_owned()).filter(|words| !words.is_empty());
                    let words = words.ok_or_else(|| {
                        wrong(decisions, format!("question {number} is to be mended, and has no new words"))
                    })?;
                    if let Some(qa) = qa.as_object_mut() {
                        qa.insert("question".to_owned(), Value::String(words));
                    }
                    applied.mended += 1;
                    true
                }
            };
            if stays {
                left.push(qa);
            }
        }
        *qas = left;
    }
    if let Some(unknown) = by_number.keys().min() {
        return Err(wrong(decisions, format!("there is no question {unknown}: the file has {number}")));
    }
    let text = serde_json::to_string_pretty(&file).map_err(|e| wrong(questions, e.to_string()))?;
    applied.text = text + "\n";
    Ok(applied)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::super::open;
    use super::*;

    fn file(folder: &Path) -> std::path::PathBuf {
        let qa = |id: &str| serde_json::json!({"id": id, "question": format!("{id}?"), "answers": [{"text": "Two.", "answer_start": 5}], "mine": 1});
        let data = serde_json::json!({"version": "x", "data": [
            {"title": "t", "id": "d", "paragraphs": [{"context": "One. Two.", "qas": [qa("a"), qa("b")]}]},
            {"title": "u", "paragraphs": [{"context": "One. Two. Three.", "qas": [qa("c"), qa("d")]}], "other": true}]});
        let path = folder.join("q.json");
        std::fs::write(&path, data.to_string()).unwrap();
        path
    }

    #[test]
    fn decisions_are_applied_to_the_file_that_they_are_about() {
        let folder = tempfile::tempdir().unwrap();
        let questions = file(folder.path());
        let review = open(&questions).unwrap();
        assert_eq!(review.entries.len(), 4);
        let third = &review.entries[2];
        assert_eq!((third.before.as_str(), third.answer.as_str(), third.after.as_str()), ("One. ", "Two.", " Three."));
        let decision = |number: usize, id: &str, decision: Choice, question: Option<&str>| Decision {
            number,
            id: id.into(),
            decision,
            question: question.map(ToOwned::to_owned),
        };
        let decided = |list: Vec<Decision>, sha256: &str| {
            let path = folder.path().join("decisions.json");
            let all = Decisions { file: "q.json".into(), sha256: sha256.into(), decisions: list };
            std::fs::write(&path, serde_json::to_string(&all).unwrap()).unwrap();
            path
        };
        let list = vec![
            decision(1, "a", Choice::Keep, None),
            decision(2, "b", Choice::Drop, None),
            decision(3, "c", Choice::Mend, Some(" Which? ")),
        ];
        let path = decided(list, &review.sha256);
        let applied = apply(&questions, &path, true).unwrap();
        assert_eq!((applied.kept, applied.mended, applied.dropped, applied.undecided), (1, 1, 1, 1));
        let kept: Value = serde_json::from_str(&applied.text).unwrap();
        assert_eq!(kept.pointer("/data/1/paragraphs/0/qas/0/question").unwrap(), "Which?");
        assert_eq!(kept.pointer("/data/1/paragraphs/0/qas/0/mine").unwrap(), 1);
        assert_eq!(kept.pointer("/data/1/other").unwrap(), true);
        assert_eq!(kept.pointer("/data/0/paragraphs/0/qas").unwrap().as_array().unwrap().len(), 1);
        let strict = apply(&questions, &path, false).unwrap();
        assert!(!strict.text.contains("\"d?\""), "{}", strict.text);
        for (list, sha256, says) in [
            (vec![], "abc", "another file"),
            (vec![decision(5, "", Choice::Keep, None)], review.sha256.as_str(), "no question 5"),
            (vec![decision(2, "a", Choice::Keep, None)], review.sha256.as_str(), "not 'a'"),
            (vec![decision(1, "a", Choice::Mend, None)], review.sha256.as_str(), "no new words"),
        ] {
            let error = apply(&questions, &decided(list, sha256), true).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
