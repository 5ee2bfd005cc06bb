//! From texts to vectors.

use std::sync::Arc;

use pericope_api::{Embeddings, SentenceEncoder};

use crate::{Query, StoreError};

/// The way in which a store's chunks are embedded.
#[derive(Clone)]
pub struct Embedding {
    /// The encoder that embeds them.
    pub encoder: Arc<dyn SentenceEncoder>,
    /// Whether the encoder reads what stands above a chunk in front of its text; see [`text`](Self::text).
    pub prefix_headings: bool,
    /// The name of the token counter behind `Chunk::tokens`: the encoder's own counts are believed.
    pub tokenizer: String,
}

/// The effort that embedding took.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EmbedCounts {
    /// The number of texts that the encoder was given.
    pub encoded: u64,
    /// The number of texts whose vectors were known already, from the store or from a cache.
    pub reused: u64,
    /// The number of texts whose known vectors were of another length or not finite, so that the encoder was given them.
    pub rejected: u64,
    /// The time in the encoder, in seconds.
    pub seconds: f64,
}

impl EmbedCounts {
    /// Adds the effort of another batch.
    pub fn add(&mut self, more: Self) {
        self.encoded += more.encoded;
        self.reused += more.reused;
        self.rejected += more.rejected;
        self.seconds += more.seconds;
    }
}

/// Knows the vectors of texts that were embedded before, by the XXH3 hash (128 bits) of what the encoder read.
///
/// A cache belongs to one encoder: it never answers with vectors of another.
pub trait VectorCache: Send + Sync {
    /// Returns the vectors that are known, in the order of the hashes. One that is damaged may be given as it is, or as an
    /// empty one: its text is embedded again.
    ///
    /// # Errors
    /// Where the cache cannot be read.
    fn find(&self, hashes: &[u128]) -> Result<Vec<Option<Vec<f32>>>, StoreError>;

    /// Keeps fresh vectors. By default nothing is kept.
    ///
    /// # Errors
    /// Where the cache cannot be written.
    fn keep(&self, _fresh: &[(u128, &[f32])]) -> Result<(), StoreError> {
        Ok(())
    }
}

/// Encodes passages, and checks that the answer is one finite vector a text, of the dimension that was promised.
///
/// # Errors
/// [`StoreError::Encoder`] and [`StoreError::EncoderOutput`].
pub fn encode_checked(encoder: &dyn SentenceEncoder, texts: &[&str]) -> Result<Embeddings, StoreError> {
    if texts.is_empty() {
        return Ok(Embeddings::new(encoder.dimension(), Vec::new()));
    }
    checked(encoder, texts, encoder.encode_passages(texts)?)
}

/// Encodes a query, and checks the answer as [`encode_checked`] does.
///
/// # Errors
/// As [`encode_checked`].
pub fn encode_query(encoder: &dyn SentenceEncoder, query: &str) -> Result<Vec<f32>, StoreError> {
    let found = encoder.encode_queries(&[query])?;
    Ok(checked(encoder, &[query], found)?.values().to_vec())
}

fn checked(encoder: &dyn SentenceEncoder, texts: &[&str], found: Embeddings) -> Result<Embeddings, StoreError> {
    let broken = |reason| Err(StoreError::EncoderOutput { name: encoder.name().to_owned(), reason });
    if found.len() != texts.len() || found.dimension() != encoder.dimension() {
        return broken(format!(
            "{} vectors of {} dimensions for {} texts of {}",
            found.len(),
            found.dimension(),
            texts.len(),
            encoder.dimension()
        ));
    }
    if let Some(at) = found.values().iter().position(|v| !v.is_finite()) {
        let text: String = texts.get(at / found.dimension()).unwrap_or(&"").chars().take(40).collect();
        return broken(format!("the vector of {text:?} is not finite"));
    }
    Ok(found)
}

/// Returns the query's vector: its own, or what the encoder makes of its text. `name` is the embedder that the store was
/// built with.
///
/// # Errors
/// [`StoreError::NoEncoder`] without either, and as [`encode_checked`].
pub fn query_vector(
    query: &Query,
    encoder: Option<&dyn SentenceEncoder>,
    name: Option<&str>,
) -> Result<Vec<f32>, StoreError> {
    if let Some(vector) = &query.vector {
        return Ok(vector.clone());
    }
    let encoder = encoder.ok_or_else(|| StoreError::NoEncoder { name: name.unwrap_or("none").to_owned() })?;
    encode_query(encoder, &query.text)
}
