//! The content of a report.

use pericope_eval::record::{Answer, Gold, Metrics, Retrieved, RunRecord, Summary};

use super::headline;
use super::items::Items;
use super::view::View;

/// The content of a run's report.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Report {
    /// The name of the run beside others; the experiment's name where there is none.
    pub label: Option<String>,
    /// The figures, the chunkers' size histograms included.
    pub summary: Summary,
    /// The record of what was run.
    pub run: RunRecord,
    /// The questions on which the chunkers differ most.
    pub contrasts: Vec<Contrast>,
    /// Items without a result, the first twenty.
    pub failures: Vec<Failure>,
    /// All items, where there is a page that shows each of them.
    pub items: Option<Items>,
}

/// One question on which the chunkers differ, with what each of them retrieved.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Contrast {
    /// Id of the question.
    pub question_id: String,
    /// The question.
    pub question: String,
    /// The gold answer.
    pub gold: Gold,
    /// Largest minus smallest score of the chunkers.
    pub spread: f64,
    /// The chunkers' results, in the order of the configuration.
    pub sides: Vec<Side>,
    /// The number of chunkers that are not among them, for want of room.
    pub left_out: usize,
}

/// One chunker's result for a question.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Name of the chunker.
    pub chunker: String,
    /// The retrieved chunks, best first, the first ten.
    pub retrieved: Vec<Retrieved>,
    /// The number of further ones.
    pub more: usize,
    /// The generator's answer.
    pub answer: Option<Answer>,
    /// The item's scores.
    pub metrics: Metrics,
    /// Tokens given to the reader.
    pub context_tokens: usize,
    /// Why there is no result, where there is none.
    pub error: Option<String>,
}

/// An item without a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Id of the question.
    pub question_id: String,
    /// Name of the chunker.
    pub chunker: String,
    /// Mode and cutoff, for people: `dense, k = 3`.
    pub setting: String,
    /// The reason.
    pub error: String,
}

impl Report {
    /// Returns the headline sentence: what the run shows, or that it shows nothing.
    #[must_use]
    pub fn headline(&self) -> String {
        headline::headline(&View::new(&self.summary)).replace('\u{a0}', " ")
    }

    /// The experiment's name.
    pub(super) fn name(&self) -> &str {
        if self.summary.name.is_empty() { "Unnamed run" } else { &self.summary.name }
    }

    /// The name of the run beside others.
    pub(super) fn title(&self) -> &str {
        self.label.as_deref().filter(|label| !label.is_empty()).unwrap_or_else(|| self.name())
    }
}
