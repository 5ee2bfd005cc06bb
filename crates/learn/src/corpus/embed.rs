use std::collections::HashSet;
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use half::f16;
use pericope_api::{EncodeError, SentenceEncoder};
use pericope_util::{FolderLock, StagedFile};
use serde::Serialize;

use super::error::beginning;
use super::files::{Skipped, each_record, files};
use super::folder::{Meta, shard_path, shards};
use super::shard::{self, Shard, encoder_hash};
use super::vectors::key;
use super::{CorpusError, Record, SentenceVectors};

/// Texts of a shard: what a process that is killed may lose.
const SHARD: usize = 8_192;

/// Texts that the encoder is given at once. An interrupt is heard between two such calls.
const CALL: usize = 1_024;

/// How far an embedding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmbedProgress {
    /// Texts that were embedded.
    pub texts: usize,
    /// Texts to embed in all.
    pub of_texts: usize,
    /// Bytes of the texts that were embedded. The time that a text takes grows with them.
    pub bytes: u64,
    /// Bytes of all texts to embed.
    pub of_bytes: u64,
}

/// What an embedding did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EmbedReport {
    /// The name of the encoder.
    pub encoder: String,
    /// The length of a vector.
    pub dimension: usize,
    /// Files read.
    pub files: usize,
    /// Documents read.
    pub documents: usize,
    /// Sentences in them.
    pub sentences: usize,
    /// Headings in them; `A > B` is two.
    pub headings: usize,
    /// Different texts among sentences and headings.
    pub distinct: usize,
    /// Texts that were embedded now.
    pub embedded: usize,
    /// Texts that the folder has no vector of yet: 0 but after an interrupt.
    pub missing: usize,
    /// Shards that were damaged and made anew.
    pub damaged: usize,
    /// Bytes of all shards in the folder.
    pub bytes: u64,
    /// Seconds that all of it took.
    pub seconds: f64,
    /// Texts a second while the encoder ran.
    pub texts_per_second: f64,
    /// Lines that are no document.
    #[serde(skip)]
    pub skipped: Skipped,
}

impl EmbedReport {
    /// True where every text has its vector: it was not interrupted.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.missing == 0
    }
}

/// What the documents hold.
#[derive(Default)]
struct Counts {
    documents: usize,
    sentences: usize,
    headings: usize,
    distinct: usize,
    missing: usize,
    missing_bytes: u64,
}

/// Computes the vector of every different sentence and heading of the documents under `data`, each once, and writes them
/// into the folder `out`, from which [`SentenceVectors`] reads them.
///
/// What the folder has is not computed again, whatever run it is from. Vectors are kept in half precision, in shards of
/// 8,192 texts that are written whole or not at all: a process that is killed loses the shard that it is at. Where `watch`
/// breaks, what is embedded is written first. Damaged shards are removed and made anew.
///
/// Texts are read as they come and embedded a shard at a time, longest first, so that batches hold texts of one length. In
/// memory are 24 to 64 bytes for each different text, and one shard.
///
/// # Errors
/// [`CorpusError::OtherEncoder`] where the folder holds another encoder's vectors, [`CorpusError::Lock`] where another
/// process writes into it, [`CorpusError::Nothing`] without a document, [`CorpusError::Encode`], [`CorpusError::NotFinite`],
/// [`CorpusError::Io`].
pub fn embed(
    data: &[PathBuf],
    out: &Path,
    encoder: &dyn SentenceEncoder,
    watch: &mut dyn FnMut(EmbedProgress) -> ControlFlow<()>,
) -> Result<EmbedReport, CorpusError> {
    let start = Instant::now();
    let files = files(data)?;
    let mut sink = Sink::open(out, encoder)?;
    let mut seen: HashSet<u128> = HashSet::new();
    let mut counts = Counts::default();
    let skipped = each_record(&files, &mut |record| {
        counts.documents += 1;
        counts.sentences += record.sentences.len();
        for (i, text) in record.texts().enumerate() {
            counts.headings += usize::from(i >= record.sentences.len());
            let key = key(text);
            if !seen.insert(key) {
                continue;
            }
            counts.distinct += 1;
            if !sink.has(key) {
                counts.missing += 1;
                counts.missing_bytes += text.len() as u64;
            }
        }
        ControlFlow::Continue(())
    })?;
    if counts.documents == 0 {
        let path = data.first().cloned().unwrap_or_default();
        let problem = skipped.problems.first().cloned().unwrap_or_else(|| "no document in it".to_owned());
        return Err(CorpusError::Nothing { path, problem });
    }
    sink.progress.of_texts = counts.missing;
    sink.progress.of_bytes = counts.missing_bytes;
    if counts.missing > 0 && watch(sink.progress).is_continue() {
        let mut failed = None;
        each_record(&files, &mut |record| match sink.take(&record, &mut seen, watch) {
            Ok(flow) => flow,
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        })?;
        match failed {
            Some(error) => return Err(error),
            None => sink.end(watch)?,
        }
    }
    let embedded = sink.progress.texts;
    Ok(EmbedReport {
        encoder: encoder.name().to_owned(),
        dimension: encoder.dimension(),
        files: files.len(),
        documents: counts.documents,
        sentences: counts.sentences,
        headings: counts.headings,
        distinct: counts.distinct,
        embedded,
        missing: counts.missing.saturating_sub(embedded),
        damaged: sink.damaged,
        bytes: sink.bytes,
        seconds: start.elapsed().as_secs_f64(),
        texts_per_second: if embedded > 0 { embedded as f64 / sink.seconds.max(1e-9) } else { 0.0 },
        skipped,
    })
}

