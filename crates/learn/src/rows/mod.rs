//! What sequence models read of a document beside the vectors of its sentences: a row for each of them.

mod batch;
mod cues;
mod inputs;

pub(crate) use batch::{batch, cue_batch};
pub(crate) use cues::{BUCKETS, CUES};
pub(crate) use inputs::{Facts, places};
pub use inputs::{Inputs, NUMBERS};

/// Names what rows say, in the fingerprints of segmenters that read them: the second one, where a text without marks between its sentences
/// is not a list of headings.
pub(crate) const ROWS: &str = "rows-2";
