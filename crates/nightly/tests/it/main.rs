//! The integration tests of the crate, in one program.
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::result_large_err)]

mod history_and_pages;
#[path = "../../../report/tests/it/support/html.rs"]
mod html;
mod pipeline;
mod snapshots;
mod support;
