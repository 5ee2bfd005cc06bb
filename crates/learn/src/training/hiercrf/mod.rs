//! Training of HierCRF on documents whose trees are known.

mod examples;
mod fit;
mod options;
mod parsing;
mod step;
mod trees;

pub use fit::train_hiercrf;
pub use options::{HierCrfOptions, Metric, TreeData, Ways};
pub use trees::TreeDocument;
