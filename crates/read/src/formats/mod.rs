//! The formats that can be read, each a [`Reader`], and their registry.

mod asciidoc;
mod front_matter;
mod html;
mod jsonl;
mod lines;
mod markdown;
#[cfg(feature = "pdf")]
mod pdf;
mod plain;
mod reader;
mod registry;
mod rst;
mod slugs;
mod text_readers;

pub use reader::Reader;
pub use registry::{formats, read_text, reader};
pub(crate) use registry::{reader_of, unknown_format};
pub use text_readers::{text_formats, text_reader};
