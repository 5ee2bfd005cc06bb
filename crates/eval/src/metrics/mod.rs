//! Metrics of retrieval and of answers, each defined where it is computed.
//!
//! Shares lie in 0..=1, judge scores in 0..=10, and no function returns NaN or panics, whatever it is given.

pub mod answers;
pub mod retrieval;
pub mod trec;
