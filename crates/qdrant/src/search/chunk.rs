use pericope_store::{ChunkId, ChunkRecord, Ranked};

use crate::Error;
use crate::fields;
use crate::payload::Payload;

/// A chunk of a collection with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoredChunk {
    /// The id.
    pub id: ChunkId,
    /// BM25, the distance's measure or the fused score, by the mode; comparable within one answer only.
    pub score: f64,
    /// The document's revision that it is of.
    pub revision: String,
    /// The chunk itself.
    pub chunk: ChunkRecord,
}

impl ScoredChunk {
    /// Reads all fields of a point.
    pub(crate) fn read(payload: &Payload, score: f64) -> Result<Self, Error> {
        let (id, revision) = (payload.id()?, payload.string(fields::REVISION)?);
        Ok(Self { id, score, revision, chunk: payload.chunk()? })
    }

    /// Returns the chunk without its text.
    #[must_use]
    pub fn ranked(&self) -> Ranked {
        let (document, ordinal) = (self.chunk.document.clone(), self.chunk.ordinal);
        Ranked { id: self.id, document, ordinal, score: self.score }
    }
}
