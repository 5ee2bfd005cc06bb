//! The integration tests of this crate, one module a subject.
#![allow(clippy::unwrap_used)]

mod encoders;
mod minilm;
#[path = "../../src/testing.rs"]
mod testing;

use pericope_encode::models;
