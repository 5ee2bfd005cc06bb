use pericope_store::ChunkEntry;
use tantivy::indexer::{LogMergePolicy, MergePolicy, NoMergePolicy};
use tantivy::{IndexWriter, TantivyDocument, Term};
use uuid::Uuid;

use super::text_index::{Committed, Fields, TextIndex};
use crate::IndexError;

/// Memory of all indexing threads together before they write a segment.
const HEAP_BYTES: usize = 80 << 20;
const MAX_THREADS: usize = 4;

/// Writes one tantivy document a chunk. What is staged is durable once `commit` has returned.
pub(crate) struct TextWriter {
    writer: IndexWriter,
    fields: Fields,
}

impl TextWriter {
    /// Takes the writer of an index. The directory can have one at a time.
    pub fn new(text: &TextIndex) -> Result<Self, IndexError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let writer = text.writer(threads, HEAP_BYTES)?;
        // Segments are merged between commits alone: see `merge`.
        writer.set_merge_policy(Box::new(NoMergePolicy));
        // A writer that was stopped within a commit leaves files that the next commit would give the same names (those of
        // deletions are called by a count), and tantivy overwrites none.
        writer.garbage_collect_files().wait()?;
        Ok(Self { writer, fields: text.fields })
    }

    /// Stages chunks. `provenance` is kept with the document's first chunk.
    pub fn put(&mut self, entries: &[ChunkEntry], provenance: Option<&str>) -> Result<(), IndexError> {
        for entry in entries {
            let mut document = stored(&self.fields, entry);
            if let Some(provenance) = provenance.filter(|_| entry.chunk.ordinal == 0) {
                document.add_text(self.fields.provenance, provenance);
            }
            self.writer.add_document(document)?;
        }
        Ok(())
    }

    /// Stages the removal of all chunks of a document.
    pub fn remove(&mut self, document: &str) {
        self.writer.delete_term(Term::from_field_text(self.fields.document, document));
    }

    /// Commits under a number that counts the commits of the whole index, together with its vectors.
    pub fn commit(&mut self, committed: Committed) -> Result<(), IndexError> {
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&committed.payload());
        prepared.commit()?;
        self.merge()
    }

    /// Merges segments while nothing is staged. Beside staged deletions, in the background, an index that was killed again
    /// and again has come to hold chunks that were deleted.
    fn merge(&mut self) -> Result<(), IndexError> {
        let mut policy = LogMergePolicy::default();
        // By default deletes never cause a merge, and an index that is written again and again only grows.
        policy.set_del_docs_ratio_before_merge(0.2);
        for candidate in policy.compute_merge_candidates(&self.writer.index().searchable_segment_metas()?) {
            self.writer.merge(&candidate.0).wait()?;
        }
        Ok(())
    }

    /// Waits for the merges that are under way.
    pub fn finish(self) -> Result<(), IndexError> {
        Ok(self.writer.wait_merging_threads()?)
    }
}

/// The chunk in our own schema.
fn stored(fields: &Fields, entry: &ChunkEntry) -> TantivyDocument {
    let chunk = &entry.chunk;
    let mut document = TantivyDocument::default();
    document.add_text(fields.document, &chunk.document);
    document.add_u64(fields.ordinal, chunk.ordinal as u64);
    document.add_u64(fields.start, chunk.start as u64);
    document.add_u64(fields.end, chunk.end as u64);
    for heading in &chunk.heading_path {
        document.add_text(fields.heading_path, heading);
    }
    let optional = [
        (fields.title, chunk.title.as_deref()),
        (fields.anchor, chunk.anchor.as_deref()),
        (fields.leading, Some(chunk.leading.as_str()).filter(|leading| !leading.is_empty())),
    ];
    for (field, text) in optional {
        if let Some(text) = text {
            document.add_text(field, text);
        }
    }
    document.add_text(fields.file_type, &chunk.file_type);
    document.add_text(fields.text, &chunk.text);
    document.add_u64(fields.tokens, chunk.tokens as u64);
    let (high, low) = entry.id.as_u64_pair();
    document.add_u64(fields.point_high, high);
    document.add_u64(fields.point_low, low);
    if let Some(hash) = entry.encoded {
        let (high, low) = Uuid::from_u128(hash).as_u64_pair();
        document.add_u64(fields.encoded_high, high);
        document.add_u64(fields.encoded_low, low);
    }
    document
}
