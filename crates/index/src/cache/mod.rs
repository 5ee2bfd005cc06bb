//! The places where vectors are looked for before the encoder is asked.

mod sqlite;
mod stored;

pub use self::sqlite::EmbeddingCache;
pub(crate) use self::stored::StoredVectors;
