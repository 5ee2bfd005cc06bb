use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use pericope_api::{Embeddings, EncodeError, SentenceEncoder, Span};

/// An encoder with a cache in memory, for sentences that several segmenters read, and for chunks that are a sentence which was read
/// to cut them.
///
/// Vectors are the inner encoder's, bit for bit. The cache holds a number of bytes; of more than that either the first texts stay
/// ([`new`](Self::new)), for what is read again and again in the same order, or the last ones ([`recent`](Self::recent)).
pub struct CachedEncoder {
    inner: Arc<dyn SentenceEncoder>,
    cache: RwLock<Cache>,
}

/// Texts and vectors. Where the last ones stay, there are two halves: when the young one is full, it takes the place of the old one.
struct Cache {
    young: HashMap<Box<str>, Box<[f32]>>,
    old: HashMap<Box<str>, Box<[f32]>>,
    /// What the young ones take, and may take.
    bytes: usize,
    room: usize,
    forgets: bool,
}

impl Cache {
    fn get(&self, text: &str) -> Option<&[f32]> {
        self.young.get(text).or_else(|| self.old.get(text)).map(AsRef::as_ref)
    }

    fn keep(&mut self, text: &str, vector: &[f32]) {
        /// About what an entry takes beside its text and vector.
        const ENTRY: usize = 64;
        let bytes = ENTRY + text.len() + size_of_val(vector);
        if self.bytes + bytes > self.room {
            if !self.forgets || bytes > self.room {
                return;
            }
            self.old = std::mem::take(&mut self.young);
            self.bytes = 0;
        }
        if self.young.insert(text.into(), vector.into()).is_none() {
            self.bytes += bytes;
        }
    }
}

impl CachedEncoder {
    /// Returns the encoder with an empty cache of at most `max_bytes` bytes of texts and vectors: the first ones.
    #[must_use]
    pub fn new(inner: Arc<dyn SentenceEncoder>, max_bytes: usize) -> Self {
        Self::with(inner, max_bytes, false)
    }

    /// Returns the encoder with an empty cache of at most `max_bytes` bytes of texts and vectors: the last ones that were new to it.
    #[must_use]
    pub fn recent(inner: Arc<dyn SentenceEncoder>, max_bytes: usize) -> Self {
        Self::with(inner, max_bytes / 2, true)
    }

    fn with(inner: Arc<dyn SentenceEncoder>, room: usize, forgets: bool) -> Self {
        let (young, old) = (HashMap::new(), HashMap::new());
        Self { inner, cache: RwLock::new(Cache { young, old, bytes: 0, room, forgets }) }
    }

    /// The number of texts in the cache.
    #[must_use]
    pub fn len(&self) -> usize {
        let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
        cache.young.len() + cache.old.len()
    }

    /// True where the cache is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn store(&self, texts: &[&str], vectors: &Embeddings) {
        let mut cache = self.cache.write().unwrap_or_else(PoisonError::into_inner);
        texts.iter().zip(vectors.rows()).for_each(|(text, row)| cache.keep(text, row));
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

    fn passage_tokens(&self) -> usize {
        self.inner.passage_tokens()
    }

    fn is_static(&self) -> bool {
        self.inner.is_static()
    }

    fn count_tokens(&self, text: &str) -> Option<usize> {
        self.inner.count_tokens(text)
    }

    fn texts_cut(&self) -> u64 {
        self.inner.texts_cut()
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let dimension = self.dimension();
        let mut values = vec![0.0; texts.len() * dimension];
        let mut new: Vec<(&str, &mut [f32])> = Vec::new();
        {
            let cache = self.cache.read().unwrap_or_else(PoisonError::into_inner);
            for (&text, row) in texts.iter().zip(values.chunks_exact_mut(dimension.max(1))) {
                match cache.get(text) {
                    Some(known) => row.copy_from_slice(known),
                    None => new.push((text, row)),
                }
            }
        }
        if !new.is_empty() {
            let asked: Vec<&str> = new.iter().map(|(text, _)| *text).collect();
            let found = self.inner.encode(&asked)?;
            if found.len() != asked.len() || found.dimension() != dimension {
                return Err(EncodeError::Model(format!("{} gave other vectors than it promised", self.name())));
            }
            self.store(&asked, &found);
            new.iter_mut().zip(found.rows()).for_each(|((_, row), vector)| row.copy_from_slice(vector));
        }
        Ok(Embeddings::new(dimension, values))
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
pub(crate) mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pericope_api::{Embeddings, EncodeError, SentenceEncoder};

    use super::CachedEncoder;

    /// The length of a text and 1 as its vector, and no vectors of tokens; counts the texts that it reads.
    #[derive(Default)]
    pub(crate) struct Lengths(AtomicUsize);

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
        // Half of it has room for two: the third pushes none out, the fifth pushes out the first two.
        let small = CachedEncoder::recent(inner.clone(), 2 * 2 * (64 + 1 + 8));
        for text in ["a", "b", "c", "d", "e"] {
            small.encode(&[text]).unwrap();
        }
        let before = inner.0.load(Ordering::Relaxed);
        small.encode(&["c", "d", "e"]).unwrap();
        assert_eq!((inner.0.load(Ordering::Relaxed), small.len()), (before, 3));
        small.encode(&["b"]).unwrap();
        assert_eq!(inner.0.load(Ordering::Relaxed), before + 1);
        // The other one keeps the first two.
        let small = CachedEncoder::new(inner.clone(), 2 * (64 + 1 + 8));
        for text in ["a", "b", "c", "d", "a", "b"] {
            small.encode(&[text]).unwrap();
        }
        assert_eq!((inner.0.load(Ordering::Relaxed), small.len()), (before + 1 + 4, 2));
        let forgetful = CachedEncoder::new(inner, 0);
        assert_eq!(forgetful.encode(&["x", "yy", "x"]).unwrap().len(), 3);
        assert!(forgetful.is_empty());
    }
}
