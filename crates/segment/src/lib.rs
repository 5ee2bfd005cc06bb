#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod blocks;
mod breaks;
mod chars;
mod chunker;
mod depth;
mod packing;
pub mod random;
mod resources;
#[cfg(test)]
mod testing;
mod token_meter;

pub mod counters;
pub mod embedding;
pub mod fixed;
pub mod foreign;
pub mod fusion;
pub mod graph;
pub mod kernels;
pub mod language;
pub mod laws;
pub mod lexical;
pub mod llm;
pub mod metrics;
pub mod policy;
pub mod registry;
pub mod segment_costs;
pub mod spec;
pub mod split;
pub mod structure;
pub mod synthetic;

pub use chunker::Chunker;
pub use resources::{Limits, LoadEncoder, Resources, Standalone};
