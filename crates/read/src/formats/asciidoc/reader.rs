use std::sync::Arc;

use pericope_api::{Document, Format};

use super::blocks;
use crate::builder::Builder;
use crate::error::ReadError;
use crate::formats::front_matter;
use crate::formats::reader::Reader;
use crate::options::ReadOptions;

/// AsciiDoc by a parser of our own that keeps byte ranges.
pub(in crate::formats) struct Asciidoc;

impl Reader for Asciidoc {
    fn name(&self) -> &'static str {
        "asciidoc"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["adoc", "asciidoc", "asc"]
    }

    fn read(
        &self,
        id: &str,
        source: Arc<str>,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Result<Document, ReadError>),
    ) {
        let mut builder = Builder::new(&source, options.splitter.as_ref());
        let (from, title) = front_matter::skip(&mut builder);
        blocks::read(&mut builder, from);
        builder.title = title.or(builder.title.take());
        sink(Ok(builder.finish(id, Format::Asciidoc, source.clone())));
    }
}
