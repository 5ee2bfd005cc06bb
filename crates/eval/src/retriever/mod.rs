//! Retrievers of others: what they are asked, what they answer, and where in the documents that stands.
//!
//! One file a kind of retriever; `open` tells them apart by their specs. A program may bring one of its own: [`Finder`].

mod brought;
mod collection;
mod command;
mod http;
mod locate;
mod recall;
mod reply;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pericope_api::{Document, SpanReader};

use crate::answer::Missing;
use crate::config::{Asked, NOT_BROUGHT, RetrieverConfig};
use crate::run::Stores;

pub use brought::Finder;
pub(crate) use locate::{Located, Locator};
pub(crate) use reply::{GivenHit, Reply};

/// The most bytes of an answer.
const MOST: u64 = 64 << 20;

/// A question as a retriever gets it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Query<'a> {
    pub(crate) question: &'a str,
    /// The number of passages that are wanted.
    pub(crate) k: usize,
    /// The question's vector, where the experiment has an embedder.
    pub(crate) vector: Option<&'a [f32]>,
}

/// What whole documents are read with.
#[derive(Clone, Copy)]
pub(crate) struct Reading<'a> {
    pub(crate) documents: &'a [Document],
    pub(crate) reader: Option<&'a dyn SpanReader>,
}

/// Finds passages for questions.
pub(crate) trait PassageFinder {
    /// What it finds, best first, and how long the answer took.
    fn find(&self, query: &Query<'_>) -> Result<(Reply, Duration), Missing>;

    /// Whether it can be asked at all, by a question whose answer is thrown away. What it says of that question is no matter;
    /// what cannot be missing is not asked.
    ///
    /// # Errors
    /// In words, where a program cannot be started or a server does not answer.
    fn check(&self, _query: &Query<'_>) -> Result<(), String> {
        Ok(())
    }
}

/// Opens what a configuration names.
///
/// # Errors
/// In words, where the spec cannot be used.
pub(crate) fn open<'a>(
    config: &RetrieverConfig,
    stores: &dyn Stores,
    reading: Reading<'a>,
    brought: &BTreeMap<String, Arc<dyn Finder>>,
) -> Result<Box<dyn PassageFinder + 'a>, String> {
    let timeout = Duration::try_from_secs_f64(config.timeout_seconds).map_err(|error| error.to_string())?;
    Ok(match config.asked()? {
        Asked::Http(url) => Box::new(http::Service::open(config, url, timeout)?),
        Asked::Command(words) => Box::new(command::Asking::new(words, timeout)?),
        Asked::Collection(place) => {
            let place = collection::with_calls(place, config);
            Box::new(collection::Searched::new(stores.open_others(&place).map_err(|error| error.to_string())?))
        }
        Asked::Brought => {
            let finder = brought.get(&config.name).ok_or(NOT_BROUGHT)?;
            Box::new(brought::Brought(Arc::clone(finder)))
        }
        Asked::Recall { documents } => Box::new(recall::Recalling::new(reading, documents)?),
    })
}
