//! Token counters that need no model.

mod words;

pub use words::WordCounter;
