//! A line of `items.jsonl`: a question, what was retrieved for it, the answer, and the scores.

use pericope_api::Span;
use serde::{Deserialize, Serialize};

use super::finite::{finite_metrics, null_as_nan};
use super::{Cost, Metrics};
use crate::cell::{CellKey, Cutoff, Setting};

/// One line of `items.jsonl`: a question put to one chunker's index in one mode at one setting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Item {
    /// Id of the question, unique in the data set.
    pub question_id: String,
    /// Name of the chunker.
    pub chunker: String,
    /// Retrieval mode.
    pub mode: String,
    /// The cutoff: a number of chunks or a budget of tokens, as `k` and `token_budget`.
    #[serde(flatten)]
    pub cutoff: Cutoff,
    /// Ids of the documents that hold the gold answer.
    #[serde(default)]
    pub documents: Vec<String>,
    /// The question.
    pub question: String,
    /// The gold answer.
    pub gold: Gold,
    /// What was retrieved, best first.
    #[serde(default)]
    pub retrieved: Vec<Retrieved>,
    /// The answer that a generator gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// The item's scores.
    #[serde(default, with = "finite_metrics")]
    pub metrics: Metrics,
    /// What a model that judged the answer said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judgement: Option<Judgement>,
    /// What models were paid for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
    /// Chunks, the worst ranked, that were not given to the reader since they did not fit its context.
    #[serde(default, skip_serializing_if = "none_dropped")]
    pub dropped: usize,
    /// Tokens given to the reader.
    #[serde(default)]
    pub context_tokens: usize,
    /// Whether there is a result.
    #[serde(default)]
    pub status: Status,
    /// Why there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Item {
    /// Returns the coordinates of the cell that the item belongs to.
    #[must_use]
    pub fn key(&self) -> CellKey {
        CellKey { chunker: self.chunker.clone(), mode: self.mode.clone(), cutoff: self.cutoff }
    }

    /// Returns mode and cutoff.
    #[must_use]
    pub fn setting(&self) -> Setting {
        Setting { mode: self.mode.clone(), cutoff: self.cutoff }
    }

    /// Returns the item without its texts, which are most of it: with its names, scores, status and cost.
    pub(crate) fn without_texts(self) -> Self {
        let gold = Gold { document: self.gold.document, ..Gold::default() };
        let judgement = self.judgement.map(|judgement| Judgement { reason: String::new(), ..judgement });
        Self {
            documents: Vec::new(),
            question: String::new(),
            gold,
            retrieved: Vec::new(),
            answer: None,
            judgement,
            error: None,
            ..self
        }
    }

    /// Returns true where the item was retrieved in this mode and at this cutoff.
    #[must_use]
    pub fn is_at(&self, setting: &Setting) -> bool {
        setting.is(&self.mode, self.cutoff)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn none_dropped(n: &usize) -> bool {
    *n == 0
}

/// A model's judgement of an answer.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Judgement {
    /// Mean of the votes, 0..=10.
    pub score: f64,
    /// The reason given with the first vote.
    #[serde(default)]
    pub reason: String,
    /// Every vote.
    #[serde(default)]
    pub votes: Vec<f64>,
    /// Votes that could not be had; no part of the mean.
    #[serde(default, skip_serializing_if = "none_dropped")]
    pub failed_votes: usize,
}

/// Whether an item has a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It has.
    #[default]
    Ok,
    /// It has not; the item's `error` says why.
    Failed,
}

/// The passage that answers a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Gold {
    /// Id of the document that holds it.
    pub document: String,
    /// Where it lies, in bytes of that document.
    #[serde(default)]
    pub spans: Vec<Span>,
    /// Its text; several spans are joined by line ends.
    #[serde(default)]
    pub text: String,
}

/// A chunk that was retrieved.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Retrieved {
    /// Place in the result, from 1.
    pub rank: usize,
    /// Id of its document.
    pub document: String,
    /// First byte in the document.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The retriever's score.
    #[serde(deserialize_with = "null_as_nan")]
    pub score: f64,
    /// Tokens of the text.
    pub tokens: usize,
    /// Tokens of the whole chunk, where a budget of tokens ended inside it and only its beginning was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub whole_tokens: Option<usize>,
    /// Chunks of an expanded hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<usize>,
    /// Headings above it, outermost first.
    #[serde(default)]
    pub heading_path: Vec<String>,
    /// Share of the gold text that lies inside, 0..1.
    #[serde(default, deserialize_with = "null_as_nan")]
    pub gold_share: f64,
    /// The text.
    #[serde(default)]
    pub text: String,
}

/// A generator's answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Answer {
    /// The answer.
    pub text: String,
    /// Document that it was taken from, for extractive generators.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document: Option<String>,
    /// First byte in that document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<usize>,
    /// One past the last byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<usize>,
}
