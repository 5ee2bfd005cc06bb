//! The integration tests of the crate, in one program.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod corpora;
mod embedding;
mod golden_difflib;
mod golden_kamradt;
mod golden_metrics;
mod languages;
mod laws;
mod minimum;
mod registry;
mod skip;
mod snapshots;
mod support;
