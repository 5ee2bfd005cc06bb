//! The registry of all formats.

use std::path::Path;
use std::sync::Arc;

use pericope_api::Document;

use super::jsonl::Jsonl;
#[cfg(feature = "pdf")]
use super::pdf::Pdf;
use super::reader::Reader;
use super::text_readers::{find, text_formats};
use crate::error::ReadError;
use crate::options::ReadOptions;

/// The formats that hold text of another format.
const CONTAINER_READERS: &[&dyn Reader] = &[
    #[cfg(feature = "pdf")]
    &Pdf,
    &Jsonl,
];

/// Returns all readers.
pub fn formats() -> impl Iterator<Item = &'static dyn Reader> {
    text_formats().chain(CONTAINER_READERS.iter().copied())
}

/// Returns the reader with that name, or the one for files with that extension (without the dot), in whatever case.
#[must_use]
pub fn reader(name_or_extension: &str) -> Option<&'static dyn Reader> {
    find(formats(), name_or_extension)
}

/// Returns the reader for a file of that name. `llms.txt` and `llms-full.txt` are Markdown, as their convention has it.
pub(crate) fn reader_of(path: &Path) -> Option<&'static dyn Reader> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if ["llms.txt", "llms-full.txt"].contains(&name.to_ascii_lowercase().as_str()) {
        return reader("markdown");
    }
    let extension = path.extension()?.to_string_lossy().to_ascii_lowercase();
    formats().find(|reader| reader.extensions().contains(&extension.as_str()))
}

/// Reads one text that is not in a file, and returns its document (JSONL: the first).
///
/// ```
/// use pericope_read::{ReadOptions, read_text};
///
/// let source = "# Fish\n\nA *cod* swims. It eats.\n";
/// let document = read_text("fish", "markdown", source, &ReadOptions::default())?;
/// assert_eq!(document.title.as_deref(), Some("Fish"));
/// assert_eq!(document.sentence(1), "A *cod* swims.");
/// assert_eq!(document.visible(document.sentences[1].span), "A cod swims.");
/// assert_eq!(document.heading_path(2), ["Fish"]);
/// # Ok::<(), pericope_read::ReadError>(())
/// ```
///
/// # Errors
/// [`ReadError::UnknownFormat`] for a format that is not in [`formats`]; [`ReadError::Line`] for JSONL whose first line
/// is no document; [`ReadError::Empty`] for JSONL without a line.
pub fn read_text(
    id: &str,
    format: &str,
    source: impl Into<Arc<str>>,
    options: &ReadOptions,
) -> Result<Document, ReadError> {
    let mut first = None;
    let reader = reader(format).ok_or_else(|| unknown_format(format))?;
    reader.read(id, source.into(), options, &mut |document| {
        first.get_or_insert(document);
    });
    first.unwrap_or_else(|| Err(ReadError::Empty { path: id.into() }))
}

/// Returns the error for a format name that no reader has.
pub(crate) fn unknown_format(name: &str) -> ReadError {
    let known = formats().map(Reader::name).collect::<Vec<_>>().join(", ");
    ReadError::UnknownFormat { name: name.to_owned(), known }
}
