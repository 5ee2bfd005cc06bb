//! Markdown: CommonMark with GitHub's tables, task lists, footnotes and alerts; front matter; HTML and JSX tolerated.

mod blocks;
mod front_matter;

use std::sync::Arc;

use pericope_api::{Document, Format, Span};

use super::Reader;
use crate::builder::Builder;
use crate::{ReadError, ReadOptions};

/// Markdown by pulldown-cmark.
pub(super) struct Markdown;

impl Reader for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["md", "markdown", "mdx"]
    }

    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        let mut builder = Builder::new(&source, options.splitter.as_ref());
        let mut from = builder.skip_byte_order_mark();
        let mut title = None;
        if let Some(front) = front_matter::front_matter(&source[from..]) {
            builder.hidden(Span::new(from, from + front.len));
            from += front.len;
            title = front.title;
        }
        blocks::read(&mut builder, from);
        builder.title = title.or(builder.title.take());
        let document = builder.finish(id, Format::Markdown, source.clone());
        sink(Ok(document));
    }
}

#[cfg(test)]
mod tests;
