//! Collections that other programs made.

use std::collections::HashMap;
use std::sync::Arc;

use pericope_store::{OthersPassage, StoreError};
use qdrant_client::qdrant::query::Variant;
use qdrant_client::qdrant::value::Kind;
use qdrant_client::qdrant::{
    DenseVector, Query as ServerQuery, QueryPoints, SearchParams, Value, VectorInput, vector_input,
};

use crate::collection::payload;
use crate::connection::{Connection, Purpose};
use crate::target::decoded;
use crate::{Error, Listener, Target};

/// What messages call the search.
const CALL: &str = "searching";

/// Where passages stand in the points of a collection that another program made. Names with dots lead into objects:
/// `metadata.source`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OthersFields {
    /// The payload's field that holds the text.
    pub text: String,
    /// The payload's field that names the document. Points may lack it.
    pub document: String,
    /// The name of the dense vector; `None` where the collection has one without a name.
    pub vector: Option<String>,
}

impl Default for OthersFields {
    /// LangChain's: `page_content`, `metadata.source`, and a vector without a name.
    fn default() -> Self {
        Self { text: "page_content".into(), document: "metadata.source".into(), vector: None }
    }
}

/// A collection that another program made, opened to be searched. Nothing is ever written to it.
pub struct OthersCollection {
    connection: Arc<Connection>,
    fields: OthersFields,
}

impl OthersCollection {
    /// Opens a collection by its address, in which `text=FIELD`, `document=FIELD` and `vector=NAME` may stand among the
    /// [settings](crate::Settings). Nothing is sent yet.
    ///
    /// # Errors
    /// As [`Target::parse`]; [`Error::Setup`].
    pub fn open(url: &str, listener: Listener) -> Result<Self, Error> {
        let (target, fields) = parse(url)?;
        Ok(Self { connection: Connection::new(&Target { listener, ..target })?, fields })
    }

    /// Where its passages stand.
    #[must_use]
    pub fn fields(&self) -> &OthersFields {
        &self.fields
    }

    /// Returns the `k` passages nearest to a vector, in the server's order. Every vector is compared: the answer does not depend on
    /// the server's graph.
    ///
    /// # Errors
    /// [`Error::Answer`] for a point without a text, [`Error::Refused`] where there is no such collection or its vectors have another
    /// length; [`Error::GaveUp`] and [`Error::Key`].
    pub fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<OthersPassage>, Error> {
        if k == 0 {
            return Ok(Vec::new());
        }
        let connection = &self.connection;
        let data = DenseVector { data: vector.to_vec() };
        let request = QueryPoints {
            collection_name: connection.target.collection.clone(),
            query: Some(ServerQuery {
                variant: Some(Variant::Nearest(VectorInput { variant: Some(vector_input::Variant::Dense(data)) })),
            }),
            using: self.fields.vector.clone(),
            params: Some(SearchParams { exact: Some(true), ..SearchParams::default() }),
            limit: Some(k as u64),
            with_payload: Some(payload(None)),
            timeout: Some(connection.target.settings.timeout.as_secs().max(1)),
            ..QueryPoints::default()
        };
        let response = connection.wait(connection.call(CALL, Purpose::Read, || {
            let mut client = connection.points.clone();
            let request = request.clone();
            async move { client.query(request).await }
        }))?;
        let points = response.result.into_iter().take(k);
        points.map(|point| self.passage(&point.payload, f64::from(point.score))).collect()
    }

    fn passage(&self, payload: &HashMap<String, Value>, score: f64) -> Result<OthersPassage, Error> {
        let Some(text) = string(payload, &self.fields.text) else {
            let mut known: Vec<&str> = payload.keys().map(String::as_str).collect();
            known.sort_unstable();
            let reason = format!(
                "a point has no text in its field `{}` (text=FIELD names another); its fields are: {}",
                self.fields.text,
                known.join(", ")
            );
            return Err(self.connection.unusable(CALL, reason));
        };
        if !score.is_finite() {
            return Err(self.connection.unusable(CALL, format!("a score is {score}")));
        }
        Ok(OthersPassage { text, document: string(payload, &self.fields.document), score })
    }
}

impl pericope_store::OthersCollection for OthersCollection {
    fn nearest(&self, vector: &[f32], k: usize) -> Result<Vec<OthersPassage>, StoreError> {
        Ok(self.nearest(vector, k)?)
    }
}

/// Takes our settings out of an address.
fn parse(url: &str) -> Result<(Target, OthersFields), Error> {
    let mut fields = OthersFields::default();
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let mut rest: Vec<&str> = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let named = || decoded(value).filter(|name| !name.is_empty());
        match (key, named()) {
            ("text", Some(name)) => fields.text = name,
            ("document", Some(name)) => fields.document = name,
            ("vector", Some(name)) => fields.vector = Some(name),
            ("text" | "document" | "vector", None) => {
                return Err(Error::Setting {
                    key: key.to_owned(),
                    value: value.to_owned(),
                    reason: "it names a field or a vector".to_owned(),
                });
            }
            _ => rest.push(pair),
        }
    }
    let address = if rest.is_empty() { place.to_owned() } else { format!("{place}?{}", rest.join("&")) };
    Ok((Target::parse(&address)?, fields))
}

/// The text in a field, whose name may be a path through objects.
fn string(payload: &HashMap<String, Value>, path: &str) -> Option<String> {
    if let Some(Kind::StringValue(text)) = payload.get(path).and_then(|value| value.kind.as_ref()) {
        return Some(text.clone());
    }
    let (first, rest) = path.split_once('.')?;
    match payload.get(first)?.kind.as_ref()? {
        Kind::StructValue(object) => string(&object.fields, rest),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{OthersFields, parse};

    #[test]
    fn fields_stand_among_the_settings() {
        let (target, fields) = parse("qdrant://localhost/docs").unwrap();
        assert_eq!((target.to_string().as_str(), fields), ("qdrant://localhost:6334/docs", OthersFields::default()));
        let url = "qdrant://h/docs?text=body&retries=2&document=meta.file%20name&vector=dense";
        let (target, fields) = parse(url).unwrap();
        assert_eq!(target.settings.retries, 2);
        let expected =
            OthersFields { text: "body".into(), document: "meta.file name".into(), vector: Some("dense".into()) };
        assert_eq!(fields, expected);
        for wrong in ["qdrant://h/docs?text=", "qdrant://h/docs?texts=a", "qdrant://h/docs?vector", "http://h/docs"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
