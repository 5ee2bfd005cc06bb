//! What a file holds.

use pericope_api::Span;
use serde::{Deserialize, Serialize};

/// A file in the layout of SQuAD v1.1 (NLQuAD has the same).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SquadFile {
    /// Layout version.
    #[serde(default)]
    pub version: serde_json::Value,
    /// The documents.
    pub data: Vec<Article>,
}

/// A document: its paragraphs belong together.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Article {
    /// Title.
    #[serde(default)]
    pub title: String,
    /// Id; titles stand in where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the contexts are written in: `plain` (default), `md` or `html`. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Where it is from: the project or collection. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The path as it was typed, where the id is a shorter one: another name of the document, for chunks and passages of
    /// others. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The text, in one or several pieces, each with its questions.
    pub paragraphs: Vec<Paragraph>,
}

/// A piece of text with questions about it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Paragraph {
    /// The text.
    pub context: String,
    /// The questions.
    #[serde(default)]
    pub qas: Vec<Qa>,
    /// What was taken out of the text, in its order. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<Masked>,
}

/// Words of a heading that was taken out of a text: blanks of the same length in bytes stand there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masked {
    /// The first byte, in the context.
    pub start: usize,
    /// What stood there.
    pub text: String,
}

impl Paragraph {
    /// The text with what was taken out of it; `None` where that does not fit.
    pub(super) fn original(&self) -> Option<String> {
        let mut text = String::with_capacity(self.context.len());
        let mut at = 0;
        for masked in &self.masked {
            let end = masked.start.checked_add(masked.text.len())?;
            // On characters of the context, so that no offset changes.
            self.context.get(masked.start..end)?;
            text.push_str(self.context.get(at..masked.start)?);
            text.push_str(&masked.text);
            at = end;
        }
        text.push_str(self.context.get(at..)?);
        Some(text)
    }
}

/// A question with its answers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Qa {
    /// Id.
    #[serde(default, deserialize_with = "id_as_text")]
    pub id: String,
    /// What is asked.
    pub question: String,
    /// The answers; the first is the gold answer.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// Whether nothing answers it, on purpose: SQuAD 2.0's.
    #[serde(default, deserialize_with = "truth", skip_serializing_if = "is_false")]
    pub is_impossible: bool,
    /// What a drafted question was made from. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The answer's place in bytes of the context, of a drafted question. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Span>,
}

/// A span of the context.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// Where it starts, in code points of the context.
    #[serde(deserialize_with = "any_number")]
    pub answer_start: usize,
}

/// Stands for a number that is no offset, such as -1: it is one beyond every text, so that the answer is looked for.
const NO_OFFSET: usize = usize::MAX;

impl Answer {
    /// Where it is said to start, for messages.
    pub(in crate::data) fn start(&self) -> String {
        match self.answer_start {
            NO_OFFSET => "answer_start (no whole number from 0 on)".to_owned(),
            start => format!("answer_start {start}"),
        }
    }
}

/// A number that is no offset becomes [`NO_OFFSET`].
fn any_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let number = serde_json::Number::deserialize(deserializer)?;
    Ok(number.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(NO_OFFSET))
}

fn id_as_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => text,
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    })
}

/// True for `true` alone: what else stands there says nothing.
fn truth<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(serde_json::Value::deserialize(deserializer)?.as_bool().unwrap_or(false))
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_false(said: &bool) -> bool {
    !said
}
