use pericope_api::Document;

use super::report::Failure;
use super::source::{Metadata, Source};

/// Documents that are read already: each is an item of its own, without a name.
pub(super) struct Documents;

impl Source for Documents {
    type Item = Option<Result<Document, Failure>>;

    fn about(&self, item: &Self::Item) -> Metadata {
        let bytes = match item {
            Some(Ok(document)) => document.source.len() as u64,
            _ => 0,
        };
        Metadata { bytes, ..Metadata::default() }
    }

    fn hash(&self, _item: &Self::Item) -> Option<u128> {
        None
    }

    fn read(&self, item: &mut Self::Item, each: &mut dyn FnMut(Result<Document, Failure>)) {
        if let Some(read) = item.take() {
            each(read);
        }
    }
}
