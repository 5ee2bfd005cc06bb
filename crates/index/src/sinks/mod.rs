//! Where chunks go: one trait, one implementation a file.
//!
//! | sink | keeps | removes by |
//! | --- | --- | --- |
//! | [`TantivySink`] | words, positions, the stored chunk | document |
//! | [`QdrantEdgeSink`] | vectors and a payload that says where they are from | point id |
//!
//! The writer holds both, and commits them in an order that makes a crash harmless: new points, flushed; then the
//! full-text commit, which is the moment at which the change happens; then the points that it made superfluous go.

mod qdrant_edge;
mod tantivy;
mod text_index;
mod vector_store;

use pericope_api::Embeddings;
use uuid::Uuid;

pub use self::qdrant_edge::QdrantEdgeSink;
pub use self::tantivy::TantivySink;
pub(crate) use self::text_index::TextIndex;
pub(crate) use self::vector_store::VectorStore;
use crate::{Entry, IndexError};

/// Something that keeps chunks.
///
/// `put` and `remove` are staged in order; what they did is durable once `commit` has returned. Putting an id that is
/// there overwrites it, and removing one that is not there does nothing, so that everything may be repeated.
pub trait Sink: Send {
    /// Name for messages.
    fn name(&self) -> &'static str;

    /// Stages entries. `vectors` has one row an entry, or no row at all for a sink that keeps none.
    ///
    /// # Errors
    /// [`IndexError`] where the sink fails; what was staged before may or may not be kept.
    fn put(&mut self, entries: &[Entry], vectors: &Embeddings) -> Result<(), IndexError>;

    /// Stages the removal of chunks of one document: `points` are their ids. A sink that can only remove all chunks of
    /// a document does that, and the caller puts again what stays.
    ///
    /// # Errors
    /// As [`Sink::put`].
    fn remove(&mut self, document: &str, points: &[Uuid]) -> Result<(), IndexError>;

    /// Makes everything staged durable, under a number that counts the commits of the whole index.
    ///
    /// # Errors
    /// As [`Sink::put`]; the sink is then as it was at the last commit, or as it would be after this one.
    fn commit(&mut self, sequence: u64) -> Result<(), IndexError>;
}
