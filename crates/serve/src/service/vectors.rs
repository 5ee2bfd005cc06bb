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
/// A failure that takes so long is the endpoint's, and one that comes at once may be that of the text.
const SLOW: Duration = Duration::from_secs(1);

type Encoder = Result<Arc<dyn SentenceEncoder>, EngineError>;
/// Fingerprint of the encoder, and the query.
type Key = (String, String);

/// The encoders of all indexes of a service.
pub(super) struct QueryVectors {
    make: Arc<MakeEncoder>,
    encoders: Mutex<HashMap<String, Arc<Cell>>>,
    kept: Mutex<LruCache<Key, Arc<[f32]>>>,
    /// The endpoints that gave no answer, by the fingerprints of their encoders, and when.
    failing: Mutex<HashMap<String, (Problem, Instant)>>,
    gate: Gate,
}

impl QueryVectors {
    pub(super) fn new(make: Arc<MakeEncoder>, at_once: usize) -> Self {
        Self {
            make,
            encoders: Mutex::default(),
            kept: Mutex::new(LruCache::new(KEPT)),
            failing: Mutex::default(),
            gate: Gate::new(at_once),
        }
    }

    /// The encoder of a name, loaded at the first question for it. What failed is tried again later.
    pub(super) fn encoder(&self, name: &str) -> Encoder {
        let cell = {
            let mut encoders = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(encoders.entry(name.to_owned()).or_default())
        };
        cell.get(Instant::now, || match (self.make)(name)? {
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
        let _turn = self.gate.enter();
        // Who waited for a turn hears at once that the one before waited in vain.
        if let Some(problem) = self.failing(fingerprint) {
            return Err(problem);
        }
        let begun = Instant::now();
        let vector = encode_query(encoder, text).map_err(Problem::from);
        let failing = || self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        let vector = match vector {
            Ok(vector) => vector,
            Err(problem) => {
                if begun.elapsed() >= SLOW {
                    failing().insert(fingerprint.to_owned(), (problem.clone(), Instant::now()));
                }
                return Err(problem);
            }
        };
        failing().remove(fingerprint);
        if text.len() <= LONGEST_KEPT {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).put(key, Arc::from(vector.as_slice()));
        }
        Ok(vector)
    }

    /// Why an encoder's endpoint is not asked for now; none where it is.
    pub(super) fn failing(&self, fingerprint: &str) -> Option<Problem> {
        let failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        failing.get(fingerprint).filter(|(_, at)| at.elapsed() < AGAIN).map(|(problem, _)| problem.clone())
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
    /// `now` tells the time: loading may take longer than a failure is remembered.
    fn get(&self, now: impl Fn() -> Instant, load: impl FnOnce() -> Encoder) -> Encoder {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let is_fresh = |at: Instant| now().saturating_duration_since(at) < AGAIN;
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
        *self.known.lock().unwrap_or_else(PoisonError::into_inner) = Some((loaded.clone(), now()));
        loaded
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope::api::{Embeddings, EncodeError};
    use pericope_testkit::encoders::BagOfWords;

    use super::*;

    /// Fails after a while, as an endpoint does that is down.
    struct Down;

    impl SentenceEncoder for Down {
        fn name(&self) -> &str {
            "down"
        }
        fn fingerprint(&self) -> String {
            "down".into()
        }
        fn dimension(&self) -> usize {
            2
        }
        fn max_tokens(&self) -> usize {
            9
        }
        fn encode(&self, _: &[&str]) -> Result<Embeddings, EncodeError> {
            std::thread::sleep(SLOW);
            Err(EncodeError::Run("no answer".into()))
        }
    }

    #[test]
    fn an_endpoint_that_is_down_is_not_asked_again_at_once() {
        let vectors = QueryVectors::new(Arc::new(|_| Ok(None)), 2);
        assert!(vectors.failing("down").is_none());
        let problem = vectors.vector(&Down, "down", "one").unwrap_err();
        assert_eq!((problem.status, problem.code), (503, "embedder-unavailable"));
        let begun = Instant::now();
        for _ in 0..20 {
            assert_eq!(vectors.vector(&Down, "down", "two").unwrap_err(), problem);
        }
        assert!(begun.elapsed() < SLOW * 10, "each would have waited");
        assert!(vectors.failing("down").is_some() && vectors.failing("other").is_none());
    }

    #[test]
    fn what_failed_is_tried_again_later_and_what_is_loaded_stays() {
        let (cell, begun) = (Cell::default(), Instant::now());
        let fails = || Err(EngineError::Runtime("refused".into()));
        let never = || panic!("it was tried");
        // It fails slowly: the time of the failure counts.
        let time = std::cell::Cell::new(begun);
        let slow = || {
            time.set(begun + AGAIN * 3);
            fails()
        };
        assert!(cell.get(|| time.get(), slow).is_err());
        let begun = begun + AGAIN * 3;
        assert!(cell.get(|| begun + AGAIN / 2, never).is_err());
        {
            let _turn = cell.loading.lock().unwrap();
            assert!(cell.get(|| begun + AGAIN * 2, never).is_err(), "who finds it being loaded does not wait");
        }
        assert!(cell.get(|| begun + AGAIN * 2, || Ok(BagOfWords::new())).is_ok());
        assert!(cell.get(|| begun + AGAIN * 9, never).is_ok());
    }
}
