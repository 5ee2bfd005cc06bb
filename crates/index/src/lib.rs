#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod analyzer;
mod build;
mod cache;
mod contents;
mod directory;
mod embed;
mod engines;
mod error;
mod guard;
mod manifest;
mod meta;
mod own;
pub mod pipeline;
pub mod plugin;
pub mod project;
mod reader;
mod search;
mod vectors;
mod verify;
mod writer;

pub use pericope_store::{
    Destination, DestinationInfo, DocumentHeader, EmbedCounts, Filter, Group, Hit, IndexSpec, IndexStats, Mode, Query,
    Ranked, Retriever, StoreError, VectorCache,
};

pub use analyzer::{
    ENGLISH_ANALYZER, EnglishAnalyzer, LanguageAnalyzer, TEXT_ANALYZER, WordStream, WordTokenizer, analyzer_named,
    text_analyzer, text_analyzer_of,
};
pub use cache::EmbeddingCache;
pub use contents::Contents;
pub use error::IndexError;
pub use manifest::{MANIFEST_FILE, Stale, stale};
pub use meta::{FORMAT, IndexMeta, META_FILE, written};
pub use own::{foreign_files, is_index};
pub use reader::IndexReader;
pub use search::rrf;
pub use verify::{Verified, verify};
pub use writer::IndexWriter;
