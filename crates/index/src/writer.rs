use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{Chunk, Document, Embeddings, SentenceEncoder};
use serde::Serialize;
use uuid::Uuid;

use crate::directory::{
    PENDING_FILE, clear_pending, holds_something_else, lock, open_vectors, set_pending, text_path, vectors_path,
};
use crate::embed::{EmbedQueue, encoder_text};
use crate::entry::point_id;
use crate::meta::META_FILE;
use crate::sinks::{QdrantEdgeSink, Sink, TantivySink, TextIndex, VectorStore};
use crate::{Entry, IndexError, IndexMeta, IndexReader, IndexSpec};

/// Text between two commits: what a crash can cost, and what bounds the memory of what is not committed.
const COMMIT_BYTES: u64 = 64 << 20;

/// What a finished run did, and what the index holds now.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct IndexStats {
    /// Documents in the index.
    pub documents: u64,
    /// Chunks in the index.
    pub chunks: u64,
    /// Documents that this run added or replaced.
    pub documents_written: u64,
    /// Chunks that this run wrote.
    pub chunks_written: u64,
    /// Bytes of source text that this run read.
    pub bytes: u64,
    /// Texts that the encoder was given (equal texts in a batch, and chunks that had not changed, not counted).
    pub texts_embedded: u64,
    /// Chunks that this run wrote whose end the encoder does not read.
    pub truncated: u64,
    /// Seconds spent in the encoder.
    pub embed_seconds: f64,
    /// Seconds from opening to the end of `finish`.
    pub seconds: f64,
}

type CommitStep = fn(&mut IndexWriter) -> Result<(), IndexError>;

/// A document that was written or removed since the last commit.
#[derive(Default)]
struct Touched {
    /// Points of the document at the last commit.
    committed: HashSet<Uuid>,
    /// Points that were put into the vector sink, or its queue, since.
    written: HashSet<Uuid>,
    /// Points of the document as it is now.
    live: HashSet<Uuid>,
}

/// Writes documents into an index directory. One writer a directory, in all processes.
///
/// Nothing is seen by readers, or survives the process, before [`commit`](Self::commit) (which also happens by itself
/// every 64 MB of text) or [`finish`](Self::finish). A writer that is dropped leaves the index as it was at the last
/// commit.
pub struct IndexWriter {
    dir: PathBuf,
    meta: IndexMeta,
    encoder: Option<Arc<dyn SentenceEncoder>>,
    text: Arc<TextIndex>,
    text_sink: TantivySink,
    vector_sink: Option<QdrantEdgeSink>,
    queue: EmbedQueue,
    touched: HashMap<String, Touched>,
    sequence: u64,
    uncommitted_bytes: u64,
    points_deleted: bool,
    /// Why nothing more may be committed: a call failed between two steps that belong together.
    poisoned: bool,
    started: Instant,
    written: (u64, u64, u64),
    embedded: (u64, f64),
    truncated: u64,
    /// Held until the writer is dropped; declared last, so that all else is closed by then.
    _lock: File,
}

impl IndexWriter {
    /// Opens the index in `dir`, or makes one where the directory is empty or missing.
    ///
    /// # Errors
    /// [`IndexError::Mismatch`] where the index was built with another segmenter, embedder or tokenizer,
    /// [`IndexError::Format`] where it is of another version, [`IndexError::NotEmpty`] where the directory holds
    /// something else, [`IndexError::Locked`] where another writer has it, [`IndexError::Corrupt`] where files are
    /// missing or unreadable.
    pub fn create_or_open(dir: &Path, spec: &IndexSpec) -> Result<Self, IndexError> {
        let started = Instant::now();
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
        Ok(Self {
            dir: dir.to_owned(),
            meta,
            encoder: spec.encoder.clone(),
            text_sink: TantivySink::new(&text)?,
            text,
            vector_sink: store.map(QdrantEdgeSink::new),
            queue: EmbedQueue::default(),
            touched: HashMap::new(),
            sequence,
            uncommitted_bytes: 0,
            points_deleted: false,
            poisoned: false,
            started,
            written: (0, 0, 0),
            embedded: (0, 0.0),
            truncated: 0,
            _lock: lock,
        })
    }

