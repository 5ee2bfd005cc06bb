//! Training data: documents whose segments are known, as they lie in files, and the vectors of their sentences.
//!
//! A [`Record`] is one line of segmentation JSONL, and a [`SequenceDocument`] what a sequence model reads of it. [`split()`]
//! parts documents into those to train on, to validate on and to test on. [`embed()`] computes the vectors of all sentences
//! and headings once, and [`SentenceVectors`] finds them by their text.

mod document;
mod embed;
mod error;
mod files;
mod folder;
mod load;
mod near;
mod record;
mod shard;
mod split;
mod vectors;

pub use document::{Headings, SequenceDocument};
pub use embed::{EmbedProgress, EmbedReport, embed};
pub use error::CorpusError;
pub use files::{Skipped, each_record, files, has_documents};
pub use load::{Corpus, Records, SourceCounts, load};
pub use near::{Shingles, groups};
pub use record::Record;
pub use split::{Beside, Counts, Division, Member, SplitOptions, SplitReport, Unit, split, split_beside};
pub use vectors::SentenceVectors;
