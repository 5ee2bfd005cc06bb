#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod base;
mod batches;
pub mod checkpoint;
#[doc(hidden)]
pub mod encoders;
#[cfg(feature = "fastembed")]
pub mod fastembed;
mod files;
mod kept;
#[doc(hidden)]
pub mod kernels;
mod minilm;
pub mod models;
pub mod nsp;
pub mod registry;
mod remembered;
mod tokens;
pub mod training;
pub mod weswin;

pub use base::Base;
pub use candle_core::Device;
pub use minilm::{MiniLm, best_device};
pub use models::{ModelDir, ModelError};
pub use remembered::Remembered;
pub use tokens::{Subwords, WordPiece, WordPieceCounter};
