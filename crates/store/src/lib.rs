#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod analyzer;
mod chunk;
mod document;
mod embed;
mod encoded;
mod error;
pub mod expand;
mod file_type;
mod filter;
mod group;
mod hit;
mod late;
mod meta;
mod others;
mod passage;
mod prepare;
mod provenance;
mod query;
mod read;
mod rerank;
mod shard;
mod snippet;
mod source;
mod terms;
#[cfg(test)]
mod testing;
mod write;

pub use pericope_language::{Language, LanguageChoice, UnknownLanguage, detect as detect_language};

pub use analyzer::{Analyzer, Word};
pub use chunk::{ChunkEntry, ChunkId, ChunkRecord, Position, Positions, chunk_id};
pub use document::{DocumentHeader, document_hash};
pub use embed::{EmbedCounts, Embedding, VectorCache, encode_checked, encode_query, query_vector};
pub use encoded::{CONTEXT_TOKENS, HEADING_TOKENS};
pub use error::{ErrorKind, StoreError};
pub use expand::{EXPAND_TOKENS, Expand, Expansion, UnknownExpand};
pub use file_type::{canonical_type, file_type, file_type_of};
pub use filter::Filter;
pub use group::Group;
pub use hit::{Hit, Ranked, fit_budget};
pub use late::{Encoded, Surroundings};
pub use meta::{CHUNK_FORMAT, Difference, EmbedderMeta, IndexSpec, ReferenceMeta, StoreMeta};
pub use others::{OthersCollection, OthersPassage};
pub use passage::{Passage, Places};
pub use prepare::{Prepared, prepare, truncated};
pub use provenance::Provenance;
pub use query::{Mode, Query, UnknownMode};
pub use read::{DocumentSummary, Freshness, Retriever, StoreInfo};
pub use rerank::{RERANK_DEPTH, Reranked, reranked};
pub use shard::{NoShard, Shard};
pub use snippet::{Highlighter, SNIPPET_CHARS};
pub use source::{FileStamp, Known, KnownSource, SourceRecord};
pub use terms::{Clause, Terms, analyzed, query_words};
pub use write::{COMMIT_EVERY, Destination, DestinationInfo, Finished, IndexStats, Publication, RunSummary};
