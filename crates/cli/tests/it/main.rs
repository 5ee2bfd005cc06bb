//! The tests of the command, in one program.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod chroma_chunks;
mod classification;
mod common;
mod compare;
mod contract;
mod crash;
mod dataset_split;
mod demo;
mod documents;
mod dry_runs;
mod embedder_limits;
mod eval;
mod expand;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod faults;
mod follow;
mod foreign_chunks;
mod foreign_retrievers;
mod hostile_paths;
mod hostile_terminal;
mod hostile_watch;
mod joined;
mod judges;
mod kills;
mod language_models;
mod languages;
mod mcp;
mod models;
mod nightly;
mod old_formats;
mod project;
mod qdrant;
mod reports;
mod rerank;
mod segment_embedder;
mod segment_trees;
mod serving;
mod sweep;
mod train_embed;
mod train_hiercrf;
mod train_judge;
mod train_topic;
mod untrusted;
mod verify;
mod without_text;
