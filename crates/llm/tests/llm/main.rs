//! Models asked over real HTTP, by a server that misbehaves on purpose, and a model in this process.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod child;
mod embeddings;
mod errors;
mod faults;
#[cfg(feature = "candle")]
mod gguf;
mod injections;
mod learning;
mod messages;
mod money;
mod parts;
mod rerank;
mod run;
mod support;
