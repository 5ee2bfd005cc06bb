//! The formats that can be read, each a [`Reader`], and their registry.

mod asciidoc;
mod html;
mod jsonl;
mod lines;
mod markdown;
#[cfg(feature = "pdf")]
mod pdf;
mod plain;
mod rst;

use std::path::Path;
use std::sync::Arc;

use pericope_api::Document;

use crate::encoding::{Decoded, decode};
use crate::{ReadError, ReadOptions};

/// Turns source text into documents.
///
/// Readers never fail on malformed input of their format: what they do not understand is text. Every document holds the
/// invariants of [`Document::check`].
pub trait Reader: Send + Sync {
    /// Name of the format: `markdown`.
    fn name(&self) -> &'static str;

    /// File extensions, in lower case, without the dot.
    fn extensions(&self) -> &'static [&'static str];

    /// The text in the bytes of a file: by default what they spell, in whatever encoding. `path` is for errors.
    ///
    /// # Errors
    /// [`ReadError::Binary`] and [`ReadError::InvalidUtf8`] where there is no text in them; for a PDF,
    /// [`ReadError::NoText`], [`ReadError::Encrypted`] and [`ReadError::Pdf`].
    fn decode(&self, path: &Path, bytes: Vec<u8>) -> Result<Decoded, ReadError> {
        decode(path, bytes, None)
    }

    /// Reads `source`, which is called `id`, and hands each document in it to `sink`, in order; where a part of the
    /// source is broken (a line of JSONL), an error takes its place and the rest goes on.
    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    );
}

const READERS: &[&dyn Reader] = &[
    &markdown::Markdown,
    &markdown::Mdx,
    &html::Html,
    &rst::Rst,
    &asciidoc::Asciidoc,
    &plain::Plain,
    #[cfg(feature = "pdf")]
    &pdf::Pdf,
    &jsonl::Jsonl,
];

/// All readers.
pub fn formats() -> impl Iterator<Item = &'static dyn Reader> {
    READERS.iter().copied()
}

/// The reader with that name, or the one for files with that extension (without the dot; case does not matter).
#[must_use]
pub fn reader(name_or_extension: &str) -> Option<&'static dyn Reader> {
    let wanted = name_or_extension.to_ascii_lowercase();
    let wanted = wanted.as_str();
    formats().find(|reader| reader.name() == wanted || reader.extensions().contains(&wanted))
}

/// Reads one text that is not in a file.
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

/// The error for a format name that nobody has.
pub(crate) fn unknown_format(name: &str) -> ReadError {
    let known = formats().map(Reader::name).collect::<Vec<_>>().join(", ");
    ReadError::UnknownFormat { name: name.to_owned(), known }
}
