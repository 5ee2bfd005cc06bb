//! The ways from a query to a ranking.

mod bm25;
mod candidate;
mod dense;
mod filter;
pub mod rrf;

pub(crate) use self::bm25::bm25;
pub(crate) use self::candidate::{Candidate, best};
pub(crate) use self::dense::dense;
pub(crate) use self::filter::Passing;
