//! For programs with an index of their own: chunks as documents of their tantivy schema, chunks as points for their
//! Qdrant client.
//!
//! [`ChunkingIndexWriter`] stands around a `tantivy::IndexWriter` of any schema: where a program added a document, it adds
//! its chunks, and a document that is added again replaces its chunks. [`chunk_points`] turns documents into points (id,
//! vector, payload) in plain structs, for whatever client sends them. Both name chunks in the same way, so that an index
//! of words and one of vectors that are kept by different systems fit together.

mod points;
mod tantivy;

pub use self::points::{ChunkPayload, ChunkPoint, ChunkPoints, chunk_points};
pub use self::tantivy::{ChunkingIndexWriter, FieldMap};
