//! `--embedder hashed`: words hashed into a vector, without any model. It knows nothing of meaning; tests and benchmarks
//! of the pipeline itself take it where a model would only cost time.

use pericope_api::{Chunk, Embeddings, EncodeError, SentenceEncoder, Span};

/// Name, as in `--embedder`.
pub const NAME: &str = "hashed";

const DIMENSION: usize = 64;

/// The cosine of two texts is that of their word counts, but for words that share a place.
pub struct Hashed;

impl SentenceEncoder for Hashed {
    fn name(&self) -> &str {
        NAME
    }

    fn fingerprint(&self) -> String {
        "1".to_owned()
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_tokens(&self) -> usize {
        usize::MAX
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let mut values = Vec::with_capacity(texts.len() * DIMENSION);
        for text in texts {
            let mut vector = [0f32; DIMENSION];
            for word in text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
                let place = Chunk::content_hash(&word.to_lowercase()) % DIMENSION as u128;
                if let Some(count) = vector.get_mut(place as usize) {
                    *count += 1.0;
                }
            }
            let norm = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
            if norm == 0.0 {
                vector[0] = 1.0;
            } else {
                vector.iter_mut().for_each(|v| *v /= norm);
            }
            values.extend_from_slice(&vector);
        }
        Ok(Embeddings::new(DIMENSION, values))
    }

    /// The words of a span count twice, those of the rest of its document once.
    fn encode_spans(&self, documents: &[(&str, &[Span])]) -> Result<Embeddings, EncodeError> {
        let mut texts: Vec<String> = Vec::new();
        for (text, spans) in documents {
            texts.extend(spans.iter().map(|span| format!("{text} {}", span.of(text))));
        }
        self.encode(&texts.iter().map(String::as_str).collect::<Vec<_>>())
    }
}
