//! Vectors of queries: encoders that indexes share, one query a core at a time, and what was asked before.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lru::LruCache;
use pericope::EngineError;
use pericope::api::SentenceEncoder;
use pericope::store::encode_query;
use pericope_util::Semaphore;

use super::encoders::{Loaded, Served};
use super::problem::{embedder_unavailable, no_such_mode};
use super::{MakeEncoder, Problem};

/// Queries whose vectors are kept.
const KEPT: NonZeroUsize = NonZeroUsize::new(2048).unwrap();
/// Bytes of a query that is kept at most.
const LONGEST_KEPT: usize = 1024;
/// A failure that takes so long is the endpoint's, and one that comes at once may be that of the text.
const SLOW: Duration = Duration::from_secs(1);

/// Fingerprint of the encoder, and the query.
type Key = (String, String);

/// The encoders of all indexes of a service.
pub(super) struct QueryVectors {
    make: Arc<MakeEncoder>,
    /// By the names that indexes recorded.
    encoders: Mutex<HashMap<String, Arc<Served>>>,
    kept: Mutex<LruCache<Key, Arc<[f32]>>>,
    permits: Semaphore,
}

impl QueryVectors {
    pub(super) fn new(make: Arc<MakeEncoder>, at_once: usize) -> Self {
        Self {
            make,
            encoders: Mutex::default(),
            kept: Mutex::new(LruCache::new(KEPT)),
            permits: Semaphore::new(at_once),
        }
    }

    /// The encoder of a name, loaded at the first question for it. What failed is tried again later.
    pub(super) fn encoder(&self, name: &str) -> Loaded {
        self.served(name).get(Instant::now, || match (self.make)(name) {
            Ok(Some(encoder)) => Ok(encoder),
            Ok(None) => Err(no_such_mode(format!("there is no embedder {name}"))),
            Err(EngineError::Usage(detail)) => Err(no_such_mode(detail)),
            Err(error) => Err(embedder_unavailable(error)),
        })
    }

    fn served(&self, name: &str) -> Arc<Served> {
        let mut encoders = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(encoders.entry(name.to_owned()).or_default())
    }

    /// The vector of a query, by the encoder of that name.
    pub(super) fn vector(
        &self,
        name: &str,
        encoder: &dyn SentenceEncoder,
        fingerprint: &str,
        text: &str,
    ) -> Result<Vec<f32>, Problem> {
        let key = (fingerprint.to_owned(), text.to_owned());
        if let Some(known) = self.kept.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(known.to_vec());
        }
        let _permit = self.permits.acquire();
        let (served, begun) = (self.served(name), Instant::now());
        // Who waited for a turn hears at once that the one before waited in vain.
        if let Some(problem) = served.failing(begun) {
            return Err(problem);
        }
        let vector = match encode_query(encoder, text).map_err(Problem::from) {
            Ok(vector) => vector,
            Err(problem) => {
                if begun.elapsed() >= SLOW {
                    served.failed(problem.clone(), Instant::now());
                }
                return Err(problem);
            }
        };
        served.answered();
        if text.len() <= LONGEST_KEPT {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).put(key, Arc::from(vector.as_slice()));
        }
        Ok(vector)
    }

    /// Why the encoder of a name is not tried for now; none where it is.
    pub(super) fn failing(&self, name: &str) -> Option<Problem> {
        self.served(name).failing(Instant::now())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicUsize, Ordering};

    use pericope::api::{Embeddings, EncodeError};

    use super::*;

    /// Fails after a while, as an endpoint does that is down; counts how often it is asked.
    #[derive(Default)]
    struct Down(AtomicUsize);

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
            self.0.fetch_add(1, Ordering::Relaxed);
            std::thread::sleep(SLOW);
            Err(EncodeError::Run("no answer".into()))
        }
    }

    #[test]
    fn an_endpoint_that_is_down_is_not_asked_again_at_once() {
        let (vectors, down) = (QueryVectors::new(Arc::new(|_| Ok(None)), 2), Down::default());
        assert!(vectors.failing("openai:down").is_none());
        let problem = vectors.vector("openai:down", &down, "down", "one").unwrap_err();
        assert_eq!((problem.status, problem.code), (503, "embedder-unavailable"));
        for _ in 0..20 {
            assert_eq!(vectors.vector("openai:down", &down, "down", "two").unwrap_err(), problem);
        }
        assert_eq!(down.0.load(Ordering::Relaxed), 1);
        assert!(vectors.failing("openai:down").is_some() && vectors.failing("other").is_none());
    }
}
