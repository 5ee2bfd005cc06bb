//! What lies in a folder of vectors: `vectors.json`, which names the encoder, and shards `000000.vec`, `000001.vec`, ...

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use pericope_api::SentenceEncoder;
use pericope_util::{read_text, replace_file};
use serde::{Deserialize, Serialize};

use super::CorpusError;

/// The file that names the encoder.
const META: &str = "vectors.json";
/// The format of the folder.
const FORMAT: u32 = 1;
/// How the name of a shard ends.
const ENDING: &str = ".vec";

/// The contents of `vectors.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Meta {
    format: u32,
    pub encoder: String,
    pub fingerprint: String,
    pub dimension: usize,
}

impl Meta {
    pub fn of(encoder: &dyn SentenceEncoder) -> Self {
        Self {
            format: FORMAT,
            encoder: encoder.name().to_owned(),
            fingerprint: encoder.fingerprint(),
            dimension: encoder.dimension(),
        }
    }

    /// Reads the file of a folder; nothing where there is none.
    pub fn read(folder: &Path) -> Result<Option<Self>, CorpusError> {
        let path = folder.join(META);
        let text = match read_text(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(CorpusError::io(&path))?,
        };
        let wrong = |reason: String| CorpusError::NotVectors { path: path.clone(), reason };
        let meta: Self = serde_json::from_str(&text).map_err(|e| wrong(format!("it is damaged: {e}")))?;
        if meta.format != FORMAT {
            let reason = format!("format {} is not known: this version reads {FORMAT}", meta.format);
            return Err(wrong(reason));
        }
        if meta.dimension == 0 {
            return Err(wrong("it is damaged: the dimension is 0".to_owned()));
        }
        Ok(Some(meta))
    }

    pub fn write(&self, folder: &Path) -> Result<(), CorpusError> {
        let path = folder.join(META);
        let text = serde_json::to_string_pretty(self).map_err(|e| CorpusError::Options(e.to_string()))?;
        replace_file(&path, format!("{text}\n")).map_err(CorpusError::io(&path))
    }

    /// Checks that the vectors are those of the encoder with this fingerprint.
    pub fn expect(&self, folder: &Path, fingerprint: &str) -> Result<(), CorpusError> {
        if self.fingerprint == fingerprint {
            return Ok(());
        }
        Err(CorpusError::OtherEncoder {
            folder: folder.to_owned(),
            stored: self.fingerprint.clone(),
            given: fingerprint.to_owned(),
        })
    }
}

/// The path of shard `number`.
pub(super) fn shard_path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("{number:06}{ENDING}"))
}

/// The shards of a folder with their numbers, in order.
pub(super) fn shards(folder: &Path) -> Result<Vec<(usize, PathBuf)>, CorpusError> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(CorpusError::io(folder))? {
        let entry = entry.map_err(CorpusError::io(folder))?;
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(ENDING)).and_then(|number| number.parse().ok());
        if let Some(number) = number.filter(|&number| shard_path(folder, number).file_name() == Some(&name)) {
            found.push((number, entry.path()));
        }
    }
    found.sort_unstable();
    Ok(found)
}
