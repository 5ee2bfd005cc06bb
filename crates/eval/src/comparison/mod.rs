//! The comparison of chunkers on documents of one's own: the chunkers that are usually compared, and the experiment that
//! compares them.
//!
//! ```
//! use std::path::Path;
//!
//! use pericope_eval::comparison::{Comparison, add, usual};
//! use pericope_eval::config::{Configuration, Experiment};
//! use pericope_segment::registry::list;
//!
//! let mut chunkers = usual(false);
//! add(&mut chunkers, "mine=fixed:words=50", list())?;
//! let comparison =
//!     Comparison { questions: "questions.json", seed: 7, chunkers: &chunkers, embedder: "none", more: "" };
//! let experiment = Experiment::parse(&comparison.to_toml(), Path::new("compare.toml"), &[], list())?;
//! assert_eq!(experiment.chunkers.last().map(|one| one.name.as_str()), Some("mine"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chunkers;
mod experiment;

pub use chunkers::{Named, add, usual};
pub use experiment::Comparison;
