//! What a store gave: hits, and the cost of building it.

/// A chunk that was retrieved: an index into the cut's chunks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Hit {
    /// Index of the document in the corpus.
    pub(super) document: usize,
    /// Index of the chunk in its document.
    pub(super) ordinal: usize,
    /// The retriever's score.
    pub(super) score: f64,
}

/// What building an index took.
pub(super) struct Built {
    pub(super) seconds: f64,
    /// Bytes on disk; none for a store on a server.
    pub(super) bytes: Option<u64>,
    /// Chunks whose end the encoder does not read.
    pub(super) truncated: u64,
}
