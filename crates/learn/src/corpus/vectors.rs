use std::path::{Path, PathBuf};

use pericope_api::Chunk;

use super::CorpusError;
use super::error::beginning;
use super::folder::{Meta, shards};
use super::shard::{Shard, encoder_hash};

/// Shards whose files stay open; those beyond are opened for each vector. Systems let a process hold some 1,000 files.
const OPEN: usize = 400;

/// The key of a text: the XXH3-128 of its bytes, without blanks at its ends.
#[must_use]
pub(super) fn key(text: &str) -> u128 {
    Chunk::content_hash(text.trim())
}

/// Sentence vectors that [`embed`](super::embed) has written, found by the text.
///
/// In memory are the keys alone: 24 bytes a text. The vectors are read from their files at each question; the system keeps
/// in its cache what it has memory for. Each vector is checked against its checksum. Texts that differ in blanks at their
/// ends are the same text.
#[derive(Debug)]
pub struct SentenceVectors {
    folder: PathBuf,
    meta: Meta,
    shards: Vec<Shard>,
    /// Ascending.
    keys: Vec<u128>,
    /// Of each key, the shard and the row in it.
    places: Vec<(u32, u32)>,
}

impl SentenceVectors {
    /// Opens a folder of vectors.
    ///
    /// # Errors
    /// [`CorpusError::NotVectors`] where it is none, [`CorpusError::Damaged`] for a shard that is not whole,
    /// [`CorpusError::Io`].
    pub fn open(folder: &Path) -> Result<Self, CorpusError> {
        let not = |reason: &str| CorpusError::NotVectors { path: folder.to_owned(), reason: reason.to_owned() };
        let meta = Meta::read(folder)?;
        let meta = meta.ok_or_else(|| not("it holds no vectors.json: make it with `pericope train embed`"))?;
        let encoder = encoder_hash(&meta.fingerprint);
        let mut all: Vec<(u128, (u32, u32))> = Vec::new();
        let mut opened = Vec::new();
        for (number, (_, path)) in shards(folder)?.into_iter().enumerate() {
            let (shard, keys) = Shard::open(&path, number < OPEN)?;
            if shard.shape.dimension != meta.dimension || shard.shape.encoder != encoder {
                let reason = "its vectors are not of the folder's encoder".to_owned();
                return Err(CorpusError::Damaged { path, reason });
            }
            all.extend(keys.into_iter().zip((0..).map(|row| (number as u32, row))));
            opened.push(shard);
        }
        // By the key, then by the shard: of a text that is there twice, the first vector counts.
        all.sort_unstable();
        all.dedup_by_key(|(key, _)| *key);
        let (keys, places) = all.into_iter().unzip();
        Ok(Self { folder: folder.to_owned(), meta, shards: opened, keys, places })
    }

    /// The name of the encoder.
    #[must_use]
    pub fn encoder(&self) -> &str {
        &self.meta.encoder
    }

    /// The fingerprint of the encoder.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.meta.fingerprint
    }

    /// Checks that the vectors are those of the encoder with this fingerprint.
    ///
    /// # Errors
    /// [`CorpusError::OtherEncoder`].
    pub fn expect(&self, fingerprint: &str) -> Result<(), CorpusError> {
        self.meta.expect(&self.folder, fingerprint)
    }

    /// The length of a vector.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.meta.dimension
    }

    /// The number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// True where there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// True where the text has a vector.
    #[must_use]
    pub fn contains(&self, text: &str) -> bool {
        self.keys.binary_search(&key(text)).is_ok()
    }

    /// The keys, ascending.
    pub(super) fn keys(&self) -> &[u128] {
        &self.keys
    }

    /// Gives the vectors of the texts, row by row: `texts.len()` times [`dimension`](Self::dimension) numbers.
    ///
    /// # Errors
    /// [`CorpusError::Missing`], which says how to embed it, for the first text without a vector; [`CorpusError::Damaged`]
    /// or [`CorpusError::Io`] where a vector cannot be read.
    pub fn rows<'a>(&self, texts: impl IntoIterator<Item = &'a str>) -> Result<Vec<f32>, CorpusError> {
        let mut values = Vec::new();
        let mut bytes = Vec::new();
        for text in texts {
            let start = values.len();
            values.resize(start + self.meta.dimension, 0.0);
            let into = values.get_mut(start..).unwrap_or_default();
            if !self.read_with(text, &mut bytes, into)? {
                return Err(CorpusError::Missing { folder: self.folder.clone(), text: beginning(text) });
            }
        }
        Ok(values)
    }

    /// Reads the vector of a text into `into`, which takes [`dimension`](Self::dimension) numbers. Gives false where there
    /// is none.
    ///
    /// # Errors
    /// [`CorpusError::Damaged`] or [`CorpusError::Io`] where it cannot be read.
    pub fn read(&self, text: &str, into: &mut [f32]) -> Result<bool, CorpusError> {
        self.read_with(text, &mut Vec::new(), into)
    }

    fn read_with(&self, text: &str, bytes: &mut Vec<u8>, into: &mut [f32]) -> Result<bool, CorpusError> {
        let found = self.keys.binary_search(&key(text)).ok().and_then(|at| self.places.get(at));
        let Some(&(shard, row)) = found else { return Ok(false) };
        let Some(shard) = self.shards.get(shard as usize) else { return Ok(false) };
        shard.read(row as usize, bytes, into)?;
        Ok(true)
    }
}
