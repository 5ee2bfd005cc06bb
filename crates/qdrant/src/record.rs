use std::collections::{BTreeMap, HashMap};

use qdrant_client::qdrant::Value;
use serde::{Deserialize, Serialize};

use crate::{DEFAULT_MEAN_WORDS, Error};

/// Version of the payload, the vectors' names, the term numbers and the record itself. A program reads its own alone.
pub const FORMAT: u32 = 1;

/// The key of the collection's metadata that holds the record.
const KEY: &str = "pericope";

/// The embedder that makes a collection's vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Embedder {
    /// Short name, as in `--embedder`.
    pub name: String,
    /// Changes whenever the vectors could.
    pub fingerprint: String,
    /// Length of the vectors.
    pub dimension: usize,
    /// Whether the heading path is embedded in front of the text.
    pub prefix_headings: bool,
}

/// What a collection was built with, kept in the collection's own metadata from the moment it exists: vectors of two
/// models, or chunks of two segmenters, do not compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT`] of the program that made the collection.
    pub format: u32,
    /// The segmenter's canonical spec.
    pub segmenter: String,
    /// Name of the token counter behind [`Point::tokens`](crate::Point::tokens).
    pub tokenizer: String,
    /// Name and version of what makes the terms of the sparse vectors.
    pub analyzer: String,
    /// The embedder, or nothing where the collection has no dense vectors.
    pub embedder: Option<Embedder>,
    /// Mean number of terms in a chunk, for the length normalisation of BM25. It is fixed when the collection is made:
    /// many workers must agree on it, and no weight may change when chunks come or go. Whoever opens the collection
    /// takes the value that is recorded.
    pub mean_words: f64,
    /// Anything else that must be the same for all who write, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub options: BTreeMap<String, String>,
    /// Version of the program that made the collection.
    pub program: String,
}

impl Record {
    /// A record without an embedder and with [`DEFAULT_MEAN_WORDS`].
    #[must_use]
    pub fn new(segmenter: impl Into<String>, tokenizer: impl Into<String>, analyzer: impl Into<String>) -> Self {
        Self {
            format: FORMAT,
            segmenter: segmenter.into(),
            tokenizer: tokenizer.into(),
            analyzer: analyzer.into(),
            embedder: None,
            mean_words: DEFAULT_MEAN_WORDS,
            options: BTreeMap::new(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// With dense vectors.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Embedder) -> Self {
        self.embedder = Some(embedder);
        self
    }

    /// Length of the dense vectors, where there are any.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        self.embedder.as_ref().map(|embedder| embedder.dimension)
    }

    /// The embedder as the messages name it.
    fn embedder_label(&self) -> String {
        self.embedder.as_ref().map_or_else(
            || "none".to_owned(),
            |e| format!("{} ({}, {} dimensions)", e.name, e.fingerprint, e.dimension),
        )
    }

    /// Checks that `asked` would build the same; the mean length and the program's version may differ.
    pub(crate) fn expect(&self, collection: &str, asked: &Self) -> Result<(), Error> {
        let on_off = |record: &Self| match record.embedder.as_ref().is_some_and(|e| e.prefix_headings) {
            true => "on".to_owned(),
            false => "off".to_owned(),
        };
        let mut pairs = vec![
            ("segmenter", self.segmenter.clone(), asked.segmenter.clone()),
            ("tokenizer", self.tokenizer.clone(), asked.tokenizer.clone()),
            ("analyzer", self.analyzer.clone(), asked.analyzer.clone()),
            ("embedder", self.embedder_label(), asked.embedder_label()),
            ("heading prefix", on_off(self), on_off(asked)),
        ];
        let option = |record: &Self, name: &String| record.options.get(name).cloned().unwrap_or("none".to_owned());
        for name in self.options.keys().chain(asked.options.keys()) {
            pairs.push((name, option(self, name), option(asked, name)));
        }
        match pairs.into_iter().find(|(_, found, asked)| found != asked) {
            None => Ok(()),
            Some((what, found, asked)) => {
                Err(Error::Mismatch { collection: collection.to_owned(), what: what.to_owned(), found, asked })
            }
        }
    }

    /// As the collection's metadata.
    pub(crate) fn to_metadata(&self) -> Result<HashMap<String, Value>, Error> {
        let json = serde_json::to_value(self)
            .map_err(|e| Error::Setup { what: "the collection's record".to_owned(), reason: e.to_string() })?;
        Ok(HashMap::from([(KEY.to_owned(), Value::from(json))]))
    }

    /// From the collection's metadata; nothing where there is no record in it.
    pub(crate) fn from_metadata(collection: &str, metadata: &HashMap<String, Value>) -> Result<Option<Self>, Error> {
        let Some(value) = metadata.get(KEY) else { return Ok(None) };
        let json = value.clone().into_json();
        // The format is looked at first: another one need not have the same fields.
        let format = json.get("format").and_then(serde_json::Value::as_u64);
        let unknown = |found: String| Error::Format { collection: collection.to_owned(), found, known: FORMAT };
        if format != Some(u64::from(FORMAT)) {
            return Err(unknown(format.map_or_else(|| "none".to_owned(), |format| format.to_string())));
        }
        serde_json::from_value(json).map(Some).map_err(|e| unknown(format!("{FORMAT}, damaged ({e})")))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn embedder() -> Embedder {
        Embedder { name: "minilm".into(), fingerprint: "f00".into(), dimension: 384, prefix_headings: false }
    }

    #[test]
    fn survives_the_metadata() {
        let mut record = Record::new("window", "minilm", "en-1").with_embedder(embedder());
        record.mean_words = 87.25;
        record.options.insert("reference".into(), "semantic 91.5".into());
        let metadata = record.to_metadata().unwrap();
        assert_eq!(Record::from_metadata("c", &metadata).unwrap(), Some(record));
        assert_eq!(Record::from_metadata("c", &HashMap::new()).unwrap(), None);
    }

    #[test]
    fn another_format_is_named() {
        for (value, found) in [
            (serde_json::json!({ "format": 7 }), "7"),
            (serde_json::json!("text"), "none"),
            (serde_json::json!({ "format": 1 }), "damaged"),
        ] {
            let metadata = HashMap::from([(KEY.to_owned(), Value::from(value))]);
            let message = Record::from_metadata("c", &metadata).unwrap_err().to_string();
            assert!(message.contains(found) && message.contains("reads 1"), "{message}");
        }
    }

    #[test]
    fn both_values_of_what_differs_are_named() {
        let base = Record::new("window", "minilm", "en-1").with_embedder(embedder());
        assert!(base.expect("c", &Record { mean_words: 3.0, program: "9".into(), ..base.clone() }).is_ok());
        let with = |change: fn(&mut Record)| {
            let mut asked = base.clone();
            change(&mut asked);
            base.expect("c", &asked).unwrap_err().to_string()
        };
        assert!(with(|r| r.segmenter = "fixed".into()).contains("segmenter `window`, not `fixed`"));
        assert!(with(|r| r.tokenizer = "words".into()).contains("tokenizer `minilm`, not `words`"));
        assert!(with(|r| r.analyzer = "en-2".into()).contains("analyzer `en-1`, not `en-2`"));
        assert!(with(|r| r.embedder = None).contains("embedder `minilm (f00, 384 dimensions)`, not `none`"));
        assert!(
            with(|r| r.embedder.as_mut().unwrap().prefix_headings = true).contains("heading prefix `off`, not `on`")
        );
        assert!(with(|r| drop(r.options.insert("reference".into(), "x".into()))).contains("reference `none`, not `x`"));
    }
}
