#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod base;
mod batches;
mod cached;
mod device;
pub mod encoders;
#[cfg(feature = "fastembed")]
pub mod fastembed;
#[doc(hidden)]
pub mod kernels;
mod minilm;
pub mod models;
pub mod registry;
#[cfg(test)]
mod testing;
mod tokens;

pub use base::{Base, short};
pub use batches::Batches;
pub use cached::CachedEncoder;
pub use candle_core::Device;
pub use device::best_device;
pub use minilm::MiniLm;
pub use models::{ModelDir, ModelError};
pub use tokens::{Subwords, WordPiece, WordPieceCounter};
