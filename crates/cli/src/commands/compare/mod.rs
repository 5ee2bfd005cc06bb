//! `pericope compare`: which chunker is best for these documents, from start to verdict.

mod args;
mod chunkers;
mod experiment;
mod kinds;
mod own;
mod price;
mod run;

pub use args::{COMPARE_EXAMPLES, CompareArgs};
pub use run::run;
