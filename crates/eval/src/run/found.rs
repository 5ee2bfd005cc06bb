//! What a store gave: hits, and the cost of building it.

use pericope_api::Span;

/// A chunk that was retrieved: an index into the cut's chunks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    /// Index of the document in the corpus.
    pub(super) document: usize,
    /// Index of the chunk in its document.
    pub(super) ordinal: usize,
    /// The retriever's score.
    pub(super) score: f64,
    /// What is given back in its place, where it is expanded.
    pub(super) run: Option<Run>,
}

/// A run of chunks of one document.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// Byte range in the document.
    pub(super) span: Span,
    /// Tokens of that range, special tokens not counted.
    pub(super) tokens: usize,
    /// The number of its chunks.
    pub(super) chunks: usize,
}

/// What the reader gets of a hit: the whole chunk, or the beginning of it that was left of a budget.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Given {
    pub(super) hit: Hit,
    /// Byte range in the document.
    pub(super) span: Span,
    /// Tokens of that range, special tokens not counted.
    pub(super) tokens: usize,
}

/// What building an index took.
#[derive(Clone, Copy)]
pub(super) struct Built {
    pub(super) seconds: f64,
    /// Bytes on disk; none for a store on a server.
    pub(super) bytes: Option<u64>,
    /// Chunks whose end the encoder does not read.
    pub(super) truncated: u64,
}
