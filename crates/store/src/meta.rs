//! The ingredients that a store is built with.

use std::fmt;
use std::sync::Arc;

use pericope_api::{Chunk, SentenceEncoder};
use pericope_language::LanguageChoice;
use serde::{Deserialize, Serialize};

use crate::Embedding;

/// The version of chunk ids and chunk records. A store that was written under another version is written again.
pub const CHUNK_FORMAT: u32 = 2;

/// The ingredients that a caller wants a store to be built with.
#[derive(Clone)]
pub struct IndexSpec {
    /// The segmenter's canonical spec, as in `--segmenter`: two specs that cut alike should be written alike.
    pub segmenter: String,
    /// A hash of the segmenter's weights; it changes whenever the segmenter could cut elsewhere with the same spec.
    pub segmenter_fingerprint: Option<String>,
    /// The name of the token counter behind `Chunk::tokens`.
    pub tokenizer: String,
    /// The encoder that embeds the chunks. Without one there are no vectors, and BM25 is the only mode.
    pub encoder: Option<Arc<dyn SentenceEncoder>>,
    /// Whether the encoder reads the heading path in front of a chunk's text. Off by default.
    pub prefix_headings: bool,
    /// Whether the encoder reads chunks within their document. Off by default.
    pub late_chunking: bool,
    /// Who writes the contexts of chunks ([`Chunk::context`]); `None` where nobody does.
    pub context: Option<String>,
    /// The size that a segmenter was given which sizes itself by another.
    pub reference: Option<ReferenceMeta>,
    /// The language in which the documents' words are read. `None`: what the store was made with, and detected document by
    /// document in a new one.
    pub language: Option<LanguageChoice>,
}

impl IndexSpec {
    /// Returns a spec without an embedder.
    #[must_use]
    pub fn new(segmenter: impl Into<String>, tokenizer: impl Into<String>) -> Self {
        Self {
            segmenter: segmenter.into(),
            segmenter_fingerprint: None,
            tokenizer: tokenizer.into(),
            encoder: None,
            prefix_headings: false,
            late_chunking: false,
            context: None,
            reference: None,
            language: None,
        }
    }

    /// Names the state of a segmenter that has one: an index that was built with other weights is another index.
    #[must_use]
    pub fn with_segmenter_fingerprint(mut self, fingerprint: Option<String>) -> Self {
        self.segmenter_fingerprint = fingerprint;
        self
    }

    /// Embeds the chunks with `encoder`.
    #[must_use]
    pub fn with_encoder(mut self, encoder: Arc<dyn SentenceEncoder>) -> Self {
        self.encoder = Some(encoder);
        self
    }

    /// Puts the headings above a chunk in front of what the encoder reads, as [`Embedding::text`] does.
    #[must_use]
    pub fn with_heading_prefix(mut self, on: bool) -> Self {
        self.prefix_headings = on;
        self
    }

    /// Embeds every chunk within its document, as [`Embedding::encoded`] does. It goes neither with heading prefixes nor with
    /// contexts.
    #[must_use]
    pub fn with_late_chunking(mut self, on: bool) -> Self {
        self.late_chunking = on;
        self
    }

    /// Says who writes the contexts of the chunks: contexts of another are another index.
    #[must_use]
    pub fn with_context(mut self, writer: Option<String>) -> Self {
        self.context = writer;
        self
    }

    /// Says which language the documents are in.
    #[must_use]
    pub fn with_language(mut self, language: Option<LanguageChoice>) -> Self {
        self.language = language;
        self
    }

    /// Returns the way in which chunks are embedded; `None` without an encoder.
    #[must_use]
    pub fn embedding(&self) -> Option<Embedding> {
        let encoder = self.encoder.clone()?;
        Some(Embedding {
            encoder,
            prefix_headings: self.prefix_headings,
            late_chunking: self.late_chunking,
            tokenizer: self.tokenizer.clone(),
        })
    }
}

impl fmt::Debug for IndexSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexSpec")
            .field("segmenter", &self.segmenter)
            .field("segmenter_fingerprint", &self.segmenter_fingerprint)
            .field("tokenizer", &self.tokenizer)
            .field("encoder", &self.encoder.as_ref().map(|e| e.name().to_owned()))
            .field("prefix_headings", &self.prefix_headings)
            .field("late_chunking", &self.late_chunking)
            .field("context", &self.context)
            .field("language", &self.language)
            .finish()
    }
}

/// The embedder that made a store's vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedderMeta {
    /// The short name, as in `--embedder`.
    pub name: String,
    /// A text that changes whenever the vectors could.
    pub fingerprint: String,
    /// The length of the vectors.
    pub dimension: usize,
    /// Whether the heading path was embedded in front of the text.
    pub prefix_headings: bool,
    /// Whether chunks were embedded within their document.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late_chunking: bool,
}

