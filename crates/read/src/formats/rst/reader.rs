use std::sync::Arc;

use pericope_api::{Document, Format};

use super::blocks;
use crate::builder::Builder;
use crate::error::ReadError;
use crate::formats::reader::Reader;
use crate::options::ReadOptions;

/// reStructuredText by a parser of our own that keeps byte ranges.
pub(in crate::formats) struct Rst;

impl Reader for Rst {
    fn name(&self) -> &'static str {
        "rst"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["rst", "rest"]
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
        blocks::read(&mut builder, from);
        sink(Ok(builder.finish(id, Format::Rst, source.clone())));
    }
}
