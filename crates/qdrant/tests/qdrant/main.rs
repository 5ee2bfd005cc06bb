//! The crate over a real gRPC connection: to the server in memory and, where `PERICOPE_QDRANT_URL` names one (as
//! `qdrant://localhost:6334`), the tests that order no faults to a real server.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;
mod faults;
mod laws;
mod loading;
mod opening;
mod pressure;
mod rebuilding;
mod searching;
mod tls;
