//! The tests of the service, in one program.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod common;
mod docsearch;
mod endpoints;
mod hostile;
mod keys;
mod limits;
mod mcp;
mod openapi;
mod rerank;
mod service;
mod tls;
