//! The parts that the tests of several Pericope crates share. Never published, and a dependency of tests alone.
#![forbid(unsafe_code)]

#[cfg(feature = "llm")]
pub mod llm;
