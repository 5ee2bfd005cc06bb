//! Vectors of queries: encoders that indexes share, one query a core at a time, and what was asked before.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use lru::LruCache;
use pericope::api::SentenceEncoder;
use pericope::store::encode_query;

use super::{MakeEncoder, Problem};

/// Queries whose vectors are kept.
const KEPT: NonZeroUsize = NonZeroUsize::new(2048).unwrap();
/// Bytes of a query that is kept at most.
const LONGEST_KEPT: usize = 1024;

type Encoder = Result<Arc<dyn SentenceEncoder>, String>;
/// Fingerprint of the encoder, and the query.
type Key = (String, String);

/// The encoders of all indexes of a service.
pub(super) struct QueryVectors {
    make: Arc<MakeEncoder>,
    encoders: Mutex<HashMap<String, Encoder>>,
    kept: Mutex<LruCache<Key, Arc<[f32]>>>,
    gate: Gate,
}

impl QueryVectors {
    pub(super) fn new(make: Arc<MakeEncoder>, at_once: usize) -> Self {
        Self { make, encoders: Mutex::default(), kept: Mutex::new(LruCache::new(KEPT)), gate: Gate::new(at_once) }
    }

    /// The encoder of a name, loaded at the first question for it.
    pub(super) fn encoder(&self, name: &str) -> Encoder {
        let mut encoders = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        let load = || match (self.make)(name) {
            Ok(Some(encoder)) => Ok(encoder),
            Ok(None) => Err(format!("there is no embedder {name}")),
            Err(reason) => Err(reason),
        };
        encoders.entry(name.to_owned()).or_insert_with(load).clone()
    }

    /// The vector of a query.
    pub(super) fn vector(
        &self,
        encoder: &dyn SentenceEncoder,
        fingerprint: &str,
        text: &str,
    ) -> Result<Vec<f32>, Problem> {
        let key = (fingerprint.to_owned(), text.to_owned());
        if let Some(known) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.to_vec());
        }
        let vector = {
            let _turn = self.gate.enter();
            encode_query(encoder, text)?
        };
        if text.len() <= LONGEST_KEPT {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).put(key, Arc::from(vector.as_slice()));
        }
        Ok(vector)
    }
}

/// Lets so many threads in at once.
struct Gate {
    free: Mutex<usize>,
    left: Condvar,
}

struct Turn<'a>(&'a Gate);

impl Gate {
    fn new(places: usize) -> Self {
        Self { free: Mutex::new(places.max(1)), left: Condvar::new() }
    }

    fn enter(&self) -> Turn<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut free = self.left.wait_while(free, |free| *free == 0).unwrap_or_else(PoisonError::into_inner);
        *free -= 1;
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.left.notify_one();
    }
}
