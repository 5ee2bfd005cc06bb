//! Training data: documents whose segments are known, as they lie in files, and the vectors of their sentences.
//!
//! A [`Record`] is one line of segmentation JSONL. [`embed`] computes the vectors of all sentences and headings once, and
//! [`SentenceVectors`] finds them by their text.

mod embed;
mod error;
mod files;
mod folder;
mod record;
mod shard;
mod vectors;

pub use embed::{EmbedProgress, EmbedReport, embed};
pub use error::CorpusError;
pub use files::{Skipped, each_record, files};
pub use record::Record;
pub use vectors::SentenceVectors;
