#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod choice;
mod code;
mod detect;
mod dictionaries;
mod unspaced;

pub use choice::LanguageChoice;
pub use code::{Language, UnknownLanguage};
pub use detect::{SAMPLE_BYTES, detect};
pub use unspaced::{is_unspaced, word_ends};
