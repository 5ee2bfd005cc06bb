//! The languages of a collection's chunks.

use std::collections::BTreeSet;

use pericope_store::{Language, LanguageChoice};
use qdrant_client::qdrant::FacetCounts;
use qdrant_client::qdrant::facet_value::Variant;

use crate::connection::Purpose;
use crate::point::fields;
use crate::{Collection, Error};

impl Collection {
    /// The languages of the chunks, in their order: those in which a query is to be read. Where each document has its own,
    /// English is among them: its points do not name it. Costs a call then.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn languages(&self) -> Result<Vec<Language>, Error> {
        if let LanguageChoice::Fixed(language) = self.record.language() {
            return Ok(vec![language]);
        }
        let connection = &self.connection;
        let request = FacetCounts {
            collection_name: self.name.clone(),
            key: fields::LANGUAGE.to_owned(),
            limit: Some(Language::all().count() as u64),
            ..FacetCounts::default()
        };
        let response = connection.wait(connection.call("listing the languages", Purpose::Read, || {
            let mut client = connection.points.clone();
            let request = request.clone();
            async move { client.facet(request).await }
        }))?;
        let mut found = BTreeSet::from([Language::English]);
        for value in response.hits.into_iter().filter_map(|hit| hit.value?.variant) {
            if let Variant::StringValue(code) = value {
                found.extend(code.parse::<Language>());
            }
        }
        Ok(found.into_iter().collect())
    }
}
