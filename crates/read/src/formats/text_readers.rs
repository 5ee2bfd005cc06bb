//! The formats that are text themselves, those that a line of JSONL may name.

use super::asciidoc::Asciidoc;
use super::html::Html;
use super::markdown::{Markdown, Mdx};
use super::plain::Plain;
use super::reader::Reader;
use super::rst::Rst;

/// The readers of text.
const TEXT_READERS: &[&dyn Reader] = &[&Markdown, &Mdx, &Html, &Rst, &Asciidoc, &Plain];

/// Returns the readers of the formats that are text themselves, one document each: not PDF, and not JSONL.
pub fn text_formats() -> impl Iterator<Item = &'static dyn Reader> {
    TEXT_READERS.iter().copied()
}

/// Returns the reader among the [`text_formats`] with that name, or the one for files with that extension (without the
/// dot), in whatever case.
#[must_use]
pub fn text_reader(name_or_extension: &str) -> Option<&'static dyn Reader> {
    find(text_formats(), name_or_extension)
}

/// Returns the first of `readers` with that name, or for files with that extension, in whatever case.
pub(super) fn find(
    mut readers: impl Iterator<Item = &'static dyn Reader>,
    name_or_extension: &str,
) -> Option<&'static dyn Reader> {
    let wanted = name_or_extension.to_ascii_lowercase();
    let wanted = wanted.as_str();
    readers.find(|reader| reader.name() == wanted || reader.extensions().contains(&wanted))
}
