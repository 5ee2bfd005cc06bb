//! The two engines: tantivy for words, Qdrant for vectors.
//!
//! The writer commits them in an order that makes a crash harmless: new points, flushed; then the full-text commit, which
//! is the moment at which the change happens; then the points that it made superfluous go. Putting a point that is there
//! overwrites it, and removing one that is not there does nothing, so that everything may be repeated.

mod own;
mod text_index;
mod text_writer;
mod vector_store;

pub(crate) use self::own::{is_own_text, is_own_vectors, is_text_index};
pub(crate) use self::text_index::TextIndex;
pub(crate) use self::text_writer::TextWriter;
pub(crate) use self::vector_store::VectorStore;
