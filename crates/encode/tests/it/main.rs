//! The integration tests of this crate, one module a subject.
#![allow(clippy::unwrap_used)]

mod cross_encoder;
mod encoders;
mod late;
mod minilm;
mod sentence;
mod static_vectors;
#[path = "../../src/testing.rs"]
mod testing;

use pericope_encode::models;
