//! BERT and RoBERTa, in two ways.
//!
//! [`Packed`] is the way on a CPU: no padding, packed weights, fused kernels. [`Plain`] is the same model in candle's own
//! operations: it runs on a GPU, can be trained, and is what `Packed` is tested against.

mod packed;
mod plain;

pub use packed::Packed;
pub use plain::Plain;

#[cfg(test)]
mod tests;
