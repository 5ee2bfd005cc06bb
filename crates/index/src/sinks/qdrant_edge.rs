use std::sync::Arc;

use pericope_api::Embeddings;
use uuid::Uuid;

use super::Sink;
use super::vector_store::VectorStore;
use crate::{Entry, IndexError};

/// The vector sink: one point a chunk.
pub struct QdrantEdgeSink {
    store: Arc<VectorStore>,
}

impl QdrantEdgeSink {
    pub(crate) fn new(store: Arc<VectorStore>) -> Self {
        Self { store }
    }

    pub(crate) fn store(&self) -> &Arc<VectorStore> {
        &self.store
    }
}

impl Sink for QdrantEdgeSink {
    fn name(&self) -> &'static str {
        "qdrant-edge"
    }

    fn put(&mut self, entries: &[Entry], vectors: &Embeddings) -> Result<(), IndexError> {
        self.store.upsert(entries, vectors)
    }

    fn remove(&mut self, _document: &str, points: &[Uuid]) -> Result<(), IndexError> {
        self.store.delete(points)
    }

    fn commit(&mut self, _sequence: u64) -> Result<(), IndexError> {
        self.store.flush()
    }
}