/// The folder that vectors are written into.
struct Sink<'a> {
    encoder: &'a dyn SentenceEncoder,
    folder: PathBuf,
    hash: u64,
    /// The keys that the folder held before.
    stored: Vec<u128>,
    /// The number of the next shard.
    next: usize,
    damaged: usize,
    bytes: u64,
    seconds: f64,
    waiting: Vec<String>,
    stopped: bool,
    progress: EmbedProgress,
    _lock: FolderLock,
}

impl<'a> Sink<'a> {
    /// Takes the folder for this process, checks that it is this encoder's, and removes what is not whole.
    fn open(folder: &Path, encoder: &'a dyn SentenceEncoder) -> Result<Self, CorpusError> {
        let own = Meta::of(encoder);
        if own.dimension == 0 {
            return Err(CorpusError::Options(format!("{} gives vectors of no length", own.encoder)));
        }
        let lock = FolderLock::take(folder)?;
        match Meta::read(folder)? {
            Some(meta) => meta.expect(folder, &own.fingerprint)?,
            None => own.write(folder)?,
        }
        let (mut damaged, mut bytes, mut next) = (0, 0, 0);
        for (number, path) in shards(folder)? {
            let whole = Shard::open(&path, true).and_then(|(shard, _)| shard.check().map(|()| shard));
            match whole {
                Ok(shard) if shard.shape.encoder == encoder_hash(&own.fingerprint) => {
                    bytes += path.metadata().map_err(CorpusError::io(&path))?.len();
                }
                Ok(_) | Err(CorpusError::Damaged { .. }) => {
                    fs::remove_file(&path).map_err(CorpusError::io(&path))?;
                    damaged += 1;
                }
                Err(error) => return Err(error),
            }
            next = number + 1;
        }
        StagedFile::remove_left_over(&shard_path(folder, next)).map_err(CorpusError::io(folder))?;
        Ok(Self {
            encoder,
            folder: folder.to_owned(),
            hash: encoder_hash(&own.fingerprint),
            stored: SentenceVectors::open(folder)?.keys().to_vec(),
            next,
            damaged,
            bytes,
            seconds: 0.0,
            waiting: Vec::new(),
            stopped: false,
            progress: EmbedProgress { texts: 0, of_texts: 0, bytes: 0, of_bytes: 0 },
            _lock: lock,
        })
    }

    fn has(&self, key: u128) -> bool {
        self.stored.binary_search(&key).is_ok()
    }

    /// Takes the texts of a document that are still in `wanted` and have no vector, and writes a shard when it is full.
    fn take(
        &mut self,
        record: &Record,
        wanted: &mut HashSet<u128>,
        watch: &mut dyn FnMut(EmbedProgress) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, CorpusError> {
        for text in record.texts() {
            let key = key(text);
            if wanted.remove(&key) && !self.has(key) {
                self.waiting.push(text.trim().to_owned());
            }
            if self.waiting.len() == SHARD {
                self.write(watch)?;
            }
            if self.stopped {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Writes what is left.
    fn end(&mut self, watch: &mut dyn FnMut(EmbedProgress) -> ControlFlow<()>) -> Result<(), CorpusError> {
        if !self.stopped && !self.waiting.is_empty() {
            self.write(watch)?;
        }
        Ok(())
    }

    /// Embeds what waits, and writes it as a shard: a part of it where `watch` breaks.
    fn write(&mut self, watch: &mut dyn FnMut(EmbedProgress) -> ControlFlow<()>) -> Result<(), CorpusError> {
        let mut texts = std::mem::take(&mut self.waiting);
        // The encoder sorts what it is given at once; this way the calls, too, are of like lengths.
        texts.sort_by_key(|text| std::cmp::Reverse(text.len()));
        let mut rows: Vec<(u128, Vec<f16>)> = Vec::with_capacity(texts.len());
        for call in texts.chunks(CALL) {
            let start = Instant::now();
            let call: Vec<&str> = call.iter().map(String::as_str).collect();
            let vectors = self.encoder.encode(&call)?;
            if (vectors.len(), vectors.dimension()) != (call.len(), self.encoder.dimension()) {
                return Err(EncodeError::Model(format!("{} vectors for {} texts", vectors.len(), call.len())).into());
            }
            self.seconds += start.elapsed().as_secs_f64();
            for (text, vector) in call.iter().zip(vectors.rows()) {
                let vector: Vec<f16> = vector.iter().map(|&x| f16::from_f32(x)).collect();
                if !vector.iter().all(|x| x.is_finite()) {
                    return Err(CorpusError::NotFinite { text: beginning(text) });
                }
                rows.push((key(text), vector));
            }
            self.progress.texts += call.len();
            self.progress.bytes += call.iter().map(|text| text.len() as u64).sum::<u64>();
            if watch(self.progress).is_break() {
                self.stopped = true;
                break;
            }
        }
        let path = shard_path(&self.folder, self.next);
        let dimension = self.encoder.dimension();
        self.bytes += shard::write(&path, self.hash, dimension, &mut rows).map_err(CorpusError::io(&path))?;
        self.next += 1;
        Ok(())
    }
}
