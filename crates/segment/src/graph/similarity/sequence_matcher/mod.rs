//! Python's `difflib.SequenceMatcher` on characters.

mod by_bits;
mod by_places;
mod indexed;
mod matcher;

pub use matcher::{SequenceMatcher, ratio};
