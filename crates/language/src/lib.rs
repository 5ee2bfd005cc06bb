#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod choice;
mod code;
mod detect;
mod dictionaries;
mod english;
mod function_words;
mod prose;
mod reader;
mod stems;
mod unspaced;

pub use choice::LanguageChoice;
pub use code::{Language, UnknownLanguage};
pub use detect::{SAMPLE_BYTES, detect};
pub use function_words::is_function_word;
pub use prose::prose_language;
pub use reader::WordReader;
pub use unspaced::{is_unspaced, word_ends};