    /// Deletes the index in `dir`, whatever it was built with, and makes a new one. A directory without an index is
    /// treated as by [`create_or_open`](Self::create_or_open): nothing in it is deleted.
    ///
    /// # Errors
    /// As [`create_or_open`](Self::create_or_open), and [`IndexError::VectorsInUse`] while a reader in this process has
    /// the old index open.
    pub fn rebuild(dir: &Path, spec: &IndexSpec) -> Result<Self, IndexError> {
        if dir.join(META_FILE).exists() {
            let _lock = lock(dir)?;
            if VectorStore::is_open(&vectors_path(dir)) {
                return Err(IndexError::VectorsInUse { dir: dir.to_owned() });
            }
            // The metadata goes last: a crash in between leaves a directory that can be rebuilt again.
            for folder in [text_path(dir), vectors_path(dir)] {
                if folder.exists() {
                    fs::remove_dir_all(&folder).map_err(IndexError::io(&folder))?;
                }
            }
            for file in [PENDING_FILE, META_FILE] {
                let file = dir.join(file);
                if file.exists() {
                    fs::remove_file(&file).map_err(IndexError::io(&file))?;
                }
            }
        }
        Self::create_or_open(dir, spec)
    }

    /// Replaces all chunks of `document` by `chunks`.
    ///
    /// Chunks that the index holds with the same place and text keep their vectors; the others are embedded, together
    /// with those of other documents, when enough have come together. A chunk listed twice is kept once.
    ///
    /// # Errors
    /// [`IndexError::BadChunk`] where a chunk is not of this document or its span does not fit the source; the index
    /// is unchanged then. After any other error nothing more can be committed.
    pub fn add(&mut self, document: &Document, chunks: &[Chunk]) -> Result<(), IndexError> {
        self.check()?;
        let entries = self.entries(document, chunks)?;
        let bytes = document.source.len() as u64;
        let count = entries.len() as u64;
        self.truncated += self.beyond_reach(&entries);
        self.guarded(|writer| {
            writer.replace(&document.id, entries)?;
            writer.written.0 += 1;
            writer.written.1 += count;
            writer.written.2 += bytes;
            writer.uncommitted_bytes += bytes;
            Ok(())
        })?;
        if self.uncommitted_bytes >= COMMIT_BYTES { self.commit() } else { Ok(()) }
    }

    /// Removes a document; says whether the index held any chunk of it.
    ///
    /// # Errors
    /// Where the full-text index fails.
    pub fn remove(&mut self, document: &str) -> Result<bool, IndexError> {
        self.check()?;
        self.guarded(|writer| writer.replace(document, Vec::new()))
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
        let store = self.vector_sink.as_ref().map(|sink| Arc::clone(sink.store()));
        IndexReader::sharing(&self.dir, self.meta.clone(), Arc::clone(&self.text), store, self.encoder.clone())
    }

