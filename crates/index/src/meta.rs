//! `pericope.json`: what an index was built with.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope_api::{Chunk, SentenceEncoder};
use serde::{Deserialize, Serialize};

use crate::IndexError;
use crate::analyzer::TEXT_ANALYZER;

/// Version of the directory layout, the schema and the point ids. A program reads its own version alone.
pub const FORMAT: u32 = 2;

/// Name of the metadata file.
pub const META_FILE: &str = "pericope.json";
/// Where it is written before it takes its place.
pub(crate) const META_TEMPORARY: &str = "pericope.json.new";

/// What a caller wants an index to be built with.
#[derive(Clone)]
pub struct IndexSpec {
    /// The segmenter's canonical spec, as in `--segmenter`: two specs that cut alike should be written alike.
    pub segmenter: String,
    /// Changes whenever the segmenter could cut elsewhere though its spec is the same: a hash of its weights.
    pub segmenter_fingerprint: Option<String>,
    /// Name of the token counter behind `Chunk::tokens`.
    pub tokenizer: String,
    /// What embeds the chunks; without one there are no vectors, and BM25 is the only mode.
    pub encoder: Option<Arc<dyn SentenceEncoder>>,
    /// Whether the encoder reads the heading path in front of a chunk's text. Off by default.
    pub prefix_headings: bool,
    /// What a segmenter that sizes itself by another was sized by.
    pub reference: Option<ReferenceMeta>,
}

impl IndexSpec {
    /// A spec without an embedder.
    #[must_use]
    pub fn new(segmenter: impl Into<String>, tokenizer: impl Into<String>) -> Self {
        Self {
            segmenter: segmenter.into(),
            segmenter_fingerprint: None,
            tokenizer: tokenizer.into(),
            encoder: None,
            prefix_headings: false,
            reference: None,
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

    /// Puts the heading path in front of what the encoder reads (`A > B`, a blank line, the text).
    #[must_use]
    pub fn with_heading_prefix(mut self, on: bool) -> Self {
        self.prefix_headings = on;
        self
    }
}

impl std::fmt::Debug for IndexSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("IndexSpec")
            .field("segmenter", &self.segmenter)
            .field("segmenter_fingerprint", &self.segmenter_fingerprint)
            .field("tokenizer", &self.tokenizer)
            .field("encoder", &self.encoder.as_ref().map(|e| e.name().to_owned()))
            .field("prefix_headings", &self.prefix_headings)
            .finish()
    }
}

/// The embedder that made an index's vectors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmbedderMeta {
    /// Short name, as in `--embedder`.
    pub name: String,
    /// Changes whenever the vectors could.
    pub fingerprint: String,
    /// Length of the vectors.
    pub dimension: usize,
    /// Whether the heading path was embedded in front of the text.
    pub prefix_headings: bool,
}

/// The mean chunk of the segmenter that `same-size` was sized by, as it was when the index was made: the corpus may have
/// grown since, and chunks of two sizes in one index would be a mixture.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReferenceMeta {
    /// The reference's spec.
    pub spec: String,
    /// Mean words of its chunks.
    pub mean_words: f64,
}

/// The contents of `pericope.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct IndexMeta {
    /// [`FORMAT`] of the program that made the index.
    pub format: u32,
    /// The segmenter's canonical spec.
    pub segmenter: String,
    /// As in [`IndexSpec`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segmenter_fingerprint: Option<String>,
    /// Name of the token counter.
    pub tokenizer: String,
    /// The embedder, or nothing where the index has no vectors.
    pub embedder: Option<EmbedderMeta>,
    /// Name and version of the analyzer that made the words of the full-text index.
    pub text_analyzer: String,
    /// What `same-size` was sized by, where that is the segmenter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceMeta>,
    /// Version of the program that made the index.
    pub program: String,
    /// Number of documents at the last finished run (the full-text index itself is what counts).
    pub documents: u64,
    /// Number of chunks at the last finished run.
    pub chunks: u64,
}

impl IndexMeta {
    /// What an index built with `spec` by this program will say.
    #[must_use]
    pub fn new(spec: &IndexSpec) -> Self {
        Self {
            format: FORMAT,
            segmenter: spec.segmenter.clone(),
            segmenter_fingerprint: spec.segmenter_fingerprint.clone(),
            tokenizer: spec.tokenizer.clone(),
            embedder: spec.encoder.as_ref().map(|encoder| EmbedderMeta {
                name: encoder.name().to_owned(),
                fingerprint: encoder.fingerprint(),
                dimension: encoder.dimension(),
                prefix_headings: spec.prefix_headings,
            }),
            text_analyzer: TEXT_ANALYZER.to_owned(),
            reference: spec.reference.clone(),
            program: env!("CARGO_PKG_VERSION").to_owned(),
            documents: 0,
            chunks: 0,
        }
    }

