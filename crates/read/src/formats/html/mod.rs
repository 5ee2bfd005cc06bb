//! HTML: the content of a page, block by block. Malformed pages are read as far as they make sense.

mod attributes;
mod charset;
mod content;
mod elements;
mod entities;
mod page;
mod tokens;

use std::path::Path;
use std::sync::Arc;

use pericope_api::{Document, Format, Kind, Span};

use super::Reader;
use super::markdown::Slugs;
use crate::builder::Builder;
use crate::encoding::{Decoded, decode};
use crate::{ReadError, ReadOptions};

/// HTML by a scanner of our own: html5ever, which browsers' rules are in, does not keep byte offsets.
///
/// What is not the page's content (`content.rs` says what that is) is hidden, unless the options ask for the whole page.
pub(super) struct Html;

impl Reader for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm", "xhtml"]
    }

    fn decode(&self, path: &Path, bytes: Vec<u8>) -> Result<Decoded, ReadError> {
        let declared = charset::declared(&bytes);
        decode(path, bytes, declared)
    }

    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        let mut builder = Builder::new(&source, options.splitter.as_ref());
        let from = builder.skip_byte_order_mark();
        let span = Span::new(from, source.len());
        let hidden = if options.whole_page { Vec::new() } else { content::hidden(&source, span) };
        let title = page::read(&mut builder, span, &hidden);
        builder.title = title.or(builder.title.take());
        let document = builder.finish(id, Format::Html, source.clone());
        sink(Ok(document));
    }
}

/// Reads a block of HTML inside another format; its text is of kind `kind` where its tags do not say otherwise.
///
/// Headings without an id get the next of `slugs`; `before` is the id that was found just before the block, and the
/// answer is that just after it, for the heading that may follow.
pub(super) fn fragment(
    builder: &mut Builder<'_>,
    span: Span,
    kind: Kind,
    slugs: &mut Slugs,
    before: Option<String>,
) -> Option<String> {
    page::read_fragment(builder, span, kind, slugs, before)
}

/// What links to the element of a tag end with: its `id`, or the `name` of an `a`.
pub(super) use attributes::anchor;

#[cfg(test)]
mod tests;
