//! HTML: what a browser shows, block by block. Malformed pages are read as far as they make sense.

mod elements;
mod entities;
mod page;
mod tokens;

use std::sync::Arc;

use pericope_api::{Document, Format, Kind, Span};

use super::Reader;
use crate::builder::Builder;
use crate::{ReadError, ReadOptions};

/// HTML by a scanner of our own: html5ever, which browsers' rules are in, does not keep byte offsets.
pub(super) struct Html;

impl Reader for Html {
    fn name(&self) -> &'static str {
        "html"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["html", "htm", "xhtml"]
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
        let title = page::read(&mut builder, Span::new(from, source.len()), Kind::Prose);
        builder.title = title.or(builder.title.take());
        let document = builder.finish(id, Format::Html, source.clone());
        sink(Ok(document));
    }
}

/// Reads a block of HTML inside another format; its text is of kind `kind` where its tags do not say otherwise.
pub(super) fn fragment(builder: &mut Builder<'_>, span: Span, kind: Kind) {
    page::read(builder, span, kind);
}

#[cfg(test)]
mod tests;
