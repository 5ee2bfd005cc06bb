//! `pericope compare`: which chunker is best for these documents, from start to verdict.

mod args;
mod chunkers;
mod experiment;
mod kinds;
mod outputs;
mod own;
mod price;
mod run;

pub use args::{COMPARE_EXAMPLES, CompareArgs, quoted};
pub use experiment::{CONFIG, RUN, parse as parse_experiment, text as experiment_text};
pub use run::run;
