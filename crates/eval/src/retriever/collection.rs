//! A collection on a server that another program filled.

use std::cell::Cell;
use std::time::{Duration, Instant};

use pericope_llm::IN_A_ROW;
use pericope_segment::foreign::Given;
use pericope_store::{ErrorKind, OthersCollection, StoreError};

use super::{GivenHit, PassageFinder, Query, Reply};
use crate::answer::Missing;
use crate::config::RetrieverConfig;

/// The most retries that a server's address may name.
const MOST_RETRIES: u32 = 1000;

pub(super) struct Searched {
    collection: Box<dyn OthersCollection>,
    /// Those that the server did not answer, since it last did.
    failures: Cell<u32>,
}

impl Searched {
    pub(super) fn new(collection: Box<dyn OthersCollection>) -> Self {
        Self { collection, failures: Cell::new(0) }
    }

    /// A server that is gone may come back; anything else would fail for every question.
    fn missing(&self, error: &StoreError) -> Missing {
        if error.kind() != ErrorKind::Unavailable {
            return Missing::Run(error.to_string());
        }
        let failures = self.failures.get().saturating_add(1);
        self.failures.set(failures);
        match failures < IN_A_ROW {
            true => Missing::Item(error.to_string()),
            false => Missing::Run(format!("the server has failed {failures} items in a row, the last with: {error}")),
        }
    }
}

/// The address with the time and the retries of the configuration, where it names none of its own.
pub(super) fn with_calls(place: &str, config: &RetrieverConfig) -> String {
    let query = place.split_once('?').map_or("", |(_, query)| query);
    let names = |key: &str| query.split('&').any(|pair| pair.split('=').next() == Some(key));
    let mut address = place.to_owned();
    let retries = config.retries.min(MOST_RETRIES).to_string();
    for (key, value) in [("timeout", config.timeout_seconds.to_string()), ("retries", retries)] {
        if !names(key) {
            let joint = if address.contains('?') { "&" } else { "?" };
            address.extend([joint, key, "=", value.as_str()]);
        }
    }
    address
}

impl PassageFinder for Searched {
    fn check(&self, query: &Query<'_>) -> Result<(), String> {
        let Some(vector) = query.vector else { return Ok(()) };
        self.collection.nearest(vector, query.k).map(drop).map_err(|error| error.to_string())
    }

    fn find(&self, query: &Query<'_>) -> Result<(Reply, Duration), Missing> {
        let vector = query.vector.ok_or_else(|| Missing::Run("a collection is searched by vectors".into()))?;
        let start = Instant::now();
        let found = self.collection.nearest(vector, query.k).map_err(|error| self.missing(&error))?;
        self.failures.set(0);
        let took = start.elapsed();
        let hits = found.into_iter().map(|passage| GivenHit {
            document: passage.document,
            given: Given { text: Some(passage.text), ..Given::default() },
            score: Some(passage.score),
        });
        Ok((Reply { hits: hits.collect(), ..Reply::default() }, took))
    }
}

#[cfg(test)]
mod tests {
    use super::with_calls;
    use crate::config::RetrieverConfig;

    #[test]
    fn time_and_retries_are_part_of_the_address() {
        let config = RetrieverConfig { timeout_seconds: 1.5, retries: 2, ..RetrieverConfig::new("r", "") };
        for (place, whole) in [
            ("qdrant://h/c", "qdrant://h/c?timeout=1.5&retries=2"),
            ("qdrant://h/c?text=t", "qdrant://h/c?text=t&timeout=1.5&retries=2"),
            ("qdrant://h/c?retries=9&text=t", "qdrant://h/c?retries=9&text=t&timeout=1.5"),
            ("qdrant://h/c?timeout=9&retries=0", "qdrant://h/c?timeout=9&retries=0"),
        ] {
            assert_eq!(with_calls(place, &config), whole);
        }
    }
}
