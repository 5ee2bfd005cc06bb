#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod analyzer;
mod chunk;
mod document;
mod embed;
mod error;
mod file_type;
mod filter;
mod group;
mod hit;
mod meta;
mod others;
mod passage;
mod prepare;
mod provenance;
mod query;
mod read;
mod shard;
mod snippet;
mod source;
mod terms;
mod write;

pub use analyzer::{Analyzer, Word};
pub use chunk::{ChunkEntry, ChunkId, ChunkRecord, Position, chunk_id};
pub use document::{DocumentHeader, document_hash};
pub use embed::{EmbedCounts, Embedding, VectorCache, encode_checked, encoder_text, query_vector};
pub use error::{ErrorKind, StoreError};
pub use file_type::{canonical_type, file_type, file_type_of};
pub use filter::Filter;
pub use group::Group;
pub use hit::{Hit, Ranked, fit_budget};
pub use meta::{CHUNK_FORMAT, Difference, EmbedderMeta, IndexSpec, ReferenceMeta, StoreMeta};
pub use others::{OthersCollection, OthersPassage};
pub use passage::Passage;
pub use prepare::{Prepared, prepare, truncated};
pub use provenance::Provenance;
pub use query::{Mode, Query, UnknownMode};
pub use read::{DocumentSummary, Freshness, Retriever, StoreInfo};
pub use shard::{NoShard, Shard};
pub use snippet::{Highlighter, SNIPPET_CHARS};
pub use source::{FileStamp, Known, KnownSource, SourceRecord};
pub use terms::{Clause, Terms, analyzed, query_words};
pub use write::{Destination, DestinationInfo, Finished, IndexStats, Publication, RunSummary};
