//! The integration tests of the crate, in one program.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::result_large_err)]

mod collector;
mod damage;
#[path = "../../../segeval/tests/it/samples.rs"]
mod evaluated;
mod kept;
mod pages;
mod report;
mod snapshots;
mod support;
