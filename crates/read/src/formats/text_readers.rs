//! The formats that are text themselves, those that a line of JSONL may name.

use super::asciidoc::Asciidoc;
use super::html::Html;
use super::markdown::{Markdown, Mdx};
use super::plain::Plain;
use super::reader::Reader;
use super::rst::Rst;

/// The readers of text.
pub(super) const TEXT_READERS: &[&dyn Reader] = &[&Markdown, &Mdx, &Html, &Rst, &Asciidoc, &Plain];

/// Returns the first of `readers` with that name, or for files with that extension, in whatever case.
pub(super) fn find(
    mut readers: impl Iterator<Item = &'static dyn Reader>,
    name_or_extension: &str,
) -> Option<&'static dyn Reader> {
    let wanted = name_or_extension.to_ascii_lowercase();
    let wanted = wanted.as_str();
    readers.find(|reader| reader.name() == wanted || reader.extensions().contains(&wanted))
}
