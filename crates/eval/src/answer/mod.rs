//! Answers made from retrieved chunks.
//!
//! A generator sees a question and the retrieved ranges and answers with text, and, where the answer is taken from a
//! document, with its place. One generator a file.

mod extractive;

pub use extractive::{Asked, Extractive, ExtractiveOptions};

use pericope_api::Span;

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
}
