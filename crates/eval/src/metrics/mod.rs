//! Metrics of retrieval and of answers, each defined where it is computed.
//!
//! Shares lie in 0..=1, judge scores in 0..=10, and no function returns NaN or panics, whatever it is given.

pub mod answers;
pub mod retrieval;
pub mod trec;

/// Discounted cumulative gain of a ranking's gains, the best place first.
fn discounted(gains: impl Iterator<Item = f64>) -> f64 {
    let sum: f64 = gains.enumerate().map(|(at, gain)| gain / ((at + 2) as f64).log2()).sum();
    // The sum of nothing is -0, which files would show.
    sum + 0.0
}
