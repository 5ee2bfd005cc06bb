//! The documents of a collection, by their first chunks.

use std::collections::BTreeMap;

use pericope_store::{DocumentSummary, file_type_of};
use qdrant_client::qdrant::{Condition, Filter as ServerFilter, Range};

use super::alias;
use super::read::scroll;
use crate::payload::Payload;
use crate::point::{fields, plain};
use crate::search::keyword;
use crate::{Collection, Error};

/// The condition that a chunk is its document's first.
fn first() -> Condition {
    Condition::range(fields::ORDINAL, Range { gte: Some(0.0), lte: Some(0.0), ..Range::default() })
}

impl Collection {
    /// Number of documents, counted by their first chunks.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn count_documents(&self) -> Result<u64, Error> {
        self.count_in(&self.name, "counting the documents", Some(ServerFilter::must([first()])))
    }

    /// The documents whose ids begin with `prefix` and come after `after`, in the order of their ids, `limit` at most.
    /// Reads a few fields of the first chunk of every document in the prefix's folder.
    ///
    /// # Errors
    /// As [`count`](Self::count); [`Error::NotAChunk`] for a point that another program wrote.
    pub fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<DocumentSummary>, Error> {
        let mut found: BTreeMap<String, DocumentSummary> = BTreeMap::new();
        let folder = prefix.rsplit_once('/').map(|(folder, _)| plain(folder)).filter(|folder| !folder.is_empty());
        let within = folder.map(|folder| keyword(fields::PATH, folder));
        let filter = ServerFilter::must([first()].into_iter().chain(within));
        let wanted = [fields::DOCUMENT, fields::TITLE, fields::FILE_TYPE, fields::CHUNKS];
        self.connection.wait(scroll(&self.connection, &self.name, Some(filter), Some(&wanted), |point| {
            let payload = Payload { collection: &self.name, id: point.id.as_ref(), fields: &point.payload };
            let id = payload.string(fields::DOCUMENT)?;
            if limit == 0 || !id.starts_with(prefix) || after.is_some_and(|after| id.as_str() <= after) {
                return Ok(());
            }
            let summary = DocumentSummary {
                title: payload.optional(fields::TITLE)?,
                file_type: payload.optional(fields::FILE_TYPE)?.unwrap_or_else(|| file_type_of(&id)),
                chunks: payload.number(fields::CHUNKS)?,
                tokens: None,
                id: id.clone(),
            };
            found.insert(id, summary);
            if found.len() > limit {
                found.pop_last();
            }
            Ok(())
        }))?;
        Ok(found.into_values().collect())
    }

    /// True where the name that the collection was opened by stands for another collection now, or for none.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn is_replaced(&self) -> Result<bool, Error> {
        let now = self.connection.wait(alias::resolve(&self.connection, &self.name))?;
        Ok(now.as_ref().unwrap_or(&self.name) != &self.pinned)
    }
}
