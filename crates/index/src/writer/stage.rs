//! What is written between two commits.

use std::collections::HashSet;
use std::sync::Arc;

use pericope_api::Embeddings;
use uuid::Uuid;

use super::{IndexWriter, stored};
use crate::cache::VectorCache;
use crate::directory::set_pending;
use crate::manifest::{DocumentRecord, Known, SourceRecord};
use crate::prepare::{Embedding, Prepared};
use crate::sinks::Sink;
use crate::{Destination, DocumentHead, EmbedCounts, Entry, IndexError};

/// A document that was written or removed since the last commit.
#[derive(Default)]
pub(super) struct Touched {
    /// Points of the document at the last commit.
    pub committed: HashSet<Uuid>,
    /// Points that were put into the vector sink, or its queue, since.
    pub written: HashSet<Uuid>,
    /// Points of the document as it is now.
    pub live: HashSet<Uuid>,
}

/// The document that is being written.
pub(super) struct Current {
    head: DocumentHead,
    chunks: Vec<Uuid>,
}

impl IndexWriter {
    /// Stages the removal of all chunks that a document has; says whether it had any.
    fn clear_document(&mut self, document: &str) -> Result<bool, IndexError> {
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
            touched.live.clear();
        }
        Ok(had_chunks)
    }

    pub(super) fn begin_document(&mut self, head: &DocumentHead) -> Result<(), IndexError> {
        self.clear_document(&head.id)?;
        self.current = Some(Current { head: head.clone(), chunks: Vec::new() });
        Ok(())
    }

    pub(super) fn remove_document(&mut self, document: &str) -> Result<bool, IndexError> {
        let had_chunks = self.clear_document(document)?;
        self.counts.removed += u64::from(had_chunks);
        self.changes.documents.insert(document.to_owned(), None);
        Ok(had_chunks)
    }

    /// Stages chunks of the current document in the full-text index, and says of each whether the vector sink lacks it.
    fn stage_text(&mut self, entries: &mut [Entry]) -> Result<Vec<bool>, IndexError> {
        let Some(current) = &mut self.current else { return Err(IndexError::Poisoned) };
        let Some(touched) = self.touched.get_mut(&current.head.id) else { return Err(IndexError::Poisoned) };
        let mut lacking = Vec::with_capacity(entries.len());
        for entry in entries.iter_mut() {
            touched.live.insert(entry.id);
            current.chunks.push(entry.id);
            if entry.ordinal == 0 {
                entry.origin = current.head.origin.as_ref().map(crate::manifest::Origin::encode);
            }
            lacking.push(
                self.vector_sink.is_some()
                    && !touched.committed.contains(&entry.id)
                    && touched.written.insert(entry.id),
            );
        }
        self.counts.chunks += entries.len() as u64;
        self.text_sink.put(entries, &Embeddings::default())?;
        Ok(lacking)
    }

    /// Stages chunks whose vectors are not known yet.
    pub(super) fn stage_prepared(&mut self, prepared: Vec<Prepared>) -> Result<(), IndexError> {
        let (mut entries, mut texts) = (Vec::with_capacity(prepared.len()), Vec::with_capacity(prepared.len()));
        for one in prepared {
            entries.push(one.entry);
            texts.push(one.encoded);
        }
        let lacking = self.stage_text(&mut entries)?;
        for ((entry, text), lacks) in entries.iter().zip(texts).zip(lacking) {
            if lacks {
                self.queue.push(entry.without_text(), text);
                if self.queue.is_full() {
                    self.drain()?;
                }
            }
        }
        Ok(())
    }

    /// Stages chunks with their vectors.
    fn stage_embedded(&mut self, mut entries: Vec<Entry>, vectors: &Embeddings) -> Result<(), IndexError> {
        let lacking = self.stage_text(&mut entries)?;
        let Some(sink) = &mut self.vector_sink else { return Ok(()) };
        if !lacking.contains(&true) {
            return Ok(());
        }
        set_pending(&self.dir)?;
        if !lacking.contains(&false) {
            return sink.put(&entries, vectors);
        }
        let mut values = Vec::new();
        let mut lacked = Vec::new();
        for ((entry, vector), lacks) in entries.iter().zip(vectors.rows()).zip(lacking) {
            if lacks {
                values.extend_from_slice(vector);
                lacked.push(entry.without_text());
            }
        }
        sink.put(&lacked, &Embeddings::new(vectors.dimension(), values))
    }

    pub(super) fn end_document(&mut self) -> Result<(), IndexError> {
        let Some(current) = self.current.take() else { return Err(IndexError::Poisoned) };
        let DocumentHead { id, hash, bytes, origin } = current.head;
        let record = DocumentRecord { source: origin.map(|o| o.source), hash: Some(hash), chunks: current.chunks };
        self.changes.documents.insert(id, Some(record));
        self.counts.documents += 1;
        self.counts.bytes += bytes;
        self.uncommitted_bytes += bytes;
        if self.uncommitted_bytes >= self.commit_bytes || self.committed.elapsed() >= super::COMMIT_EVERY {
            self.commit_all()?;
        }
        Ok(())
    }

    /// Embeds the queue and puts it into the vector sink.
    pub(super) fn drain(&mut self) -> Result<(), IndexError> {
        let (Some(embedder), Some(sink)) = (&self.embedder, &mut self.vector_sink) else { return Ok(()) };
        if self.queue.is_empty() {
            return Ok(());
        }
        let (entries, vectors, counts) = self.queue.encode(embedder)?;
        self.counts.embedded.add(counts);
        set_pending(&self.dir)?;
        sink.put(&entries, &vectors)
    }
}

impl Destination for IndexWriter {
    fn embedding(&self) -> Option<Embedding> {
        self.embedding.clone()
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn vectors(&self) -> Option<Arc<dyn VectorCache>> {
        stored(&self.text, self.vector_sink.as_ref().map(super::QdrantEdgeSink::store))
    }

    fn known(&mut self) -> Result<Known, IndexError> {
        self.manifest.known()
    }

    fn begin(&mut self, document: &DocumentHead) -> Result<(), IndexError> {
        self.check()?;
        self.guarded(|writer| writer.begin_document(document))
    }

    fn put(&mut self, entries: Vec<Entry>, vectors: Embeddings) -> Result<(), IndexError> {
        self.check()?;
        self.guarded(|writer| writer.stage_embedded(entries, &vectors))
    }

    fn end(&mut self) -> Result<(), IndexError> {
        self.check()?;
        self.guarded(Self::end_document)
    }

    fn remove(&mut self, document: &str) -> Result<bool, IndexError> {
        IndexWriter::remove(self, document)
    }

    fn record(&mut self, source: &str, record: Option<SourceRecord>) -> Result<(), IndexError> {
        self.check()?;
        self.changes.sources.insert(source.to_owned(), record);
        Ok(())
    }

    fn account(&mut self, embedded: EmbedCounts, truncated: u64) {
        self.counts.embedded.add(embedded);
        self.counts.truncated += truncated;
    }

    fn commit(&mut self) -> Result<(), IndexError> {
        IndexWriter::commit(self)
    }
}
