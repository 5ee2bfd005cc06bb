//! The sections of documents, as question sets are made from them.

use std::ops::Range;
use std::path::Path;

use pericope_api::{Document, Format, Kind};

/// The sentences below a heading: up to the next heading of its level or above. `None` where sentence `i` is no heading.
pub(super) fn section(document: &Document, i: usize) -> Option<Range<usize>> {
    let Kind::Heading(level) = document.sentences.get(i)?.kind else { return None };
    let next = (document.sentences.iter().enumerate().skip(i + 1))
        .find(|(_, s)| matches!(s.kind, Kind::Heading(other) if other <= level));
    Some(i + 1..next.map_or(document.len(), |(at, _)| at))
}

/// The name of the reader that reads a document's source again.
pub(crate) fn format_name(document: &Document) -> &'static str {
    match document.format {
        Format::Markdown if Path::new(&document.id).extension().is_some_and(|e| e.eq_ignore_ascii_case("mdx")) => "mdx",
        Format::Markdown => "md",
        Format::Html => "html",
        Format::Rst => "rst",
        Format::Asciidoc => "asciidoc",
        _ => "plain",
    }
}
