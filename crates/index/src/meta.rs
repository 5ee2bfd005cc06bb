//! `pericope.json`: the ingredients that an index was built with.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use pericope_store::{
    CHUNK_FORMAT, Difference, EmbedderMeta, IndexSpec, Language, LanguageChoice, ReferenceMeta, StoreMeta,
};
use pericope_util::replace_file;
use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;
use uuid::Uuid;

use crate::IndexError;
use crate::analyzer::{TEXT_ANALYZER, analyzer_named};
use crate::build::{home, serving};
use crate::engines::TEXT_META;
use crate::own::text_path;

/// The version of the directory layout, the schema and the chunk ids. A program reads its own version, and the one before
/// it: a writer makes that into its own.
pub const FORMAT: u32 = CHUNK_FORMAT + 1;
/// The version before it: without checksums, and with vectors that are not read any more.
pub(crate) const FORMAT_BEFORE: u32 = CHUNK_FORMAT;

/// How the checksum's line begins,
const CHECKSUM: &str = "\n  \"checksum\": \"";
/// and what stands behind it, as the last line.
const CHECKSUM_END: &str = "\"\n}";

/// Name of the metadata file.
pub const META_FILE: &str = "pericope.json";
/// The name under which earlier versions wrote it before it took its place.
pub(crate) const META_TEMPORARY: &str = "pericope.json.new";

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
    /// The name of the token counter.
    pub tokenizer: String,
    /// The embedder, or `None` for an index without vectors.
    pub embedder: Option<EmbedderMeta>,
    /// Who wrote the contexts of the chunks, if they have any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// The name and version of the analyzer that made the words of the full-text index.
    pub text_analyzer: String,
    /// The language of the documents, or `auto`; none in indexes that took every text for English.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<LanguageChoice>,
    /// The size that `same-size` was given, if that is the segmenter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<ReferenceMeta>,
    /// The version of the program that made the index.
    pub program: String,
    /// The number of documents at the last finished run (the full-text index itself is what counts).
    pub documents: u64,
    /// The number of chunks at the last finished run.
    pub chunks: u64,
    /// The number of the build that is searched: 0 in the index's directory itself, N in its folder `build-N`.
    #[serde(default, skip_serializing_if = "is_first")]
    pub build: u64,
    /// Drawn when the index or the rebuild was begun: another index in the same place has another one. None in indexes of
    /// versions that drew none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<Uuid>,
    /// The checksum of everything above; none in files of the version before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<String>,
}

impl IndexMeta {
    /// Returns the metadata of an index that this program builds with `spec`.
    #[must_use]
    pub fn new(spec: &IndexSpec) -> Self {
        let built_with = StoreMeta::new(spec);
        Self {
            format: FORMAT,
            segmenter: built_with.segmenter,
            segmenter_fingerprint: built_with.segmenter_fingerprint,
            tokenizer: built_with.tokenizer,
            embedder: built_with.embedder,
            context: built_with.context,
            text_analyzer: TEXT_ANALYZER.to_owned(),
            language: Some(built_with.language.unwrap_or_default()),
            reference: built_with.reference,
            program: env!("CARGO_PKG_VERSION").to_owned(),
            documents: 0,
            chunks: 0,
            build: 0,
            id: Some(Uuid::new_v4()),
            checksum: None,
        }
    }

    /// True where the index is of an earlier version whose vectors this version does not read.
    #[must_use]
    pub fn has_old_vectors(&self) -> bool {
        self.format < FORMAT && self.embedder.is_some()
    }

