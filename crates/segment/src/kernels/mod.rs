//! Text to spans, as fast as memory allows: what the [recursive](crate::structure::Recursive) and
//! [fixed](crate::fixed::Fixed) segmenters come down to on text without headings, code and tables.
//!
//! Both work on any text, cover every non-blank byte exactly once, and take time linear in its length.

mod chars;
mod words;

pub use chars::recursive_chars;
pub use words::fixed_words;

pub(crate) use chars::{LEVELS, advance, count};
pub(crate) use words::{count_words, nth_word_end};