impl EmbedderMeta {
    /// Describes an encoder.
    #[must_use]
    pub fn new(encoder: &dyn SentenceEncoder, prefix_headings: bool, late_chunking: bool) -> Self {
        Self {
            name: encoder.name().to_owned(),
            fingerprint: encoder.fingerprint(),
            dimension: encoder.dimension(),
            prefix_headings,
            late_chunking,
        }
    }

    /// Describes an encoder that is to read what this one did of each chunk.
    #[must_use]
    pub fn by(&self, encoder: &dyn SentenceEncoder) -> Self {
        Self::new(encoder, self.prefix_headings, self.late_chunking)
    }

    /// Returns the embedder of a store as messages name it: `none`, or name, fingerprint and dimension.
    #[must_use]
    pub fn label(embedder: Option<&Self>) -> String {
        embedder.map_or_else(|| "none".to_owned(), ToString::to_string)
    }

    /// Returns whether headings and documents are embedded with the chunks, as a store has it and as it is asked for: name, `on`
    /// or `off`, and the same again. Beside another embedder neither matters, and all are `off`.
    #[must_use]
    pub fn switches(found: Option<&Self>, asked: Option<&Self>) -> [(&'static str, String, String); 2] {
        let same = Self::label(found) == Self::label(asked);
        let on_off = |embedder: Option<&Self>, what: fn(&Self) -> bool| match same && embedder.is_some_and(what) {
            true => "on".to_owned(),
            false => "off".to_owned(),
        };
        let both = |name: &'static str, what: fn(&Self) -> bool| (name, on_off(found, what), on_off(asked, what));
        [both("heading prefix", |meta| meta.prefix_headings), both("late chunking", |meta| meta.late_chunking)]
    }
}

impl fmt::Display for EmbedderMeta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({}, {} dimensions)", self.name, self.fingerprint, self.dimension)
    }
}

/// The mean chunk of the segmenter that `same-size` was sized by, as it was when the store was made: the corpus may have
/// grown since, and chunks of two sizes in one store would be a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferenceMeta {
    /// The reference's spec.
    pub spec: String,
    /// The mean number of words in its chunks.
    pub mean_words: f64,
    /// The bound in words whose chunks have that mean size; none where the mean itself is the bound, as in stores of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<usize>,
}

/// The ingredients that a store was built with, as it recorded them.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreMeta {
    /// As in [`IndexSpec`].
    pub segmenter: String,
    /// As in [`IndexSpec`].
    pub segmenter_fingerprint: Option<String>,
    /// As in [`IndexSpec`].
    pub tokenizer: String,
    /// The embedder, or `None` for a store without vectors.
    pub embedder: Option<EmbedderMeta>,
    /// As in [`IndexSpec`].
    pub context: Option<String>,
    /// As in [`IndexSpec`].
    pub reference: Option<ReferenceMeta>,
    /// As in [`IndexSpec`]; `None` is like any other.
    pub language: Option<LanguageChoice>,
}

/// The first ingredient in which a store differs from what is asked of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// `segmenter`, `segmenter weights`, `tokenizer`, `language`, `embedder`, `heading prefix`, `late chunking` or `context`.
    pub what: &'static str,
    /// The store's value.
    pub found: String,
    /// The caller's value.
    pub asked: String,
}

impl StoreMeta {
    /// Returns the ingredients that a store built by `spec` records.
    #[must_use]
    pub fn new(spec: &IndexSpec) -> Self {
        Self {
            segmenter: spec.segmenter.clone(),
            segmenter_fingerprint: spec.segmenter_fingerprint.clone(),
            tokenizer: spec.tokenizer.clone(),
            embedder: (spec.encoder.as_ref())
                .map(|e| EmbedderMeta::new(e.as_ref(), spec.prefix_headings, spec.late_chunking)),
            context: spec.context.clone(),
            reference: spec.reference.clone(),
            language: spec.language,
        }
    }

