use std::fmt;

use pericope::store::{ErrorKind, StoreError};

/// The word for an index that is there and cannot be read.
pub(super) const FAILED: &str = "index-failed";

/// The reason why a request has no answer: the fields of RFC 9457, less those that only HTTP knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status, 400 to 599.
    pub status: u16,
    /// A word for programs that never changes: `no-such-index`, `bad-parameter`.
    pub code: &'static str,
    /// The kind of problem in a few words.
    pub title: String,
    /// What failed, and what to do about it, in one sentence.
    pub detail: String,
}

impl Problem {
    /// Returns a problem of any status.
    pub fn new(status: u16, code: &'static str, title: impl Into<String>, detail: impl fmt::Display) -> Self {
        Self { status, code, title: title.into(), detail: detail.to_string() }
    }

    /// Returns the problem of a parameter that is missing or wrong (400).
    pub fn parameter(detail: impl fmt::Display) -> Self {
        Self::new(400, "bad-parameter", "A parameter is wrong", detail)
    }

    /// Returns the problem of a thing that is not there (404).
    pub fn not_found(code: &'static str, detail: impl fmt::Display) -> Self {
        Self::new(404, code, "Not found", detail)
    }

    /// Returns the problem of something that failed on this side (500).
    pub fn internal(detail: impl fmt::Display) -> Self {
        Self::new(500, "internal", "The service failed", detail)
    }
}

/// The problem of a mode that an index does not have here (400).
pub(super) fn no_such_mode(detail: impl fmt::Display) -> Problem {
    Problem::new(400, "no-such-mode", "The index cannot be searched so", detail)
}

/// The problem of an embedder that does not answer (503).
pub(super) fn embedder_unavailable(detail: impl fmt::Display) -> Problem {
    Problem::new(503, "embedder-unavailable", "The embedder does not answer", detail)
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.title, self.detail)
    }
}

impl std::error::Error for Problem {}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            ErrorKind::NoVectors | ErrorKind::NoEncoder => no_such_mode(error),
            ErrorKind::Busy | ErrorKind::Unavailable => {
                Self::new(503, "index-unavailable", "The index does not answer", error)
            }
            // It says nothing of the index.
            ErrorKind::Encoder => embedder_unavailable(error),
            ErrorKind::Reranker => Self::new(502, "reranker-failed", "The reranker failed", error),
            _ => Self::new(500, FAILED, "The index failed", error),
        }
    }
}
