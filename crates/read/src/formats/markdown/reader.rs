use std::sync::Arc;

use pericope_api::{Document, Format};

use super::{attributes, blocks, mdx};
use crate::builder::Builder;
use crate::error::ReadError;
use crate::formats::front_matter;
use crate::formats::reader::Reader;
use crate::options::ReadOptions;

/// Markdown by pulldown-cmark.
pub(in crate::formats) struct Markdown;

impl Reader for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["md", "markdown"]
    }

    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        sink(Ok(read(id, source, options, false)));
    }
}

/// Markdown with JSX.
pub(in crate::formats) struct Mdx;

impl Reader for Mdx {
    fn name(&self) -> &'static str {
        "mdx"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["mdx"]
    }

    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        sink(Ok(read(id, source, options, true)));
    }
}

fn read(id: &str, source: Arc<str>, options: &ReadOptions, jsx: bool) -> Document {
    let mut builder = Builder::new(&source, options.splitter.as_ref());
    let (from, title) = front_matter::skip(&mut builder);
    let masks = if jsx { mdx::markup(&source, from) } else { attributes::lists(&source, from) };
    if masks.is_empty() {
        blocks::read(&mut builder, &source, from, &[]);
    } else {
        let masked = mdx::masked(&source, &masks);
        blocks::read(&mut builder, &masked, from, &masks);
    }
    builder.title = title.or(builder.title.take());
    builder.finish(id, Format::Markdown, source.clone())
}
