//! A retriever that the program which runs the experiment brings.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::reply::NoReply;
use super::{PassageFinder, Query, Reply};
use crate::answer::Missing;

/// Finds passages of the experiment's documents.
pub trait Finder: Send + Sync {
    /// Names what the passages depend on: runs whose retrievers differ in it are not mixed. Empty where its name says it all.
    fn fingerprint(&self) -> String {
        String::new()
    }

    /// Returns at most `k` passages, best first, in the form that programs answer in: `{"hits": [{"document", "start", "end"} or
    /// {"text"}, ...]}`, with a `score` each where there is one, and `answer` and `offsets` beside the hits.
    ///
    /// # Errors
    /// [`Missing::Item`] where this question alone fails, [`Missing::Run`] where the run must end.
    fn find(&self, question: &str, k: usize) -> Result<Value, Missing>;
}

pub(super) struct Brought(pub(super) Arc<dyn Finder>);

impl PassageFinder for Brought {
    fn find(&self, query: &Query<'_>) -> Result<(Reply, Duration), Missing> {
        let start = Instant::now();
        let answer = self.0.find(query.question, query.k)?;
        let took = start.elapsed();
        let reply = Reply::read(answer).map_err(|problem| match problem {
            NoReply::Failed(problem) => Missing::Item(format!("it says: {problem}")),
            // A program that answers in another form does so every time.
            NoReply::Form(problem) => Missing::Run(problem),
        })?;
        Ok((reply, took))
    }
}
