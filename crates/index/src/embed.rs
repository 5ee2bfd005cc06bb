//! From texts to vectors: those that are known already, and those that have to be embedded.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Embeddings, SentenceEncoder};
use pericope_store::{ChunkEntry, EmbedCounts, Encoded, StoreError, VectorCache, encode_checked};

/// A batch is encoded when it holds this many chunks,
const BATCH_CHUNKS: usize = 1024;
/// or this much text. Large, since encoders sort a batch by length; bounded, since it lies in memory and is what an
/// interrupted run waits for.
const BATCH_BYTES: usize = 1 << 20;

/// The time in seconds that a batch is to take at most: only what is behind a batch can be committed, and a crash costs the
/// rest.
const BATCH_SECONDS: f64 = 10.0;
/// Chunks in the first batch, which tells how quick the encoder is,
const FIRST_CHUNKS: usize = 16;
/// and how many times as many the next one may have: the first texts may be quicker than others.
const GROWTH: usize = 4;

/// True where a batch of so many texts and bytes is worth an encoder's call.
pub(crate) fn is_full(texts: usize, bytes: usize) -> bool {
    texts >= BATCH_CHUNKS || bytes >= BATCH_BYTES
}

/// How much is worth an encoder's call where it is slow: batches take their full size as soon as they are known to take no
/// longer than [`BATCH_SECONDS`].
pub(crate) struct Pace {
    chunks: usize,
}

impl Default for Pace {
    fn default() -> Self {
        Self { chunks: FIRST_CHUNKS }
    }
}

impl Pace {
    /// As [`is_full`], for this encoder. It is asked between documents: within one nothing can be committed.
    pub fn is_enough(&self, texts: usize, bytes: usize) -> bool {
        texts >= self.chunks || is_full(texts, bytes)
    }

    /// Learns from a batch. Vectors that were known tell nothing.
    pub fn learn(&mut self, counts: &EmbedCounts) {
        if counts.encoded == 0 {
            return;
        }
        // An infinite number is the largest.
        let in_time = (counts.encoded as f64 * BATCH_SECONDS / counts.seconds) as usize;
        let grown = (counts.encoded as usize).saturating_mul(GROWTH).max(self.chunks);
        self.chunks = grown.min(in_time).clamp(1, BATCH_CHUNKS);
    }
}

/// An encoder, and where vectors may be known already.
#[derive(Clone)]
pub(crate) struct Embedder {
    pub encoder: Arc<dyn SentenceEncoder>,
    /// Asked in this order.
    pub caches: Vec<Arc<dyn VectorCache>>,
}

