#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod base;
mod batches;
mod cached;
mod cross_encoder;
mod device;
pub mod encoders;
#[cfg(feature = "fastembed")]
pub mod fastembed;
#[doc(hidden)]
pub mod kernels;
mod late_interaction;
mod minilm;
pub mod models;
mod modules;
mod prompts;
pub mod registry;
pub mod rerankers;
mod sentence;
mod static_vectors;
#[cfg(test)]
mod testing;
mod tokens;

pub use base::{Base, short};
pub use batches::Batches;
pub use cached::CachedEncoder;
pub use candle_core::Device;
pub use cross_encoder::{CROSS_ENCODER, CrossEncoder};
pub use device::best_device;
pub use late_interaction::{LateInteraction, MAXSIM};
pub use minilm::MiniLm;
pub use models::{ModelDir, ModelError};
pub use sentence::SentenceModel;
pub use static_vectors::{DistilOptions, Distilled, StaticVectors, distil};
#[cfg(feature = "tiktoken")]
pub use tokens::TiktokenCounter;
pub use tokens::{FileCounter, Subwords, WordPiece, WordPieceCounter};
