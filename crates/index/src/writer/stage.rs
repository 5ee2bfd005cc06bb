//! What is written between two commits.

use std::collections::HashSet;

use pericope_api::Embeddings;
use pericope_store::{
    COMMIT_EVERY, ChunkEntry, Destination, DestinationInfo, DocumentHeader, Finished, Known, Prepared, Provenance,
    RunSummary, SourceRecord, StoreError,
};
use uuid::Uuid;

use super::IndexWriter;
use super::touched::Touched;
use crate::IndexError;
use crate::manifest::DocumentRecord;

impl IndexWriter {
    /// Stages the removal of all chunks that a document has; says whether it had any.
    fn clear_document(&mut self, document: &str) -> Result<bool, IndexError> {
        if !self.touched.contains_key(document) {
            let committed: HashSet<Uuid> = {
                let snapshot = self.snapshots.current();
                self.snapshots.text.points_of(&snapshot.searcher, document)?.into_iter().collect()
            };
            let touched = Touched { live: committed.clone(), committed, written: HashSet::new() };
            self.touched.insert(document.to_owned(), touched);
        }
        let Some(touched) = self.touched.get_mut(document) else { return Ok(false) };
        let had_chunks = !touched.live.is_empty();
        if had_chunks {
            self.text_writer.remove(document);
            touched.live.clear();
        }
        Ok(had_chunks)
    }

    pub(super) fn remove_document(&mut self, document: &str) -> Result<bool, IndexError> {
        let had_chunks = self.clear_document(document)?;
        self.stats.documents_removed += u64::from(had_chunks);
        self.changes.documents.insert(document.to_owned(), None);
        Ok(had_chunks)
    }

    /// Stages a document's chunks in the full-text index in place of what it has, and says of each whether its vector is
    /// lacking.
    fn stage_text(&mut self, document: &DocumentHeader, entries: &[ChunkEntry]) -> Result<Vec<bool>, IndexError> {
        self.clear_document(&document.id)?;
        let touched = self.touched.entry(document.id.clone()).or_default();
        let mut lacking = Vec::with_capacity(entries.len());
        for entry in entries {
            touched.live.insert(entry.id);
            let lacks = match &self.vectors {
                // A chunk of an earlier version may be there without a vector.
                Some(vectors) => {
                    let is_there = touched.committed.contains(&entry.id) && vectors.holds(entry.id)?;
                    !is_there && touched.written.insert(entry.id)
                }
                None => false,
            };
            lacking.push(lacks);
        }
        let provenance = document.provenance.as_ref().map(Provenance::encode);
        self.text_writer.put(entries, provenance.as_deref())?;
        Ok(lacking)
    }

    /// Notes a document that was staged; commits if it is time.
    fn note(&mut self, document: &DocumentHeader, chunks: Vec<Uuid>) -> Result<(), IndexError> {
        self.stats.documents_written += 1;
        self.stats.chunks_written += chunks.len() as u64;
        self.stats.bytes += document.bytes;
        if let Some(fresh) = &mut self.fresh {
            fresh.insert(document.id.clone());
        }
        let source = document.provenance.as_ref().map(|p| p.source.clone());
        let record = DocumentRecord { source, hash: Some(document.hash), chunks };
        self.changes.documents.insert(document.id.clone(), Some(record));
        self.uncommitted_bytes += document.bytes;
        if self.uncommitted_bytes >= self.commit_bytes || self.committed.elapsed() >= COMMIT_EVERY {
            self.commit_all()?;
        }
        Ok(())
    }

    /// Stages a document whose vectors are not known yet.
    pub(super) fn put_prepared(
        &mut self,
        document: &DocumentHeader,
        prepared: Vec<Prepared>,
    ) -> Result<(), IndexError> {
        let (mut entries, mut texts) = (Vec::with_capacity(prepared.len()), Vec::with_capacity(prepared.len()));
        for one in prepared {
            entries.push(one.entry);
            texts.push(one.encoded);
        }
        let lacking = self.stage_text(document, &entries)?;
        let ids = entries.iter().map(|entry| entry.id).collect();
        for ((entry, text), lacks) in entries.into_iter().zip(texts).zip(lacking) {
            if lacks {
                self.queue.push(entry, text);
                if self.queue.is_full() {
                    self.drain()?;
                }
            }
        }
        self.note(document, ids)
    }

    /// Stages a document with its vectors.
    fn put_embedded(
        &mut self,
        document: &DocumentHeader,
        entries: Vec<ChunkEntry>,
        vectors: &Embeddings,
    ) -> Result<(), IndexError> {
        let lacking = self.stage_text(document, &entries)?;
        let ids = entries.iter().map(|entry| entry.id).collect();
        if let Some(store) = self.vectors.as_mut().filter(|_| lacking.contains(&true)) {
            if lacking.contains(&false) {
                let (mut lacked, mut values) = (Vec::new(), Vec::new());
                for ((entry, vector), lacks) in entries.into_iter().zip(vectors.rows()).zip(lacking) {
                    if lacks {
                        values.extend_from_slice(vector);
                        lacked.push(entry);
                    }
                }
                store.upsert(&lacked, &Embeddings::new(vectors.dimension(), values))?;
            } else {
                store.upsert(&entries, vectors)?;
            }
        }
        self.note(document, ids)
    }

    /// Embeds the queue and puts it among the vectors.
    pub(super) fn drain(&mut self) -> Result<(), IndexError> {
        let (Some(embedder), Some(store)) = (&self.embedder, &mut self.vectors) else { return Ok(()) };
        if self.queue.is_empty() {
            return Ok(());
        }
        let (entries, vectors, counts) = self.queue.encode(embedder)?;
        self.stats.add_embedding(counts, 0);
        store.upsert(&entries, &vectors)
    }
}

impl Destination for IndexWriter {
    fn about(&self) -> &DestinationInfo {
        &self.about
    }

    fn known(&mut self) -> Result<Known, StoreError> {
        Ok(self.known_with_vectors()?)
    }

    fn put(
        &mut self,
        document: &DocumentHeader,
        chunks: Vec<ChunkEntry>,
        vectors: Embeddings,
    ) -> Result<(), StoreError> {
        self.check()?;
        Ok(self.guarded(|writer| writer.put_embedded(document, chunks, &vectors))?)
    }

    fn remove(&mut self, document: &str) -> Result<bool, StoreError> {
        Ok(IndexWriter::remove(self, document)?)
    }

    fn record(&mut self, source: &str, record: Option<SourceRecord>) -> Result<(), StoreError> {
        self.check()?;
        self.changes.sources.insert(source.to_owned(), record);
        Ok(())
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        Ok(IndexWriter::commit(self)?)
    }

    fn finish(self: Box<Self>, run: &RunSummary<'_>) -> Result<Finished, StoreError> {
        let mut writer = *self;
        writer.remove_leftovers(run)?;
        IndexWriter::commit(&mut writer)?;
        let publication = writer.publication(run)?;
        let mut stats = writer.close(&publication)?;
        stats.add_embedding(run.embedded, run.truncated);
        Ok(Finished { stats, publication })
    }
}
