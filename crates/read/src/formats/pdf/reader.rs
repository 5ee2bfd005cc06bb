use std::path::Path;
use std::sync::Arc;

use pericope_api::Document;

use super::extract::{self, Failure, Found};
use super::layout::{self, Text};
use crate::encoding::{Decoded, DecodedHeading};
use crate::error::ReadError;
use crate::formats::plain;
use crate::formats::reader::Reader;
use crate::options::ReadOptions;

/// PDF by the crate pdf-extract, in a thread of its own that may panic.
///
/// Nothing bounds the time and memory that a file makes the parser take, and one that makes it recurse without end aborts
/// the process. Only another process can hold that: [`ReadOptions::isolation`].
///
/// A form feed stands between the pages. Lines are joined to paragraphs, words that a line end cut are made whole, and
/// the lines that repeat at the top and bottom of pages, and page numbers, are left out. Short paragraphs in larger letters than the
/// text are headings. Pages that the parser cannot cope
/// with are named beside the text.
pub(in crate::formats) struct Pdf;

impl Reader for Pdf {
    fn name(&self) -> &'static str {
        "pdf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pdf"]
    }

    fn needs_isolation(&self) -> bool {
        true
    }

    fn decode(&self, path: &Path, bytes: Vec<u8>) -> Result<Decoded, ReadError> {
        let path = path.to_owned();
        match extract::pages(bytes) {
            Ok(Found { pages, missing }) => {
                let Text { text, headings } = layout::text(&pages);
                if text.trim().is_empty() {
                    return Err(ReadError::NoText { path });
                }
                Ok(Decoded { text, encoding: None, missing, headings })
            }
            Err(Failure::Encrypted) => Err(ReadError::Encrypted { path }),
            Err(Failure::Broken(message)) => Err(ReadError::Pdf { path, message }),
        }
    }

    /// Reads text that was extracted.
    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        self.read_decoded(id, source, &[], options, sink);
    }

    fn read_decoded(
        &self,
        id: &str,
        source: Arc<str>,
        headings: &[DecodedHeading],
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        sink(Ok(plain::document(id, source, headings, options)));
    }
}
