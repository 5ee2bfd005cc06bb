//! The one that writes into an index directory.

mod commit;
mod stage;
mod touched;

use std::collections::HashMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use pericope_api::{Chunk, Document};
use pericope_store::{
    DestinationInfo, DocumentHeader, IndexSpec, IndexStats, StoreError, VectorCache, prepare, truncated,
};

use self::touched::Touched;
use crate::cache::StoredVectors;
use crate::directory::{
    PENDING_FILE, clear_pending, holds_something_else, lock, manifest_path, open_vectors, text_path, vectors_path,
};
use crate::embed::{EmbedQueue, Embedder};
use crate::engines::{TextIndex, TextWriter, VectorStore};
use crate::manifest::{Changes, Manifest};
use crate::meta::META_FILE;
use crate::own::{refuse_foreign, remove_engines};
use crate::{IndexError, IndexMeta, IndexReader};

/// Text between two commits,
const COMMIT_BYTES: u64 = 64 << 20;
/// and time between two commits: what a crash can cost, and what bounds the memory of what is not committed.
const COMMIT_EVERY: Duration = Duration::from_secs(60);

/// Writes documents into an index directory. One writer a directory, in all processes.
///
/// Nothing is seen by readers, or survives the process, before [`commit`](Self::commit) (which also happens by itself
/// every 64 MB of text and every minute) or [`finish`](Self::finish). A writer that is dropped leaves the index as it was
/// at the last commit.
///
/// It is a [`Destination`](crate::Destination): [`pipeline::run`](crate::pipeline::run) reads, segments and embeds on all
/// cores, and knows by the manifest what has not changed. [`add`](Self::add) writes one document.
pub struct IndexWriter {
    dir: PathBuf,
    meta: IndexMeta,
    about: DestinationInfo,
    embedder: Option<Embedder>,
    text: Arc<TextIndex>,
    text_writer: TextWriter,
    vectors: Option<Arc<VectorStore>>,
    manifest: Manifest,
    queue: EmbedQueue,
    touched: HashMap<String, Touched>,
    changes: Changes,
    sequence: u64,
    commit_bytes: u64,
    uncommitted_bytes: u64,
    committed: Instant,
    points_deleted: bool,
    /// Why nothing more may be committed: a call failed between two steps that belong together.
    poisoned: bool,
    started: Instant,
    stats: IndexStats,
    /// Held until the writer is dropped; declared last, so that all else is closed by then.
    _lock: File,
}

impl IndexWriter {
    /// Opens the index in `dir`, or makes one where the directory is empty or missing.
    ///
    /// # Errors
    /// [`IndexError::Mismatch`] where the index was built with another segmenter, embedder or tokenizer,
    /// [`IndexError::Format`] where it is of another version, [`IndexError::NotEmpty`] and [`IndexError::Foreign`] where
    /// the directory holds something else, [`IndexError::Locked`] where another writer has it, [`IndexError::Corrupt`] where files are
    /// missing or unreadable.
    pub fn create_or_open(dir: &Path, spec: &IndexSpec) -> Result<Self, IndexError> {
        let started = Instant::now();
        refuse_foreign(dir)?;
        if !dir.join(META_FILE).exists() && holds_something_else(dir)? {
            return Err(IndexError::NotEmpty { dir: dir.to_owned() });
        }
        fs::create_dir_all(dir).map_err(IndexError::io(dir))?;
        let lock = lock(dir)?;
        let meta = match IndexMeta::read(dir) {
            Ok(meta) => meta,
            Err(IndexError::NotAnIndex { .. }) => {
                let meta = IndexMeta::new(spec);
                meta.write(dir)?;
                meta
            }
            Err(error) => return Err(error),
        };
        meta.expect(dir, spec)?;
        let text = Arc::new(TextIndex::open_or_create(&text_path(dir))?);
        let store = open_vectors(dir, &meta, &text, true)?;
        if let Some(store) = &store
            && (dir.join(PENDING_FILE).exists() || store.len()? > text.chunks())
        {
            store.keep_only(&text.all_points()?)?;
            clear_pending(dir)?;
        }
        let sequence = text.sequence()?;
        let manifest = Manifest::open(&manifest_path(dir), sequence, || text.indexed())?;
        let known = stored(&text, store.as_ref());
        let about = DestinationInfo {
            name: dir.display().to_string(),
            fingerprint: meta.built_with().fingerprint(),
            embedding: spec.embedding(),
            vectors: known.clone(),
        };
        let embedder = spec
            .encoder
            .as_ref()
            .map(|encoder| Embedder { encoder: Arc::clone(encoder), caches: known.into_iter().collect() });
        Ok(Self {
            dir: dir.to_owned(),
            about,
            meta,
            embedder,
            text_writer: TextWriter::new(&text)?,
            text,
            vectors: store,
            manifest,
            queue: EmbedQueue::default(),
            touched: HashMap::new(),
            changes: Changes::default(),
            sequence,
            commit_bytes: COMMIT_BYTES,
            uncommitted_bytes: 0,
            committed: started,
            points_deleted: false,
            poisoned: false,
            started,
            stats: IndexStats::default(),
            _lock: lock,
        })
    }

