#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
// A target says that a law is broken by a panic, as every fuzzer expects.
#![allow(clippy::unwrap_used, clippy::expect_used)]

pub mod corpus;
pub mod findings;
pub mod mutate;
pub mod runner;
mod targets;

pub use targets::{READ_WORKER, TARGETS, Target, find};
