#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod bm25;
mod collection;
mod connection;
mod error;
mod part;
mod point;
mod rebuild;
mod record;
mod search;
mod settings;
mod target;
#[cfg(feature = "testing")]
pub mod testing;
mod writer;

pub use bm25::{Analyze, B, Bm25, DEFAULT_MEAN_WORDS, K1, term_index};
pub use collection::{Collection, Stored};
pub use error::Error;
pub use part::Part;
pub use point::{Point, fields, file_type, path_prefixes};
pub use rebuild::Rebuild;
pub use record::{Embedder, FORMAT, Record};
pub use search::{Filter, Hit, Mode, Query};
pub use settings::{Distance, Quantization, Settings};
pub use target::Target;
pub use writer::{Writer, Written};
