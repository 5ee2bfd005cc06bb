//! BERT and RoBERTa, in three ways.
//!
//! [`Packed`] is the way on a CPU: no padding, packed weights, fused kernels. [`Plain`] is the same model in candle's own
//! operations: it runs on a GPU, can be trained, and is what the others are tested against. [`Tuned`] trains changes of low rank on a
//! CPU with kernels like those of `Packed`.

mod layer;
mod packed;
mod plain;
mod product;
mod tuned;

pub use packed::Packed;
pub use plain::Plain;
pub use tuned::{Tape, Tuned};

#[cfg(test)]
mod tests;
