//! Sentence encoders without a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_api::{Chunk, Embeddings, EncodeError, SentenceEncoder, Span};

/// The length of a [`BagOfWords`] vector.
pub const DIMENSION: usize = 256;

/// A hashed bag of words: the cosine of two texts is that of their word counts, but for words that share a place.
pub struct BagOfWords {
    /// The fingerprint that it gives.
    pub fingerprint: &'static str,
    /// The number of texts that were embedded.
    pub texts: AtomicUsize,
    /// A word that makes a text fail.
    pub poison: Option<&'static str>,
}

impl BagOfWords {
    /// Returns an encoder with the fingerprint `v1` that never fails.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self { fingerprint: "v1", texts: AtomicUsize::new(0), poison: None })
    }

    /// Returns the vector of a text.
    #[must_use]
    pub fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0f32; DIMENSION];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
            vector[(Chunk::content_hash(&word.to_lowercase()) % DIMENSION as u128) as usize] += 1.0;
        }
        let norm = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        match norm > 0.0 {
            true => vector.iter_mut().for_each(|v| *v /= norm),
            false => vector[0] = 1.0,
        }
        vector
    }
}

impl SentenceEncoder for BagOfWords {
    fn name(&self) -> &str {
        "bag-of-words"
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.to_owned()
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_tokens(&self) -> usize {
        512
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        if self.poison.is_some_and(|poison| texts.iter().any(|text| text.contains(poison))) {
            return Err(EncodeError::Run("a word that cannot be embedded".into()));
        }
        Ok(Embeddings::new(DIMENSION, texts.iter().flat_map(|text| Self::vector(text)).collect()))
    }

    /// The words of a span count five times, those of the rest of its document once.
    fn encode_spans(&self, documents: &[(&str, &[Span])]) -> Result<Embeddings, EncodeError> {
        let mut texts: Vec<String> = Vec::new();
        for (text, spans) in documents {
            texts.extend(spans.iter().map(|span| format!("{text} {}", [span.of(text); 4].join(" "))));
        }
        self.encode(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }
}

/// A bag of words that tells queries from passages: it reads every word of a query from its end. The query `spmup` is near a
/// passage about pumps, and near none where somebody embeds it as a passage.
pub struct Backwards(pub Arc<BagOfWords>);

impl SentenceEncoder for Backwards {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn fingerprint(&self) -> String {
        self.0.fingerprint()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn max_tokens(&self) -> usize {
        self.0.max_tokens()
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        self.0.encode(texts)
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Embeddings, EncodeError> {
        let turned = |query: &&str| {
            query.split(' ').map(|word| word.chars().rev().collect::<String>()).collect::<Vec<_>>().join(" ")
        };
        let turned: Vec<String> = queries.iter().map(turned).collect();
        self.0.encode(&turned.iter().map(String::as_str).collect::<Vec<_>>())
    }
}