    /// What the index was built with.
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
        self.text_sink.finish()?;
        self.text.reload()?;
        if let Some(sink) = &self.vector_sink
            && self.points_deleted
        {
            sink.store().vacuum()?;
            sink.store().flush()?;
        }
        let (documents, chunks) = (self.text.documents()?, self.text.chunks());
        if (self.meta.documents, self.meta.chunks) != (documents, chunks) {
            (self.meta.documents, self.meta.chunks) = (documents, chunks);
            self.meta.write(&self.dir)?;
        }
        Ok(IndexStats {
            documents,
            chunks,
            documents_written: self.written.0,
            chunks_written: self.written.1,
            bytes: self.written.2,
            texts_embedded: self.embedded.0,
            truncated: self.truncated,
            embed_seconds: self.embedded.1,
            seconds: self.started.elapsed().as_secs_f64(),
        })
    }

    fn check(&self) -> Result<(), IndexError> {
        if self.poisoned { Err(IndexError::Poisoned) } else { Ok(()) }
    }

    fn guarded<T>(&mut self, work: impl FnOnce(&mut Self) -> Result<T, IndexError>) -> Result<T, IndexError> {
        let result = work(self);
        self.poisoned |= result.is_err();
        result
    }

    /// How many of the texts the encoder will not read to the end.
    fn beyond_reach(&self, entries: &[(Entry, String)]) -> u64 {
        let Some(encoder) = &self.encoder else { return 0 };
        let limit = encoder.max_tokens() as u64;
        // The chunks' own counts stand for the encoder's where both count alike, and where it does not say.
        let alike =
            self.meta.tokenizer == encoder.name() && !self.meta.embedder.as_ref().is_some_and(|e| e.prefix_headings);
        let beyond = |(entry, text): &&(Entry, String)| match alike && entry.tokens <= limit {
            true => false,
            false => encoder.count_tokens(text).map_or(entry.tokens, |n| n as u64) > limit,
        };
        entries.iter().filter(beyond).count() as u64
    }

    /// The entries of a document, each with what the encoder will read of it.
    fn entries(&self, document: &Document, chunks: &[Chunk]) -> Result<Vec<(Entry, String)>, IndexError> {
        let prefix = self.meta.embedder.as_ref().is_some_and(|e| e.prefix_headings);
        let mut seen = HashSet::with_capacity(chunks.len());
        let mut entries = Vec::with_capacity(chunks.len());
        for (ordinal, chunk) in chunks.iter().enumerate() {
            let bad = |reason: String| IndexError::BadChunk { document: document.id.clone(), ordinal, reason };
            if chunk.document != document.id {
                return Err(bad(format!("it is a chunk of `{}`", chunk.document)));
            }
            let span = chunk.span;
            let Some(text) = document.source.get(span.start..span.end).filter(|text| !text.is_empty()) else {
                return Err(bad(format!("{}..{} is no range of the source's characters", span.start, span.end)));
            };
            let encoded = match self.encoder {
                Some(_) => encoder_text(document, span, &chunk.heading_path, prefix),
                None => String::new(),
            };
            let id = point_id(&document.id, span, text, if self.encoder.is_some() { &encoded } else { text });
            if seen.insert(id) {
                entries.push((Entry::new(document, chunk, entries.len(), id), encoded));
            }
        }
        Ok(entries)
    }

    /// Stages the new chunks of a document in place of all that it has; says whether it had any.
    fn replace(&mut self, document: &str, entries: Vec<(Entry, String)>) -> Result<bool, IndexError> {
        if !self.touched.contains_key(document) {
            // The reader of `text` stands at the last commit.
            let committed: HashSet<Uuid> = self.text.points_of(&self.text.searcher(), document)?.into_iter().collect();
            let touched = Touched { live: committed.clone(), committed, written: HashSet::new() };
            self.touched.insert(document.to_owned(), touched);
        }
        let Some(touched) = self.touched.get_mut(document) else { return Ok(false) };
        let had_chunks = !touched.live.is_empty();
        if had_chunks {
            self.text_sink.remove(document, &[])?;
        }
        touched.live = entries.iter().map(|(entry, _)| entry.id).collect();
        let mut to_embed = Vec::new();
        let mut to_write = Vec::with_capacity(entries.len());
        for (entry, encoded) in entries {
            if self.vector_sink.is_some() && !touched.committed.contains(&entry.id) && touched.written.insert(entry.id)
            {
                to_embed.push((entry.without_text(), encoded));
            }
            to_write.push(entry);
        }
        self.text_sink.put(&to_write, &Embeddings::default())?;
        for (entry, encoded) in to_embed {
            self.queue.push(entry, encoded);
            if self.queue.is_full() {
                self.drain()?;
            }
        }
        Ok(had_chunks)
    }

    /// Embeds the queue and puts it into the vector sink.
    fn drain(&mut self) -> Result<(), IndexError> {
        let (Some(encoder), Some(sink)) = (&self.encoder, &mut self.vector_sink) else { return Ok(()) };
        if self.queue.is_empty() {
            return Ok(());
        }
        let before = Instant::now();
        let encoded = self.queue.encode(encoder.as_ref())?;
        self.embedded.0 += encoded.texts as u64;
        self.embedded.1 += before.elapsed().as_secs_f64();
        set_pending(&self.dir)?;
        sink.put(&encoded.entries, &encoded.vectors)
    }

    fn commit_all(&mut self) -> Result<(), IndexError> {
        self.drain()?;
        if self.touched.is_empty() {
            return Ok(());
        }
        Self::COMMIT_STEPS.iter().try_for_each(|step| step(self))
    }

    /// A commit after the queue is empty. After each step the index holds the old contents or the new, never a mixture.
    const COMMIT_STEPS: [CommitStep; 3] = [Self::flush_points, Self::commit_text, Self::drop_superfluous_points];

    /// First step of a commit: the new points are durable. Readers do not see them.
    fn flush_points(&mut self) -> Result<(), IndexError> {
        if let Some(sink) = &mut self.vector_sink {
            // From here to the last step there may be points that no commit names.
            set_pending(&self.dir)?;
            sink.commit(self.sequence + 1)?;
        }
        Ok(())
    }

    /// Second step: the change happens.
    fn commit_text(&mut self) -> Result<(), IndexError> {
        self.text_sink.commit(self.sequence + 1)?;
        self.sequence += 1;
        self.uncommitted_bytes = 0;
        self.text.reload()
    }

    /// Last step: what the change made superfluous goes.
    fn drop_superfluous_points(&mut self) -> Result<(), IndexError> {
        let touched = std::mem::take(&mut self.touched);
        let Some(sink) = &mut self.vector_sink else { return Ok(()) };
        for (document, points) in &touched {
            let gone: Vec<Uuid> =
                points.committed.union(&points.written).filter(|id| !points.live.contains(id)).copied().collect();
            if !gone.is_empty() {
                self.points_deleted = true;
                sink.remove(document, &gone)?;
            }
        }
        sink.commit(self.sequence)?;
        clear_pending(&self.dir)
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
