use std::path::Path;
use std::sync::Arc;

use pericope_api::{Document, Format, Span};

use super::{charset, content, page};
use crate::builder::Builder;
use crate::encoding::{Decoded, decode};
use crate::error::ReadError;
use crate::formats::front_matter;
use crate::formats::reader::Reader;
use crate::options::ReadOptions;

/// HTML by a tokenizer of our own, which keeps byte ranges; the README has the figures of html5gum beside it.
///
/// The parts of a page that are not its content (see `content.rs`) are hidden, unless the options ask for the whole page.
pub(in crate::formats) struct Html;

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
        // The pages that site generators make others from have it. A title beside it is mostly a template.
        let (from, front) = front_matter::skip(&mut builder);
        let span = Span::new(from, source.len());
        let hidden = if options.whole_page { Vec::new() } else { content::hidden(&source, span) };
        let title = page::read(&mut builder, span, &hidden);
        builder.title = front.or(title).or(builder.title.take());
        let document = builder.finish(id, Format::Html, source.clone());
        sink(Ok(document));
    }
}
