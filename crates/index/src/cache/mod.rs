//! Where vectors are looked for before the encoder is asked.

mod sqlite;
mod stored;

pub use self::sqlite::EmbeddingCache;
pub(crate) use self::stored::StoredVectors;
use crate::IndexError;

/// Knows the vectors of texts that were embedded before, by the XXH3 hash (128 bits) of what the encoder read.
///
/// A cache belongs to one encoder: it never answers with vectors of another.
pub trait VectorCache: Send + Sync {
    /// The vectors that are known, in the order of the hashes.
    ///
    /// # Errors
    /// Where the cache cannot be read.
    fn find(&self, hashes: &[u128]) -> Result<Vec<Option<Vec<f32>>>, IndexError>;

    /// Keeps fresh vectors. By default nothing is kept.
    ///
    /// # Errors
    /// Where the cache cannot be written.
    fn keep(&self, _fresh: &[(u128, &[f32])]) -> Result<(), IndexError> {
        Ok(())
    }
}
