use pericope_api::Embeddings;
use tantivy::TantivyDocument;
use tantivy::indexer::LogMergePolicy;
use uuid::Uuid;

use super::Sink;
use super::text_index::{Fields, TextIndex};
use crate::plugin::ChunkingIndexWriter;
use crate::{Entry, IndexError};

/// Memory of all indexing threads together before they write a segment.
const HEAP_BYTES: usize = 80 << 20;
const MAX_THREADS: usize = 4;

/// The full-text sink: one tantivy document a chunk, written as any other program with a schema of its own would.
pub struct TantivySink {
    writer: ChunkingIndexWriter,
}

impl TantivySink {
    /// Takes the writer of an index. The directory can have one at a time.
    pub(crate) fn new(text: &TextIndex) -> Result<Self, IndexError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let writer = text.writer(threads, HEAP_BYTES)?;
        let mut policy = LogMergePolicy::default();
        // By default deletes never cause a merge, and an index that is written again and again only grows.
        policy.set_del_docs_ratio_before_merge(0.2);
        writer.set_merge_policy(Box::new(policy));
        // A writer that was stopped within a commit leaves files that the next commit would give the same names (those of
        // deletions are called by a count), and tantivy overwrites none.
        writer.garbage_collect_files().wait()?;
        let fields = text.fields;
        Ok(Self { writer: ChunkingIndexWriter::new(writer, fields.document, move |entry| stored(&fields, entry)) })
    }

    /// Waits for the merges that are under way.
    pub(crate) fn finish(self) -> Result<(), IndexError> {
        Ok(self.writer.into_inner().wait_merging_threads()?)
    }
}

/// The chunk in our own schema.
fn stored(fields: &Fields, entry: &Entry) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_text(fields.document, &entry.document);
    document.add_u64(fields.ordinal, entry.ordinal);
    document.add_u64(fields.start, entry.span.start as u64);
    document.add_u64(fields.end, entry.span.end as u64);
    for heading in &entry.heading_path {
        document.add_text(fields.heading_path, heading);
    }
    let optional = [
        (fields.title, entry.title.as_deref()),
        (fields.anchor, entry.anchor.as_deref()),
        (fields.lead, Some(entry.lead.as_str()).filter(|lead| !lead.is_empty())),
        (fields.origin, entry.origin.as_deref()),
    ];
    for (field, text) in optional {
        if let Some(text) = text {
            document.add_text(field, text);
        }
    }
    document.add_text(fields.file_type, &entry.file_type);
    document.add_text(fields.text, &entry.text);
    document.add_u64(fields.tokens, entry.tokens);
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

impl Sink for TantivySink {
    fn name(&self) -> &'static str {
        "tantivy"
    }

    fn put(&mut self, entries: &[Entry], _vectors: &Embeddings) -> Result<(), IndexError> {
        self.writer.write(entries)
    }

    fn remove(&mut self, document: &str, _points: &[Uuid]) -> Result<(), IndexError> {
        self.writer.delete(document);
        Ok(())
    }

    fn commit(&mut self, sequence: u64) -> Result<(), IndexError> {
        let mut prepared = self.writer.tantivy().prepare_commit()?;
        prepared.set_payload(&sequence.to_string());
        prepared.commit()?;
        Ok(())
    }
}
