//! The crate over a real gRPC connection: to the server in memory and, where `PERICOPE_QDRANT_URL` names one (as
//! `qdrant://localhost:6334`), to a real server. Tests that order faults, count requests or stop the server stay with the
//! one in memory: nobody can order a real one to lose an answer. `scripts/qdrant-test` starts a real one.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod common;
mod fault_table;
mod faults;
mod hostile;
mod laws;
mod loading;
mod notices;
mod opening;
mod others;
mod pressure;
mod publishers;
mod rebuilding;
mod searching;
mod tls;
