#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod analyzer;
mod cache;
mod contents;
mod destination;
mod directory;
mod embed;
mod entry;
mod error;
mod manifest;
mod meta;
pub mod pipeline;
pub mod plugin;
mod prepare;
mod reader;
mod search;
pub mod sinks;
#[cfg(test)]
mod testing;
mod writer;

pub use analyzer::{TEXT_ANALYZER, WordStream, WordTokenizer, Words, text_analyzer};
pub use cache::{EmbeddingCache, VectorCache};
pub use contents::{Contents, StoredChunk};
pub use destination::{Destination, DocumentHead};
pub use embed::{EmbedCounts, encoder_text};
pub use entry::{Entry, canonical_type, document_hash, file_type, point_id};
pub use error::IndexError;
pub use manifest::{Known, KnownSource, MANIFEST_FILE, Origin, SourceRecord, Stamp};
pub use meta::{EmbedderMeta, FORMAT, IndexMeta, IndexSpec, META_FILE, ReferenceMeta};
pub use prepare::{Embedding, Prepared, prepare};
pub use reader::IndexReader;
pub use search::{Filter, Group, Highlighter, Hit, Mode, Passage, Piece, Query, query_words, rrf};
pub use writer::{IndexStats, IndexWriter};
