//! Longformer (Beltagy, Peters and Cohan 2020, arXiv:2004.05150).
//!
//! A token attends to the tokens at most half of `attention_window` away on either side and to the global tokens; a
//! global token attends to all, by projections of its own. Queries are taken in blocks as long as the reach to one
//! side, and a block's keys are those of three blocks, so time and memory grow with length times window (and with length
//! times global tokens), never with length times length.

mod global;
mod layer;
mod window;

pub use layer::Longformer;

#[cfg(test)]
mod tests;