    /// The embedder as the messages name it: `none`, or name and fingerprint.
    #[must_use]
    pub fn embedder_label(&self) -> String {
        match &self.embedder {
            None => "none".to_owned(),
            Some(e) => format!("{} ({}, {} dimensions)", e.name, e.fingerprint, e.dimension),
        }
    }

    /// A word that changes with all that makes chunks and vectors of a document: format, program, segmenter, tokenizer and
    /// embedder. Sixteen hexadecimal digits.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let parts = serde_json::json!([
            self.format,
            env!("CARGO_PKG_VERSION"),
            self.segmenter,
            self.segmenter_fingerprint,
            self.reference,
            self.tokenizer,
            self.embedder,
        ]);
        format!("{:016x}", Chunk::content_hash(&parts.to_string()) as u64)
    }

    /// Reads the metadata of the index in `dir`, and checks that this program knows its format.
    ///
    /// # Errors
    /// [`IndexError::NotAnIndex`] where there is none, [`IndexError::Corrupt`] where it is no metadata,
    /// [`IndexError::Format`] where it is of another version.
    pub fn read(dir: &Path) -> Result<Self, IndexError> {
        let path = meta_path(dir);
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(e) if matches!(e.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory) => {
                return Err(IndexError::NotAnIndex { dir: dir.to_owned() });
            }
            Err(source) => return Err(IndexError::Io { path, source }),
        };
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|e| IndexError::corrupt(&path, e.to_string()))?;
        // The version is looked at first: another format need not have the same fields.
        let format = |what, found: String, known: &str| {
            Err(IndexError::Format { dir: dir.to_owned(), what, found, known: known.to_owned() })
        };
        let found = value.get("format").and_then(serde_json::Value::as_u64);
        if found != Some(u64::from(FORMAT)) {
            let found = found.map_or_else(|| "none".to_owned(), |v| v.to_string());
            return format("index format", found, &FORMAT.to_string());
        }
        let meta: Self = serde_json::from_value(value).map_err(|e| IndexError::corrupt(&path, e.to_string()))?;
        if meta.text_analyzer != TEXT_ANALYZER {
            return format("text analyzer", meta.text_analyzer, TEXT_ANALYZER);
        }
        Ok(meta)
    }

    /// Writes the metadata so that a crash leaves the old file or the new one.
    ///
    /// # Errors
    /// [`IndexError::Io`] where the file cannot be written.
    pub(crate) fn write(&self, dir: &Path) -> Result<(), IndexError> {
        let path = meta_path(dir);
        let temporary = dir.join(META_TEMPORARY);
        let json = serde_json::to_vec_pretty(self).map_err(|e| IndexError::corrupt(&path, e.to_string()))?;
        let save = || -> std::io::Result<()> {
            let mut file = fs::File::create(&temporary)?;
            file.write_all(&json)?;
            file.write_all(b"\n")?;
            file.sync_all()?;
            fs::rename(&temporary, &path)
        };
        save().map_err(IndexError::io(&path))
    }

    /// Checks that the index was built with what `spec` asks for.
    ///
    /// # Errors
    /// [`IndexError::Mismatch`] naming the first thing that differs, with both values.
    pub fn expect(&self, dir: &Path, spec: &IndexSpec) -> Result<(), IndexError> {
        let asked = IndexMeta::new(spec);
        let mismatch = |what, found: &str, asked: &str| {
            let (found, asked) = (found.to_owned(), asked.to_owned());
            Err(IndexError::Mismatch { dir: dir.to_owned(), what, found, asked })
        };
        if self.segmenter != asked.segmenter {
            return mismatch("segmenter", &self.segmenter, &asked.segmenter);
        }
        let weights = |meta: &IndexMeta| meta.segmenter_fingerprint.clone().unwrap_or_else(|| "none".to_owned());
        if weights(self) != weights(&asked) {
            return mismatch("segmenter weights", &weights(self), &weights(&asked));
        }
        if self.tokenizer != asked.tokenizer {
            return mismatch("tokenizer", &self.tokenizer, &asked.tokenizer);
        }
        if self.embedder_label() != asked.embedder_label() {
            return mismatch("embedder", &self.embedder_label(), &asked.embedder_label());
        }
        let prefix = |meta: &IndexMeta| match meta.embedder.as_ref().is_some_and(|e| e.prefix_headings) {
            true => "on",
            false => "off",
        };
        if prefix(self) != prefix(&asked) {
            return mismatch("heading prefix", prefix(self), prefix(&asked));
        }
        Ok(())
    }
}

fn meta_path(dir: &Path) -> PathBuf {
    dir.join(META_FILE)
}
