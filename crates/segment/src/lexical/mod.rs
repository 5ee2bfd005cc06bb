//! Segmenters that compare the words of neighbouring text.

mod stop_words;
mod texttiling;

pub(crate) use texttiling::TEXTTILING;
pub use texttiling::TextTiling;
