//! Words and embeddings together: the semantic segmenter for where no trained one is wanted.

mod evidence;
mod gains;
mod rows;
mod segmenter;
mod word_costs;
mod words;

pub use gains::word_gains;
pub(crate) use segmenter::FUSION;
pub use segmenter::{Fusion, boundary_probabilities};
pub use word_costs::WordCosts;