    /// Returns a word that changes with all that makes chunks and vectors of a document: format, program, segmenter,
    /// tokenizer, embedder and contexts. Sixteen hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let mut parts = serde_json::json!([
            CHUNK_FORMAT,
            env!("CARGO_PKG_VERSION"),
            self.segmenter,
            self.segmenter_fingerprint,
            self.reference,
            self.tokenizer,
            self.embedder,
        ]);
        // Sources of stores that were made before there were contexts keep their word.
        if let (Some(context), Some(parts)) = (&self.context, parts.as_array_mut()) {
            parts.push(context.clone().into());
        }
        format!("{:016x}", Chunk::content_hash(&parts.to_string()) as u64)
    }

    /// Compares with what is asked for; `None` where chunks and vectors of both belong together.
    #[must_use]
    pub fn difference(&self, asked: &Self) -> Option<Difference> {
        let weights = |meta: &Self| meta.segmenter_fingerprint.clone().unwrap_or_else(|| "none".to_owned());
        let context = |meta: &Self| meta.context.clone().unwrap_or_else(|| "none".to_owned());
        // Headings and contexts change the limit of chunks too, so that they come first.
        let [headings, late] = EmbedderMeta::switches(self.embedder.as_ref(), asked.embedder.as_ref());
        let language = |meta: &Self, other: &Self| match (meta.language, other.language) {
            (Some(language), Some(_)) => language.to_string(),
            _ => String::new(),
        };
        let pairs = [
            headings,
            late,
            ("context", context(self), context(asked)),
            ("segmenter", self.segmenter.clone(), asked.segmenter.clone()),
            ("segmenter weights", weights(self), weights(asked)),
            ("tokenizer", self.tokenizer.clone(), asked.tokenizer.clone()),
            ("language", language(self, asked), language(asked, self)),
            ("embedder", EmbedderMeta::label(self.embedder.as_ref()), EmbedderMeta::label(asked.embedder.as_ref())),
        ];
        let differs = pairs.into_iter().find(|(_, found, asked)| found != asked);
        differs.map(|(what, found, asked)| Difference { what, found, asked })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn meta() -> StoreMeta {
        let embedder = EmbedderMeta {
            name: "minilm".into(),
            fingerprint: "f00".into(),
            dimension: 384,
            prefix_headings: false,
            late_chunking: false,
        };
        StoreMeta { embedder: Some(embedder), ..StoreMeta::new(&IndexSpec::new("window", "words")) }
    }

    /// Stores hold the fingerprint of every source: another one makes every program read everything again.
    #[test]
    fn the_fingerprint_is_fixed() {
        let json = r#"[2,"0.1.0","window",null,null,"words",{"name":"minilm","fingerprint":"f00","dimension":384,"prefix_headings":false}]"#;
        let json = json.replace("0.1.0", env!("CARGO_PKG_VERSION"));
        assert_eq!(meta().fingerprint(), format!("{:016x}", Chunk::content_hash(&json) as u64));
        let reference = Some(ReferenceMeta { spec: "sentence".into(), mean_words: 12.5, bound: None });
        assert_ne!(StoreMeta { reference, ..meta() }.fingerprint(), meta().fingerprint());
        let [one, other] = ["a", "b"].map(|writer| StoreMeta { context: Some(writer.into()), ..meta() }.fingerprint());
        assert!(one != other && one != meta().fingerprint());
        let mut late = meta();
        late.embedder.as_mut().unwrap().late_chunking = true;
        assert_ne!(late.fingerprint(), meta().fingerprint());
    }

    fn with_language(found: Option<LanguageChoice>, asked: Option<LanguageChoice>) -> Option<String> {
        let [found, asked] = [found, asked].map(|language| StoreMeta { language, ..meta() });
        let Difference { what, found, asked } = found.difference(&asked)?;
        Some(format!("{what}: {found}, {asked}"))
    }

    #[test]
    fn the_first_difference_is_named_with_both_values() {
        assert_eq!(meta().difference(&meta()), None);
        let with = |change: fn(&mut StoreMeta)| {
            let mut asked = meta();
            change(&mut asked);
            let Difference { what, found, asked } = meta().difference(&asked).unwrap();
            format!("{what}: {found}, {asked}")
        };
        assert_eq!(with(|m| m.segmenter = "fixed".into()), "segmenter: window, fixed");
        assert_eq!(with(|m| m.segmenter_fingerprint = Some("a".into())), "segmenter weights: none, a");
        assert_eq!(with(|m| m.embedder = None), "embedder: minilm (f00, 384 dimensions), none");
        assert_eq!(with(|m| m.embedder.as_mut().unwrap().prefix_headings = true), "heading prefix: off, on");
        assert_eq!(with(|m| m.embedder.as_mut().unwrap().late_chunking = true), "late chunking: off, on");
        let german = LanguageChoice::Fixed("de".parse().unwrap());
        assert_eq!(with_language(None, Some(german)), None);
        assert_eq!(with_language(Some(german), None), None);
        let auto = Some(LanguageChoice::Auto);
        assert_eq!(with_language(Some(german), auto).unwrap(), "language: de, auto");
        let both = |m: &mut StoreMeta| {
            m.segmenter = "window:max_tokens=224".into();
            m.embedder.as_mut().unwrap().prefix_headings = true;
        };
        assert_eq!(with(both), "heading prefix: off, on");
        let both = |m: &mut StoreMeta| {
            m.segmenter = "window:max_tokens=192".into();
            m.context = Some("openai:model=m".into());
        };
        assert_eq!(with(both), "context: none, openai:model=m");
    }
}
