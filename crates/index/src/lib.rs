#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod analyzer;
mod directory;
mod embed;
mod entry;
mod error;
mod meta;
pub mod pipeline;
mod reader;
mod search;
pub mod sinks;
#[cfg(test)]
mod testing;
mod writer;

pub use analyzer::{TEXT_ANALYZER, WordStream, WordTokenizer, text_analyzer};
pub use embed::encoder_text;
pub use entry::{Entry, point_id};
pub use error::IndexError;
pub use meta::{EmbedderMeta, FORMAT, IndexMeta, IndexSpec, META_FILE, ReferenceMeta};
pub use reader::IndexReader;
pub use search::{Hit, Mode, Query, rrf};
pub use writer::{IndexStats, IndexWriter};
