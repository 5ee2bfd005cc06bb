//! Chunks of a set size: `fixed` and `same-size`.

mod same_size;
mod segmenter;

pub(crate) use same_size::SAME_SIZE;
pub use same_size::mean_words;
pub use segmenter::Fixed;
pub(crate) use segmenter::{FIXED, Tokens};
