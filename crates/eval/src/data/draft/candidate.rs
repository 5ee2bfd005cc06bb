use pericope_api::Span;

use super::QuestionKind;

/// A question on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Index of the document.
    pub document: usize,
    pub kind: QuestionKind,
    pub query: String,
    /// The answer: bytes of the document's source.
    pub answer: Span,
    /// Headings whose words are taken out: indices of sentences.
    pub masks: Vec<usize>,
}
