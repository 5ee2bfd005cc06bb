//! The one that writes into an index directory.

mod commit;
mod rebuild;
mod stage;
mod touched;

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Chunk, Document};
use pericope_store::{
    DestinationInfo, DocumentHeader, IndexSpec, IndexStats, Known, Publication, RunSummary, StoreError, VectorCache,
    prepare, truncated,
};

use self::touched::Touched;
use crate::build::home;
use crate::cache::StoredVectors;
use crate::directory::{clear_old_vectors, holds_something_else, lock, manifest_path, vectors_path};
use crate::embed::{EmbedQueue, Embedder};
use crate::engines::{Snapshots, TextWriter};
use crate::guard::guarded;
use crate::manifest::{Changes, Manifest};
use crate::meta::{FORMAT, META_FILE};
use crate::own::{refuse_foreign, remove_older_builds};
use crate::vectors::{GenerationId, VectorSet, VectorWriter};
use crate::{IndexError, IndexMeta, IndexReader, directory};

/// Text between two commits; the time between them is that of all stores. It is what a crash can cost, and what bounds the
/// memory of what is not committed.
const COMMIT_BYTES: u64 = 64 << 20;

/// Writes documents into an index directory. One writer a directory, in all processes.
///
/// Nothing is seen by readers, or survives the process, before [`commit`](Self::commit) (which also happens by itself
/// every 64 MB of text and every 30 seconds) or [`finish`](Self::finish). A writer that is dropped leaves the index as it was
/// at the last commit.
///
/// It is a [`Destination`](crate::Destination): [`pipeline::run`](crate::pipeline::run) reads, segments and embeds on all
/// cores, and knows by the manifest what has not changed. [`add`](Self::add) writes one document.
pub struct IndexWriter {
    dir: PathBuf,
    /// Where its words, vectors and manifest are.
    home: PathBuf,
    /// The build whose place it takes when it is whole.
    replaces: Option<u64>,
    /// Ids of the documents that it put, where it goes on with a rebuild that was broken off: what else that one had may be
    /// gone by now.
    fresh: Option<HashSet<String>>,
    meta: IndexMeta,
    about: DestinationInfo,
    embedder: Option<Embedder>,
    snapshots: Arc<Snapshots>,
    text_writer: TextWriter,
    vectors: Option<VectorWriter>,
    /// The vectors of the last commit, and for a moment those of the next.
    generation: Option<GenerationId>,
    manifest: Manifest,
    queue: EmbedQueue,
    touched: HashMap<String, Touched>,
    changes: Changes,
    sequence: u64,
    commit_bytes: u64,
    uncommitted_bytes: u64,
    committed: Instant,
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
        let mut meta = match IndexMeta::read(dir) {
            Ok(meta) => meta,
            Err(IndexError::NotAnIndex { .. }) => {
                let mut meta = IndexMeta::new(spec);
                meta.write(dir)?;
                meta
            }
            Err(error) => return Err(error),
        };
        meta.expect(dir, spec)?;
        if meta.format != FORMAT {
            // Earlier versions could not read what is written from here on.
            meta.format = FORMAT;
            meta.write(dir)?;
        }
        // Left by a rebuild that was broken off after it had taken the place of the old index.
        remove_older_builds(dir, meta.build)?;
        let writer = Self::over(dir, meta, spec, lock)?;
        Ok(Self { started, ..writer })
    }

    /// Opens a build for its one writer.
    fn over(dir: &Path, meta: IndexMeta, spec: &IndexSpec, lock: File) -> Result<Self, IndexError> {
        let started = Instant::now();
        let home = home(dir, meta.build);
        let snapshots = Arc::new(directory::open_or_create(&home, &meta)?);
        let snapshot = snapshots.current();
        let committed = snapshot.committed;
        let vectors = vectors_of(&home, &meta, &snapshots)?;
        let manifest = guarded(&snapshots.text.path, || {
            Manifest::open(&manifest_path(&home), committed.sequence, || snapshots.text.indexed(&snapshot.searcher))
        })?;
        let known =
            vectors.as_ref().map(|_| -> Arc<dyn VectorCache> { Arc::new(StoredVectors(Arc::clone(&snapshots))) });
        let about = DestinationInfo {
            name: dir.display().to_string(),
            fingerprint: meta.built_with().fingerprint(),
            embedding: spec.embedding(),
            language: meta.built_with().language.unwrap_or_default(),
            vectors: known.clone(),
        };
        let embedder = spec
            .encoder
            .as_ref()
            .map(|encoder| Embedder { encoder: Arc::clone(encoder), caches: known.into_iter().collect() });
        Ok(Self {
            dir: dir.to_owned(),
            home,
            replaces: None,
            fresh: None,
            about,
            meta,
            embedder,
            text_writer: guarded(&snapshots.text.path, || TextWriter::new(&snapshots.text))?,
            snapshots,
            vectors,
            generation: committed.vectors,
            manifest,
            queue: EmbedQueue::default(),
            touched: HashMap::new(),
            changes: Changes::default(),
            sequence: committed.sequence,
            commit_bytes: COMMIT_BYTES,
            uncommitted_bytes: 0,
            committed: started,
            poisoned: false,
            started,
            stats: IndexStats::default(),
            _lock: lock,
        })
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
        let prepared = prepare(document, chunks, self.about.embedding.as_ref(), self.about.language)?;
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
        self.snapshots.reload()?;
        let snapshot = self.snapshots.current();
        guarded(&self.snapshots.text.path, || self.snapshots.text.document_ids(&snapshot.searcher))
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
        IndexReader::sharing(&self.dir, self.meta.clone(), Arc::clone(&self.snapshots), encoder)
    }

    /// Returns the metadata of the index.
    #[must_use]
    pub fn meta(&self) -> &IndexMeta {
        &self.meta
    }

    /// Commits, tidies up, lets a rebuild take its place, and says what was done. A rebuild that was taken up again keeps
    /// what this writer put, and nothing else of what it had. Where sources were left alone since they had not changed, the
    /// one to call is [`Destination::finish`](pericope_store::Destination::finish), which is told what was met.
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub fn finish(mut self) -> Result<IndexStats, IndexError> {
        self.remove_leftovers(&RunSummary::default())?;
        self.commit()?;
        self.close(&Publication::Published)
    }

    /// Ends a run whose last commit is made.
    fn close(self, publication: &Publication) -> Result<IndexStats, IndexError> {
        let Self { dir, home, replaces, mut meta, snapshots, text_writer, stats, started, _lock, .. } = self;
        let text = &snapshots.text;
        guarded(&text.path, || text_writer.finish())?;
        snapshots.reload()?;
        let snapshot = snapshots.current();
        let documents = guarded(&text.path, || text.documents(&snapshot.searcher))?;
        let chunks = snapshot.chunks();
        if (meta.documents, meta.chunks) != (documents, chunks) {
            (meta.documents, meta.chunks) = (documents, chunks);
            meta.write(if replaces.is_some() { &home } else { &dir })?;
        }
        if let (Some(old), Publication::Published) = (replaces, publication) {
            rebuild::publish(&dir, &mut meta, old)?;
        }
        Ok(IndexStats { documents, chunks, seconds: started.elapsed().as_secs_f64(), ..stats })
    }

    /// What is known of the sources. Those whose chunks lack a vector, as after an earlier version, are to be read again.
    fn known_with_vectors(&mut self) -> Result<Known, IndexError> {
        let mut known = match self.manifest.known() {
            Err(IndexError::Database { .. }) => {
                let (text, snapshot) = (&self.snapshots.text, self.snapshots.current());
                let indexed = guarded(&text.path, || text.indexed(&snapshot.searcher))?;
                self.manifest.make_again(self.sequence, indexed)?;
                self.manifest.known()?
            }
            known => known?,
        };
        let Some(vectors) = &self.vectors else { return Ok(known) };
        if vectors.len() as u64 >= self.snapshots.current().chunks() {
            return Ok(known);
        }
        let lacking = self.manifest.documents_with(|point| Ok(!vectors.holds(point)?))?;
        for source in known.sources.values_mut() {
            for (id, hash) in &mut source.documents {
                if lacking.contains(id) {
                    (*hash, source.hash, source.stamp) = (None, None, None);
                }
            }
        }
        Ok(known)
    }

    fn check(&self) -> Result<(), IndexError> {
        if self.poisoned { Err(StoreError::Poisoned.into()) } else { Ok(()) }
    }

    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, IndexError>) -> Result<T, IndexError> {
        let snapshots = Arc::clone(&self.snapshots);
        let result = guarded(&snapshots.text.path, || work(self));
        self.poisoned |= result.is_err();
        result
    }
}

/// The writer of the vectors, for an index that has them. What earlier versions and writers that were stopped left among
/// them goes.
fn vectors_of(dir: &Path, meta: &IndexMeta, snapshots: &Snapshots) -> Result<Option<VectorWriter>, IndexError> {
    let Some(embedder) = &meta.embedder else { return Ok(None) };
    let (path, snapshot) = (vectors_path(dir), snapshots.current());
    let committed = match snapshots.vectors(&snapshot) {
        Err(IndexError::OldVectors { .. }) => VectorSet::empty(&path, embedder.dimension),
        opened => opened?.unwrap_or_else(|| VectorSet::empty(&path, embedder.dimension)),
    };
    clear_old_vectors(dir)?;
    let writer = VectorWriter::new(&path, &committed, snapshot.committed.sequence)?;
    writer.tidy(snapshot.committed.vectors)?;
    Ok(Some(writer))
}

#[cfg(test)]
mod tests;
