//! Answers made from retrieved chunks.
//!
//! A generator sees a question and the retrieved ranges and answers with text, and, where the answer is taken from a
//! document, with its place. One generator a file.

mod best;
mod extractive;
mod llm;
mod regions;
mod spans;

pub use best::BestPassage;
pub use extractive::{Asked, Extractive, ExtractiveOptions};
pub use llm::{Ledger, ModelGenerator, ModelJudge, Models};
pub use spans::SpanGenerator;
pub(crate) use spans::missing as span_missing;

use pericope_api::{Heading, Span};

use crate::record::{Cost, Judgement, Preference};

/// A retrieved range of a document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Context {
    /// Index of the document in the corpus.
    pub document: usize,
    /// Byte range.
    pub span: Span,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Generated {
    /// What is answered.
    pub text: String,
    /// Where it stands: document index and byte range, for answers that are quotations.
    pub place: Option<(usize, Span)>,
    /// Contexts, the last ones, that the generator had to leave out.
    pub dropped: usize,
    /// What it cost, where a model was asked.
    pub cost: Option<Cost>,
}

impl Generated {
    /// True for an answer in words of the generator's own: one that stands nowhere.
    pub(crate) fn is_free_text(&self) -> bool {
        self.place.is_none() && !self.text.is_empty()
    }
}

/// A question with what was retrieved for it.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The question's words.
    pub question: &'a str,
    /// The same, prepared by the embedded reader.
    pub asked: &'a Asked,
    /// Where what was retrieved lies, best first.
    pub contexts: &'a [Context],
    /// What was retrieved, in the same order.
    pub passages: &'a [Passage<'a>],
}

/// A retrieved range as a model reads it.
#[derive(Debug, Clone, Copy)]
pub struct Passage<'a> {
    /// Id of the document.
    pub document: &'a str,
    /// Headings above, outermost first.
    pub heading_path: &'a [Heading],
    /// The text.
    pub text: &'a str,
}

/// Why there is no answer or no judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Missing {
    /// For this item alone: it is counted as failed.
    Item(String),
    /// For all that follow as well: the run ends, and can be taken up again.
    Run(String),
}

/// Makes answers.
pub trait Generator: Sync + Send {
    /// An answer, or why there is none, for each request, in their order; `done` is called as each is finished.
    fn answer_all(&self, requests: &[Request<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<Generated, Missing>>;
}

/// An answer that is to be judged.
#[derive(Debug, Clone)]
pub struct JudgeRequest<'a> {
    /// The question.
    pub question: &'a str,
    /// The gold answer.
    pub gold: &'a str,
    /// The answer.
    pub answer: &'a str,
    /// What it was made from, best first.
    pub context: Vec<&'a str>,
}

/// What a judge says.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Judged {
    /// Score, reason and votes.
    pub judgement: Judgement,
    /// Share of the answer's claims that the context supports, 0..=1, where that was asked.
    pub faithfulness: Option<f64>,
    /// Share of the passages that help to answer the question, 0..=1, where that was asked.
    pub context_relevance: Option<f64>,
    /// What it cost, where a model was asked.
    pub cost: Option<Cost>,
}

/// Scores answers from 0 to 10.
pub trait Judge: Sync + Send {
    /// Names what the scores depend on: runs whose judges differ in it are not mixed. Empty where the configuration says it all.
    fn fingerprint(&self) -> String {
        String::new()
    }

    /// A judgement, or why there is none, for each answer, in their order; `done` is called as each is finished.
    fn judge_all(&self, answers: &[JudgeRequest<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<Judged, Missing>>;
}

/// Two answers to one question that are to be compared.
#[derive(Debug, Clone, Copy)]
pub struct PairRequest<'a> {
    /// The question.
    pub question: &'a str,
    /// The gold answer.
    pub gold: &'a str,
    /// The chunker's answer.
    pub answer: &'a str,
    /// The baseline's.
    pub baseline: &'a str,
}

/// What a judge says of two answers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PairJudged {
    /// With the chunker's answer first.
    pub first: Preference,
    /// With the baseline's answer first.
    pub second: Preference,
    /// The reason given with the chunker's answer first.
    pub reason: String,
    /// What it cost.
    pub cost: Cost,
}

/// Compares two answers to a question, in both orders.
pub trait PairJudge: Sync + Send {
    /// A verdict, or why there is none, for each pair, in their order; `done` is called as each is finished.
    fn compare_all(&self, pairs: &[PairRequest<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<PairJudged, Missing>>;
}
