//! Sentence splitting: text in, byte ranges of sentences out.
//!
//! A [`BreakFinder`] proposes breaks, and a small layer of rules ([`refine`]) corrects them. The crate's README has the
//! figures that the default was chosen by; `cargo run --example splitter_f1` measures them again.

mod abbreviations;
mod foreign;
mod icu;
mod marks;
mod refine;
mod speech;
mod splitter;
mod tongue;
mod windows;

pub use icu::default_splitter;
pub use splitter::SentenceSplitter;
pub use windows::{BreakFinder, WindowedSplitter};

#[cfg(test)]
mod tests;
