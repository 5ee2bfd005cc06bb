//! Blocks as CogLTX cuts them (Ding et al. 2020, section 3.1 and appendix): of at most a number of tokens, cut where a cut
//! costs least.
//!
//! Every cut costs [`CUT`], and more by what stands before it: nothing after a line end, [`STOP`] after `.`, `?` or `!`,
//! [`COMMA`] after a comma, [`SPACE`] at any other white space, [`INSIDE`] inside a run without white space. One exact dynamic
//! programme over the whole text minimises the sum.

mod cut;
mod places;
mod segmenter;

pub use cut::blocks;
pub use places::{COMMA, CUT, INSIDE, SPACE, STOP};
pub use segmenter::Blocks;
pub(crate) use segmenter::COGLTX_BLOCKS;