impl Embedder {
    /// One vector a text, in order. Equal texts, and those that a cache knows, are not embedded (again).
    pub fn embed(&self, texts: &[(u128, &Encoded)]) -> Result<(Embeddings, EmbedCounts), StoreError> {
        let dimension = self.encoder.dimension();
        let mut place = HashMap::with_capacity(texts.len());
        let mut distinct: Vec<(u128, &Encoded)> = Vec::with_capacity(texts.len());
        for &(hash, text) in texts {
            place.entry(hash).or_insert_with(|| {
                distinct.push((hash, text));
                distinct.len() - 1
            });
        }
        let mut found: Vec<Option<Vec<f32>>> = vec![None; distinct.len()];
        let mut spoiled = HashSet::new();
        for cache in &self.caches {
            let open: Vec<usize> = (0..found.len()).filter(|&i| found.get(i).is_some_and(Option::is_none)).collect();
            let hashes: Vec<u128> = open.iter().filter_map(|&i| distinct.get(i).map(|d| d.0)).collect();
            if hashes.is_empty() {
                break;
            }
            for (i, vector) in open.into_iter().zip(cache.find(&hashes)?) {
                let (Some(slot), Some(vector)) = (found.get_mut(i), vector) else { continue };
                match vector.len() == dimension && vector.iter().all(|value| value.is_finite()) {
                    true => *slot = Some(vector),
                    false => drop(spoiled.insert(i)),
                }
            }
        }
        let missing: Vec<(u128, &Encoded)> =
            distinct.iter().zip(&found).filter(|(_, known)| known.is_none()).map(|(text, _)| *text).collect();
        let before = Instant::now();
        let fresh = encode_checked(self.encoder.as_ref(), &missing.iter().map(|m| m.1).collect::<Vec<_>>())?;
        let seconds = before.elapsed().as_secs_f64();
        let named: Vec<(u128, &[f32])> = missing.iter().map(|m| m.0).zip(fresh.rows()).collect();
        for cache in self.caches.iter().filter(|_| !named.is_empty()) {
            cache.keep(&named)?;
        }
        let mut rows = fresh.rows();
        let all: Vec<&[f32]> =
            found.iter().map(|known| known.as_deref().or_else(|| rows.next()).unwrap_or(&[])).collect();
        let mut values = Vec::with_capacity(texts.len() * dimension);
        for (hash, _) in texts {
            values.extend_from_slice(place.get(hash).and_then(|&i| all.get(i)).copied().unwrap_or(&[]));
        }
        let counts = EmbedCounts {
            encoded: missing.len() as u64,
            reused: (distinct.len() - missing.len()) as u64,
            rejected: spoiled.into_iter().filter(|&i| found.get(i).is_some_and(Option::is_none)).count() as u64,
            seconds,
        };
        Ok((Embeddings::new(dimension, values), counts))
    }
}

/// Entries and the texts to embed for them, up to a batch.
#[derive(Default)]
pub(crate) struct EmbedQueue {
    entries: Vec<ChunkEntry>,
    texts: Vec<Encoded>,
    bytes: usize,
    pace: Pace,
}

impl EmbedQueue {
    pub fn push(&mut self, entry: ChunkEntry, text: Encoded) {
        self.bytes += text.as_str().len();
        self.entries.push(entry);
        self.texts.push(text);
    }

    pub fn is_full(&self) -> bool {
        is_full(self.texts.len(), self.bytes)
    }

    /// True where the queue is worth a call between two documents.
    pub fn is_enough(&self) -> bool {
        self.pace.is_enough(self.texts.len(), self.bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Empties the queue: the entries and one vector each.
    pub fn encode(&mut self, embedder: &Embedder) -> Result<(Vec<ChunkEntry>, Embeddings, EmbedCounts), StoreError> {
        let (entries, texts) = (std::mem::take(&mut self.entries), std::mem::take(&mut self.texts));
        self.bytes = 0;
        let texts: Vec<(u128, &Encoded)> = entries.iter().map(|e| e.encoded.unwrap_or(0)).zip(&texts).collect();
        let (vectors, counts) = embedder.embed(&texts)?;
        self.pace.learn(&counts);
        Ok((entries, vectors, counts))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_what_an_encoder_does_in_ten_seconds() {
        let mut pace = Pace::default();
        let mut learn = |encoded, seconds| {
            pace.learn(&EmbedCounts { encoded, seconds, ..EmbedCounts::default() });
            pace.chunks
        };
        assert_eq!(learn(0, 0.0), FIRST_CHUNKS, "known vectors");
        // A quick one has whole batches soon.
        assert_eq!([learn(16, 0.0), learn(64, 0.1), learn(256, 0.5), learn(1024, 3.0)], [64, 256, 1024, 1024]);
        // A batch of a few, since nothing more came, changes nothing.
        assert_eq!(learn(3, 0.01), 1024);
        // One that becomes slow.
        assert_eq!([learn(1024, 100.0), learn(102, 102.0), learn(10, 1000.0)], [102, 10, 1]);
        assert_eq!([learn(1, 0.5), learn(4, 2.0)], [4, 16]);
        assert!(!pace.is_enough(15, 0) && pace.is_enough(16, 0) && pace.is_enough(1, BATCH_BYTES));
    }
}
