//! Rerankers by the specs that the command line and configurations use: `name:key=value,key=value`, or the address of a
//! service.
//!
//! A table of [`RerankerEntry`] lists what there is. This crate's own are [`list`]; crates above add theirs, and help, checks
//! and messages follow from the table.

mod args;
mod entry;
mod error;
mod spec;
mod table;

pub use args::RerankerArgs;
pub use entry::{BuiltReranker, NONE, RerankerEntry, build_from, check_in};
pub use error::RerankerSpecError;
pub use spec::{ADDRESS, RerankerSpec};
pub use table::list;
