#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod binary;
mod builder;
mod encoding;
mod error;
mod files;
mod formats;
mod inline;
mod limits;
mod links;
mod options;
mod split;
mod stable;
mod walk;
mod western;
mod work;

#[cfg(test)]
mod growth;
#[cfg(feature = "pdf")]
mod worker;

pub use encoding::{Decoded, DecodedHeading};
pub use error::ReadError;
pub use files::{document_id, document_path, read_bytes, read_each, read_path};
pub use formats::{Reader, formats, read_text, reader, text_formats, text_reader};
pub use options::{Isolation, ReadOptions};
pub use split::{BreakFinder, SentenceSplitter, WindowedSplitter, default_splitter};
pub use walk::{Found, WalkOptions, check_globs, find, is_media, walk};
#[cfg(feature = "pdf")]
pub use worker::{WorkerLimits, WorkerPool, serve};
