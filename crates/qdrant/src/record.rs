use std::collections::{BTreeMap, HashMap};

use pericope_store::{Analyzer, EmbedderMeta, IndexSpec, Language, LanguageChoice, StoreMeta};
use qdrant_client::qdrant::Value;
use serde::{Deserialize, Serialize};

use crate::{DEFAULT_MEAN_WORDS, Error};

/// Version of the payload, the vectors' names, the term numbers and the record itself. A program reads its own alone.
pub const FORMAT: u32 = 1;

/// The key of the collection's metadata that holds the record.
const KEY: &str = "pericope";

/// The weight of a word in a heading above the chunk, or in the document's title, beside 1 in the text. It is part of
/// what is stored.
pub(crate) const HEADING_WEIGHT: f64 = 0.5;

/// The names of the options that the command line's collections record.
const REFERENCE: &str = "reference";
const WEIGHTS: &str = "segmenter weights";
const CONTEXT: &str = "context";
const LANGUAGE: &str = "language";
const HEADINGS: &str = "heading and title weight";
/// The name of the option of collections that an evaluation made to measure in.
const EVALUATION: &str = "evaluation";

/// The ingredients that a collection was built with, kept in the collection's own metadata from the moment it exists: vectors of two
/// models, or chunks of two segmenters, do not compare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// [`FORMAT`] of the program that made the collection.
    pub format: u32,
    /// The segmenter's canonical spec.
    pub segmenter: String,
    /// Name of the token counter behind [`ChunkRecord::tokens`](pericope_store::ChunkRecord::tokens).
    pub tokenizer: String,
    /// Name and version of what makes the terms of the sparse vectors.
    pub analyzer: String,
    /// The embedder, or nothing where the collection has no dense vectors.
    pub embedder: Option<EmbedderMeta>,
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

    /// Returns the record of a collection that is built by `spec`, with terms by `analyzer`.
    #[must_use]
    pub fn of(spec: &IndexSpec, analyzer: &dyn Analyzer) -> Self {
        let meta = StoreMeta::new(spec);
        let mut record = Self::new(meta.segmenter, meta.tokenizer, analyzer.name());
        record.embedder = meta.embedder;
        record.options.insert(HEADINGS.to_owned(), HEADING_WEIGHT.to_string());
        let reference = meta.reference.and_then(|reference| serde_json::to_string(&reference).ok());
        let language = meta.language.map(|language| language.to_string());
        let options = [
            (REFERENCE, reference),
            (WEIGHTS, meta.segmenter_fingerprint),
            (CONTEXT, meta.context),
            (LANGUAGE, language),
        ];
        for (name, value) in options {
            record.options.extend(value.map(|value| (name.to_owned(), value)));
        }
        record
    }

    /// Marks the record as that of a collection which an evaluation makes to measure in.
    #[must_use]
    pub(crate) fn of_evaluation(mut self) -> Self {
        self.options.insert(EVALUATION.to_owned(), "on".to_owned());
        self
    }

    /// True where an evaluation made the collection: the next one may put another in its place.
    pub(crate) fn is_of_evaluation(&self) -> bool {
        self.options.contains_key(EVALUATION)
    }

    /// Returns the ingredients in the form that all stores share.
    #[must_use]
    pub fn built_with(&self) -> StoreMeta {
        StoreMeta {
            segmenter: self.segmenter.clone(),
            segmenter_fingerprint: self.options.get(WEIGHTS).cloned(),
            tokenizer: self.tokenizer.clone(),
            embedder: self.embedder.clone(),
            context: self.options.get(CONTEXT).cloned(),
            reference: self.options.get(REFERENCE).and_then(|text| serde_json::from_str(text).ok()),
            language: Some(self.language()),
        }
    }

    /// Returns the language in which the words of documents are read: English where nothing was said.
    #[must_use]
    pub fn language(&self) -> LanguageChoice {
        let said = self.options.get(LANGUAGE).and_then(|text| text.parse().ok());
        said.unwrap_or(LanguageChoice::Fixed(Language::English))
    }

    /// Returns the length of the dense vectors; `None` for a collection without any.
    #[must_use]
    pub fn dimension(&self) -> Option<usize> {
        self.embedder.as_ref().map(|embedder| embedder.dimension)
    }

    /// Checks that `asked` would build the same; the mean length and the program's version may differ.
    pub(crate) fn expect(&self, collection: &str, asked: &Self) -> Result<(), Error> {
        let context = |record: &Self| record.options.get(CONTEXT).cloned().unwrap_or("none".to_owned());
        // Headings and contexts change the limit of chunks too, so that they come first.
        let [headings, late] = EmbedderMeta::switches(self.embedder.as_ref(), asked.embedder.as_ref());
        let mut pairs = vec![
            headings,
            late,
            (CONTEXT, context(self), context(asked)),
            ("segmenter", self.segmenter.clone(), asked.segmenter.clone()),
            ("tokenizer", self.tokenizer.clone(), asked.tokenizer.clone()),
            ("analyzer", self.analyzer.clone(), asked.analyzer.clone()),
            ("embedder", EmbedderMeta::label(self.embedder.as_ref()), EmbedderMeta::label(asked.embedder.as_ref())),
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

    fn embedder() -> EmbedderMeta {
        EmbedderMeta {
            name: "minilm".into(),
            fingerprint: "f00".into(),
            dimension: 384,
            prefix_headings: false,
            late_chunking: false,
        }
    }

    #[test]
    fn survives_the_metadata() {
        let mut record = Record { embedder: Some(embedder()), ..Record::new("window", "minilm", "en-1") };
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
        let base = Record { embedder: Some(embedder()), ..Record::new("window", "minilm", "en-1") };
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
        assert!(with(|r| r.embedder.as_mut().unwrap().late_chunking = true).contains("late chunking `off`, not `on`"));
        assert!(with(|r| drop(r.options.insert("reference".into(), "x".into()))).contains("reference `none`, not `x`"));
    }
}