    /// Deletes the index in `dir`, whatever it was built with, and makes a new one. Files that no version of this program
    /// writes stay, in the folders of the index too: see [`foreign_files`](crate::foreign_files). A directory without an
    /// index is treated as by [`create_or_open`](Self::create_or_open): nothing in it is deleted.
    ///
    /// # Errors
    /// As [`create_or_open`](Self::create_or_open), and [`IndexError::VectorsInUse`] while a reader in this process has
    /// the old index open.
    pub fn rebuild(dir: &Path, spec: &IndexSpec) -> Result<Self, IndexError> {
        refuse_foreign(dir)?;
        if dir.join(META_FILE).exists() {
            let _lock = lock(dir)?;
            if VectorStore::is_open(&vectors_path(dir)) {
                return Err(IndexError::VectorsInUse { dir: dir.to_owned() });
            }
            // The metadata goes last: a crash in between leaves a directory that can be rebuilt again.
            Manifest::remove(&manifest_path(dir))?;
            remove_engines(dir)?;
            for file in [PENDING_FILE, META_FILE] {
                let file = dir.join(file);
                if file.exists() {
                    fs::remove_file(&file).map_err(IndexError::io(&file))?;
                }
            }
        }
        Self::create_or_open(dir, spec)
    }

    /// Commits by itself every so many bytes of text (64 MB unless told): what a crash costs at most.
    pub fn commit_every(&mut self, bytes: u64) {
        self.commit_bytes = bytes.max(1);
    }

    /// Replaces all chunks of `document` by `chunks`.
    ///
    /// Texts that the index holds already, anywhere, keep their vectors; the others are embedded, together with those of
    /// other documents, when enough have come together. A chunk listed twice is kept once.
    ///
    /// # Errors
    /// [`StoreError::BadChunk`] where a chunk is not of this document or its span does not fit the source; the index
    /// is unchanged then. After any other error nothing more can be committed.
    pub fn add(&mut self, document: &Document, chunks: &[Chunk]) -> Result<(), IndexError> {
        self.check()?;
        let prepared = prepare(document, chunks, self.about.embedding.as_ref())?;
        self.stats.truncated += truncated(&prepared, self.about.embedding.as_ref());
        self.guarded(|writer| writer.put_prepared(&DocumentHeader::new(document), prepared))
    }

    /// Removes a document; says whether the index held any chunk of it. One that came from a source comes back when its
    /// source changes.
    ///
    /// # Errors
    /// Where the full-text index fails.
    pub fn remove(&mut self, document: &str) -> Result<bool, IndexError> {
        self.check()?;
        self.guarded(|writer| writer.remove_document(document))
    }

    /// The ids of the documents that the last commit holds, sorted.
    ///
    /// # Errors
    /// Where the full-text index cannot be read.
    pub fn document_ids(&self) -> Result<Vec<String>, IndexError> {
        self.text.reload()?;
        self.text.document_ids()
    }

    /// Makes everything durable and visible to readers that reload.
    ///
    /// # Errors
    /// Where the encoder or a sink fails; the index is then as it was at the last commit.
    pub fn commit(&mut self) -> Result<(), IndexError> {
        self.check()?;
        self.guarded(Self::commit_all)
    }

    /// A reader that shares the open files: it sees what is committed by then, and later commits after
    /// [`IndexReader::reload`].
    #[must_use]
    pub fn reader(&self) -> IndexReader {
        let encoder = self.about.embedding.as_ref().map(|e| Arc::clone(&e.encoder));
        IndexReader::sharing(&self.dir, self.meta.clone(), Arc::clone(&self.text), self.vectors.clone(), encoder)
    }

    /// Returns the metadata of the index.
    #[must_use]
    pub fn meta(&self) -> &IndexMeta {
        &self.meta
    }

    /// Commits, tidies up, and says what was done.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn finish(mut self) -> Result<IndexStats, IndexError> {
        self.commit()?;
        self.text_writer.finish()?;
        self.text.reload()?;
        if let Some(vectors) = &self.vectors
            && self.points_deleted
        {
            vectors.vacuum()?;
            vectors.flush()?;
        }
        let (documents, chunks) = (self.text.documents()?, self.text.chunks());
        if (self.meta.documents, self.meta.chunks) != (documents, chunks) {
            (self.meta.documents, self.meta.chunks) = (documents, chunks);
            self.meta.write(&self.dir)?;
        }
        Ok(IndexStats { documents, chunks, seconds: self.started.elapsed().as_secs_f64(), ..self.stats })
    }

    fn check(&self) -> Result<(), IndexError> {
        if self.poisoned { Err(StoreError::Poisoned.into()) } else { Ok(()) }
    }

    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, IndexError>) -> Result<T, IndexError> {
        let result = work(self);
        self.poisoned |= result.is_err();
        result
    }
}

/// The vectors of the index itself, as a cache.
fn stored(text: &Arc<TextIndex>, store: Option<&Arc<VectorStore>>) -> Option<Arc<dyn VectorCache>> {
    store.map(|store| -> Arc<dyn VectorCache> {
        Arc::new(StoredVectors { text: Arc::clone(text), store: Arc::clone(store) })
    })
}

#[cfg(test)]
mod tests;
