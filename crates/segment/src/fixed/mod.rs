//! Segmenters that do not look at what the text says: `fixed`, `same-size`, `random`.

mod matching;
mod random;
mod same_size;
mod segmenter;

pub use matching::{EQUAL, MatchedBound, match_bound};
pub(crate) use random::RANDOM;
pub use random::RandomBoundaries;
pub use same_size::MeanWords;
pub(crate) use same_size::{SAME_SIZE, rounded};
pub use segmenter::Fixed;
pub(crate) use segmenter::{FIXED, Tokens};
