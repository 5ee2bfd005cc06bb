use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use pericope_api::{Embeddings, EncodeError, SentenceEncoder, Span};

/// An encoder with a cache in memory, for runs in which several segmenters read the same sentences.
///
/// Vectors are the inner encoder's, bit for bit. Once the cache holds its number of bytes, further texts go to the inner
/// encoder every time.
pub struct CachedEncoder {
    inner: Arc<dyn SentenceEncoder>,
    cache: RwLock<HashMap<String, Box<[f32]>>>,
    max_bytes: usize,
}

impl CachedEncoder {
    /// Returns the encoder with an empty cache of at most `max_bytes` bytes of texts and vectors.
    #[must_use]
    pub fn new(inner: Arc<dyn SentenceEncoder>, max_bytes: usize) -> Self {
        Self { inner, cache: RwLock::default(), max_bytes }
    }

    /// The number of texts in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        self.cache.read().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// True where the cache is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn store(&self, texts: &[&str], vectors: &Embeddings) {
        let mut known = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        // About what an entry takes beside its text and vector.
        let entry = 64 + vectors.dimension() * size_of::<f32>();
        let mean = 1 + texts.iter().map(|text| text.len()).sum::<usize>() / texts.len().max(1);
        for (text, row) in texts.iter().zip(vectors.rows()) {
            if known.len() * (entry + mean) >= self.max_bytes {
                return;
            }
            known.insert((*text).to_owned(), row.into());
        }
    }
}

impl fmt::Debug for CachedEncoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedEncoder").field("inner", &self.inner.name()).field("texts", &self.len()).finish()
    }
}

impl SentenceEncoder for CachedEncoder {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn fingerprint(&self) -> String {
        self.inner.fingerprint()
    }

    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn max_tokens(&self) -> usize {
        self.inner.max_tokens()
    }

    fn is_static(&self) -> bool {
        self.inner.is_static()
    }

    fn count_tokens(&self, text: &str) -> Option<usize> {
        self.inner.count_tokens(text)
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let new: Vec<&str> = {
            let known = self.cache.read().unwrap_or_else(PoisonError::into_inner);
            texts.iter().copied().filter(|&text| !known.contains_key(text)).collect()
        };
        if new.len() == texts.len() {
            let found = self.inner.encode(texts)?;
            self.store(texts, &found);
            return Ok(found);
        }
        let found = self.inner.encode(&new)?;
        self.store(&new, &found);
        let known = self.cache.read().unwrap_or_else(PoisonError::into_inner);
        let mut values = Vec::with_capacity(texts.len() * self.dimension());
        let mut fresh = found.rows().zip(&new).peekable();
        for &text in texts {
            // The new ones come in the order of the texts.
            match fresh.next_if(|(_, next)| **next == text) {
                Some((row, _)) => values.extend_from_slice(row),
                None => match known.get(text) {
                    Some(row) => values.extend_from_slice(row),
                    None => return Err(EncodeError::Model("a cached text is gone".into())),
                },
            }
        }
        Ok(Embeddings::new(self.dimension(), values))
    }

    // Asked once each: they are not kept.
    fn encode_queries(&self, queries: &[&str]) -> Result<Embeddings, EncodeError> {
        self.inner.encode_queries(queries)
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        self.inner.encode_tokens(texts)
    }

    fn encode_spans(&self, documents: &[(&str, &[Span])]) -> Result<Embeddings, EncodeError> {
        self.inner.encode_spans(documents)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pericope_api::{Embeddings, EncodeError, SentenceEncoder};

    use super::CachedEncoder;

    #[derive(Default)]
    struct Lengths(AtomicUsize);

    impl SentenceEncoder for Lengths {
        fn name(&self) -> &str {
            "lengths"
        }

        fn fingerprint(&self) -> String {
            "lengths".into()
        }

        fn dimension(&self) -> usize {
            2
        }

        fn max_tokens(&self) -> usize {
            9
        }

        fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
            self.0.fetch_add(texts.len(), Ordering::Relaxed);
            Ok(Embeddings::new(2, texts.iter().flat_map(|t| [t.len() as f32, 1.0]).collect()))
        }
    }

    #[test]
    fn the_same_vectors_and_fewer_questions() {
        let inner = Arc::new(Lengths::default());
        let memory = CachedEncoder::new(inner.clone(), 1 << 20);
        for texts in [&["a", "bb"][..], &["bb", "ccc", "a", "ccc", "dddd"], &["a", "a"], &[]] {
            assert_eq!(memory.encode(texts).unwrap(), Lengths::default().encode(texts).unwrap());
        }
        // ccc is asked for twice in one call, which the inner encoder may see to.
        assert_eq!((inner.0.load(Ordering::Relaxed), memory.len()), (5, 4));
        let forgetful = CachedEncoder::new(inner, 0);
        assert_eq!(forgetful.encode(&["x", "yy", "x"]).unwrap().len(), 3);
        assert!(forgetful.is_empty());
    }
}