    /// Returns the ingredients in the form that all stores share.
    #[must_use]
    pub fn built_with(&self) -> StoreMeta {
        StoreMeta {
            segmenter: self.segmenter.clone(),
            segmenter_fingerprint: self.segmenter_fingerprint.clone(),
            tokenizer: self.tokenizer.clone(),
            embedder: self.embedder.clone(),
            context: self.context.clone(),
            reference: self.reference.clone(),
            language: Some(self.language.unwrap_or(LanguageChoice::Fixed(Language::English))),
        }
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
            Err(source) => return Err(IndexError::io(&path)(source)),
        };
        let value: serde_json::Value =
            serde_json::from_slice(&bytes).map_err(|e| IndexError::corrupt(&path, e.to_string()))?;
        // The version is looked at first: another format need not have the same fields.
        let format = |what, found: String, known: &str| {
            Err(IndexError::Format { dir: dir.to_owned(), what, found, known: known.to_owned() })
        };
        let found = value.get("format").and_then(serde_json::Value::as_u64);
        if ![FORMAT, FORMAT_BEFORE].map(|format| Some(u64::from(format))).contains(&found) {
            let found = found.map_or_else(|| "none".to_owned(), |v| v.to_string());
            return format("index format", found, &FORMAT.to_string());
        }
        let meta: Self = serde_json::from_value(value).map_err(|e| IndexError::corrupt(&path, e.to_string()))?;
        let has_sum = match &meta.checksum {
            Some(stored) => sum_before(&bytes).as_ref() == Some(stored),
            None => meta.format < FORMAT,
        };
        if !has_sum {
            return Err(IndexError::corrupt(&path, "it does not have its checksum"));
        }
        if analyzer_named(&meta.text_analyzer).is_none() {
            return format("text analyzer", meta.text_analyzer, TEXT_ANALYZER);
        }
        Ok(meta)
    }

    /// Writes the metadata so that a crash leaves the old file or the new one.
    ///
    /// # Errors
    /// [`IndexError::Io`] where the file cannot be written.
    pub(crate) fn write(&mut self, dir: &Path) -> Result<(), IndexError> {
        let path = meta_path(dir);
        let damaged = |e: serde_json::Error| IndexError::corrupt(&path, e.to_string());
        self.checksum = Some(String::new());
        let mut json = serde_json::to_string_pretty(self).map_err(damaged)?;
        self.checksum = sum_before(json.as_bytes());
        json.truncate(json.len() - CHECKSUM_END.len());
        json.push_str(self.checksum.as_deref().unwrap_or_default());
        json.push_str(CHECKSUM_END);
        json.push('\n');
        replace_file(&path, json).map_err(IndexError::io(&path))
    }

    /// Checks that the index was built with what `spec` asks for.
    ///
    /// # Errors
    /// [`IndexError::Mismatch`] naming the first thing that differs, with both values.
    pub fn expect(&self, dir: &Path, spec: &IndexSpec) -> Result<(), IndexError> {
        match self.built_with().difference(&StoreMeta::new(spec)) {
            None => Ok(()),
            Some(Difference { what, found, asked }) => {
                Err(IndexError::Mismatch { dir: dir.to_owned(), what, found, asked })
            }
        }
    }
}

/// Returns the time of the last commit of the index in `dir`, or of its last run where that is later. `None` where there is no
/// index, or its file system keeps no times.
#[must_use]
pub fn written(dir: &Path) -> Option<SystemTime> {
    let home = home(dir, serving(dir).ok()?);
    let time = |path: &Path| fs::metadata(path).and_then(|about| about.modified()).ok();
    time(&meta_path(dir)).max(time(&text_path(&home).join(TEXT_META)))
}

// As serde calls it.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_first(build: &u64) -> bool {
    *build == 0
}

/// True where the metadata in `dir` has what every version writes into it. Anything may be called `pericope.json`.
pub(crate) fn says_index(dir: &Path) -> bool {
    /// The metadata takes a few hundred bytes.
    const MOST_BYTES: u64 = 1 << 20;
    let path = meta_path(dir);
    if !fs::symlink_metadata(&path).is_ok_and(|about| about.is_file() && about.len() <= MOST_BYTES) {
        return false;
    }
    let read = fs::read(&path).ok();
    let Some(meta) = read.and_then(|bytes| serde_json::from_slice::<serde_json::Value>(&bytes).ok()) else {
        return false;
    };
    let texts = ["segmenter", "tokenizer", "program"];
    meta.get("format").is_some_and(serde_json::Value::is_u64)
        && texts.iter().all(|key| meta.get(key).is_some_and(serde_json::Value::is_string))
}

/// The checksum of what stands before the checksum, as text: numbers may be read back as others.
fn sum_before(json: &[u8]) -> Option<String> {
    let end = json.windows(CHECKSUM.len()).rposition(|window| window == CHECKSUM.as_bytes())?;
    json.get(..end).map(|before| format!("{:032x}", XxHash3_128::oneshot(before)))
}

fn meta_path(dir: &Path) -> PathBuf {
    dir.join(META_FILE)
}
