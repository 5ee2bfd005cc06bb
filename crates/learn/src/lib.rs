#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod cogltx;
pub mod corpus;
pub mod hiercrf;
mod model_cache;
pub mod nsp;
mod probability;
pub mod registry;
pub mod robert;
mod rows;
mod sentence_vectors;
mod sentences;
pub mod sequence;
pub mod topic;
pub mod training;
pub mod weswin;

pub use sentences::Sentences;
