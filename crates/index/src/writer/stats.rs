//! What a writer did.

use serde::Serialize;

use crate::EmbedCounts;

/// What a finished run did, and what the index holds now.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct IndexStats {
    /// Documents in the index.
    pub documents: u64,
    /// Chunks in the index.
    pub chunks: u64,
    /// Documents that this run added or replaced.
    pub documents_written: u64,
    /// Chunks that this run wrote.
    pub chunks_written: u64,
    /// Documents that this run removed.
    pub documents_removed: u64,
    /// Bytes of source text that this run wrote.
    pub bytes: u64,
    /// Texts that the encoder was given (equal texts in a batch, and texts whose vectors were known, not counted).
    pub texts_embedded: u64,
    /// Texts whose vectors were known already.
    pub texts_reused: u64,
    /// Chunks that this run wrote whose end the encoder does not read.
    pub truncated: u64,
    /// Seconds spent in the encoder.
    pub embed_seconds: f64,
    /// Seconds from opening to the end of `finish`.
    pub seconds: f64,
}

/// Counts of one writer.
#[derive(Default)]
pub(super) struct Counts {
    pub documents: u64,
    pub chunks: u64,
    pub removed: u64,
    pub bytes: u64,
    pub embedded: EmbedCounts,
    pub truncated: u64,
}
