//! Vectors of queries: encoders that indexes share, one query a core at a time, and what was asked before.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use pericope::EngineError;
use pericope::api::SentenceEncoder;
use pericope::store::encode_query;
use pericope_util::Gate;

use super::{MakeEncoder, Problem};

/// Queries whose vectors are kept.
const KEPT: NonZeroUsize = NonZeroUsize::new(2048).unwrap();
/// Bytes of a query that is kept at most.
const LONGEST_KEPT: usize = 1024;
/// So long after a failure the encoder is not tried again: what failed may be an endpoint that answers slowly.
const AGAIN: Duration = Duration::from_secs(30);

type Encoder = Result<Arc<dyn SentenceEncoder>, EngineError>;
/// Fingerprint of the encoder, and the query.
type Key = (String, String);

/// The encoders of all indexes of a service.
pub(super) struct QueryVectors {
    make: Arc<MakeEncoder>,
    encoders: Mutex<HashMap<String, Arc<Cell>>>,
    kept: Mutex<LruCache<Key, Arc<[f32]>>>,
    gate: Gate,
}

impl QueryVectors {
    pub(super) fn new(make: Arc<MakeEncoder>, at_once: usize) -> Self {
        Self { make, encoders: Mutex::default(), kept: Mutex::new(LruCache::new(KEPT)), gate: Gate::new(at_once) }
    }

    /// The encoder of a name, loaded at the first question for it. What failed is tried again later.
    pub(super) fn encoder(&self, name: &str) -> Encoder {
        let cell = {
            let mut encoders = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(encoders.entry(name.to_owned()).or_default())
        };
        cell.get(Instant::now(), || match (self.make)(name)? {
            Some(encoder) => Ok(encoder),
            None => Err(EngineError::Usage(format!("there is no embedder {name}"))),
        })
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

/// An encoder that is loaded once.
#[derive(Default)]
struct Cell {
    known: Mutex<Option<(Encoder, Instant)>>,
    /// Held by the one who loads it.
    loading: Mutex<()>,
}

impl Cell {
    fn get(&self, now: Instant, load: impl FnOnce() -> Encoder) -> Encoder {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_fresh = |at: Instant| now.saturating_duration_since(at) < AGAIN;
        let _turn = match known() {
            Some((Ok(encoder), _)) => return Ok(encoder),
            Some((Err(error), at)) if is_fresh(at) => return Err(error),
            // One tries again; the others do not wait for it.
            Some((Err(error), _)) => match self.loading.try_lock() {
                Ok(turn) => turn,
                Err(_) => return Err(error),
            },
            None => self.loading.lock().unwrap_or_else(PoisonError::into_inner),
        };
        // Somebody else may have loaded it meanwhile.
        match known() {
            Some((Ok(encoder), _)) => return Ok(encoder),
            Some((Err(error), at)) if is_fresh(at) => return Err(error),
            _ => {}
        }
        let loaded = load();
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((loaded.clone(), now));
        loaded
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_testkit::encoders::BagOfWords;

    use super::*;

    #[test]
    fn what_failed_is_tried_again_later_and_what_is_loaded_stays() {
        let (cell, begun) = (Cell::default(), Instant::now());
        let fails = || Err(EngineError::Runtime("refused".into()));
        let never = || panic!("it was tried");
        assert!(cell.get(begun, fails).is_err());
        assert!(cell.get(begun + AGAIN / 2, never).is_err());
        {
            let _turn = cell.loading.lock().unwrap();
            assert!(cell.get(begun + AGAIN * 2, never).is_err(), "who finds it being loaded does not wait");
        }
        assert!(cell.get(begun + AGAIN * 2, || Ok(BagOfWords::new())).is_ok());
        assert!(cell.get(begun + AGAIN * 9, never).is_ok());
    }
}
