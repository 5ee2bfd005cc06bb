//! Segmenters that follow the document's structure: sentences, paragraphs, headings, separators.

mod headings;
mod recursive;
mod units;

pub(crate) use headings::STRUCTURE;
pub use headings::Structure;
pub(crate) use recursive::RECURSIVE;
pub use recursive::Recursive;
pub(crate) use units::{PARAGRAPH, SENTENCE};
pub use units::{Paragraphs, Sentences};
