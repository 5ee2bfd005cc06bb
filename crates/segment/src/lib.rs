#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod breaks;
mod chars;
mod chunker;
mod depth;
mod packing;
mod resources;
mod ruler;

pub mod counters;
pub mod embedding;
pub mod fixed;
pub mod kernels;
pub mod laws;
pub mod lexical;
pub mod metrics;
pub mod policy;
pub mod registry;
pub mod spec;
pub mod structure;

pub use chunker::Chunker;
pub use resources::{Limits, Resources, Standalone};
