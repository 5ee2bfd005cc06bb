#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bm25;
mod collection;
mod connection;
mod destination;
mod error;
mod names;
mod notice;
mod others;
mod payload;
mod point;
mod rebuild;
mod record;
mod retriever;
mod search;
mod settings;
mod target;
mod writer;

pub use pericope_store::{Filter, Mode};

pub use bm25::{Analyze, B, Bm25, DEFAULT_MEAN_WORDS, K1, term_index};
pub use collection::{Collection, Stored};
pub use destination::QdrantDestination;
pub use error::Error;
pub use notice::{Listener, Notice};
pub use others::{OthersCollection, OthersFields};
pub use point::{Point, fields};
pub use rebuild::Rebuild;
pub use record::{FORMAT, Record};
pub use retriever::QdrantRetriever;
pub use search::{ScoredChunk, VectorQuery};
pub use settings::{Distance, Quantization, Settings};
pub use target::Target;
pub use writer::{Writer, Written};
