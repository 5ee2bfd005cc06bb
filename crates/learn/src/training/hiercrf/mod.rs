//! Training of HierCRF on documents whose trees are known.

mod fit;
mod options;
mod parsing;
mod step;
mod trees;

pub use fit::train_hiercrf;
pub use options::{HierCrfOptions, Metric, TreeData};
pub use trees::TreeDocument;
