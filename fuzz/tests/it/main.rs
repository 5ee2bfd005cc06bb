//! The bounded run of every target, and the inputs of findings that were mended.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used)]

mod bounded;
mod corpora;
mod regressions;
