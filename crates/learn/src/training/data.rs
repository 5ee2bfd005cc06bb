use std::sync::Arc;

use crate::sentences::Sentences;

/// A document whose boundaries are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabelledDocument {
    /// The id, which decides its [`Split`](pericope_segment::split::Split).
    pub id: String,
    /// The sentences as the base model's tokens; for WeSWin at most 3 less of each than a sequence has.
    pub sentences: Sentences,
    /// True where a segment ends after the sentence; the last one's entry is not used.
    pub ends: Vec<bool>,
}

/// A question about a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreparedQuestion {
    /// The document's sentences; questions about one document share them.
    pub sentences: Arc<Sentences>,
    /// True for sentences inside the answer.
    pub relevant: Vec<bool>,
    /// The question's tokens.
    pub question: Vec<u32>,
}

/// The data of a training of WeSWin.
#[derive(Debug, Clone, Copy, Default)]
pub struct Data<'a> {
    /// Documents to learn boundaries from.
    pub train: &'a [LabelledDocument],
    /// Documents to stop by and to tune on; without boundaries in them all steps are done and the last weights stay.
    pub validation: &'a [LabelledDocument],
    /// Questions to train the retrieval head on; without any the model has none.
    pub questions: &'a [PreparedQuestion],
    /// Questions that the retrieval head is measured on at each validation.
    pub validation_questions: &'a [PreparedQuestion],
}

impl LabelledDocument {
    /// True where a segment ends before the last sentence.
    #[must_use]
    pub fn has_boundary(&self) -> bool {
        self.ends.iter().rev().skip(1).any(|&end| end)
    }
}
