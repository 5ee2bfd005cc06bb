//! The integration tests of the crate, in one program.
#![forbid(unsafe_code)]
#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::result_large_err)]

mod broken_vectors;
mod brought;
mod chroma_golden;
mod chunkers_golden;
mod classification;
mod drafting;
mod golden_answers;
mod golden_calibrate;
mod golden_retrieval;
mod golden_stats;
mod judges;
mod language_models;
mod language_models_that_cut;
mod readers;
mod simulated;
mod simulations;

/// Whether golden tests that embed documents do so with all there are, for minutes: `PERICOPE_GOLDEN=all`.
fn everything() -> bool {
    std::env::var_os("PERICOPE_GOLDEN").is_some_and(|value| value == "all")
}
