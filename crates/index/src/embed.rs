//! From texts to vectors: those that are known already, and those that have to be embedded.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Embeddings, SentenceEncoder};
use pericope_store::{ChunkEntry, EmbedCounts, Encoded, StoreError, VectorCache, encode_checked};

/// A batch is encoded when it holds this many chunks,
const BATCH_CHUNKS: usize = 256;
/// or this much text. Large, since encoders sort a batch by length; bounded, since it lies in memory, an interrupted run waits
/// for it, and a crash costs what is not behind it.
const BATCH_BYTES: usize = 1 << 18;

/// True where a batch of so many texts and bytes is worth an encoder's call.
pub(crate) fn is_full(texts: usize, bytes: usize) -> bool {
    texts >= BATCH_CHUNKS || bytes >= BATCH_BYTES
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

    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Empties the queue: the entries and one vector each.
    pub fn encode(&mut self, embedder: &Embedder) -> Result<(Vec<ChunkEntry>, Embeddings, EmbedCounts), StoreError> {
        let (entries, texts) = (std::mem::take(&mut self.entries), std::mem::take(&mut self.texts));
        self.bytes = 0;
        let texts: Vec<(u128, &Encoded)> = entries.iter().map(|e| e.encoded.unwrap_or(0)).zip(&texts).collect();
        let (vectors, counts) = embedder.embed(&texts)?;
        Ok((entries, vectors, counts))
    }
}
