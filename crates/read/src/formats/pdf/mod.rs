//! PDF: the text of its pages. A PDF has no text that byte ranges could point into, so the text that is extracted becomes
//! the source, and is read as plain text.

mod extract;
mod forms;
mod inflate;
mod layout;

use std::path::Path;
use std::sync::Arc;

use pericope_api::Document;

use super::{Reader, plain};
use crate::encoding::Decoded;
use crate::{ReadError, ReadOptions};
use extract::Failure;

/// PDF by the crate pdf-extract, in a thread of its own that may fail.
///
/// A form feed stands between the pages. Lines are joined to paragraphs, words that a line end cut are made whole, and
/// the lines that repeat at the top and bottom of pages, and page numbers, are left out.
pub(super) struct Pdf;

impl Reader for Pdf {
    fn name(&self) -> &'static str {
        "pdf"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pdf"]
    }

    fn decode(&self, path: &Path, bytes: Vec<u8>) -> Result<Decoded, ReadError> {
        let path = path.to_owned();
        match extract::pages(bytes) {
            Ok(pages) => {
                let text = layout::text(&pages);
                if text.trim().is_empty() {
                    return Err(ReadError::NoText { path });
                }
                Ok(Decoded { text, encoding: None })
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
        plain::Plain.read(id, source, options, sink);
    }
}

#[cfg(test)]
mod tests;
