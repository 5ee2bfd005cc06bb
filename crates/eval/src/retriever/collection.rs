//! A collection on a server that another program filled.

use std::time::{Duration, Instant};

use pericope_segment::foreign::Given;
use pericope_store::{ErrorKind, OthersCollection, StoreError};

use super::{GivenHit, PassageFinder, Query, Reply};
use crate::answer::Missing;

pub(super) struct Searched(pub(super) Box<dyn OthersCollection>);

impl PassageFinder for Searched {
    fn find(&self, query: &Query<'_>) -> Result<(Reply, Duration), Missing> {
        let vector = query.vector.ok_or_else(|| Missing::Run("a collection is searched by vectors".into()))?;
        let start = Instant::now();
        let found = self.0.nearest(vector, query.k).map_err(missing)?;
        let took = start.elapsed();
        let hits = found.into_iter().map(|passage| GivenHit {
            document: passage.document,
            given: Given { text: Some(passage.text), ..Given::default() },
            score: Some(passage.score),
        });
        Ok((Reply { hits: hits.collect(), ..Reply::default() }, took))
    }
}

/// A server that is gone may come back; anything else would fail for every question.
fn missing(error: StoreError) -> Missing {
    match error.kind() {
        ErrorKind::Unavailable => Missing::Item(error.to_string()),
        _ => Missing::Run(error.to_string()),
    }
}
