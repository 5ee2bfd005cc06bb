//! Answers in the shape that DocSearch and other widgets for Algolia read.

mod answers;
mod query;
mod respond;

pub use answers::{DocsearchAnswer, DocsearchHit, DocsearchResults, Marked, MarkedHit};
pub use query::{DocsearchQuery, DocsearchRequest};

/// Hits that can be paged through.
const MOST_HITS: usize = 100;
