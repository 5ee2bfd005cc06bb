//! reStructuredText, as docutils reads it, with what Sphinx adds. Directives that nobody knows show their content.

mod blocks;
mod directives;
mod explicit;
mod ids;
mod inline;
mod lists;
mod roles;
mod substitutions;
mod tables;
mod titles;

use std::sync::Arc;

use pericope_api::{Document, Format};

use super::Reader;
use crate::builder::Builder;
use crate::{ReadError, ReadOptions};

/// reStructuredText by a parser of our own that keeps byte ranges.
pub(super) struct Rst;

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

#[cfg(test)]
mod tests;
