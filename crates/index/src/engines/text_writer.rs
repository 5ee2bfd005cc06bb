use pericope_store::ChunkEntry;
use tantivy::indexer::LogMergePolicy;
use tantivy::{IndexWriter, TantivyDocument, TantivyError, Term};
use uuid::Uuid;

use super::failures::Failures;
use super::fields::Fields;
use super::text_index::{Committed, TextIndex};
use crate::IndexError;
use crate::analyzer::hinted;

/// Memory of all indexing threads together before they write a segment.
const HEAP_BYTES: usize = 80 << 20;
const MAX_THREADS: usize = 4;

/// Writes one tantivy document a chunk. What is staged is durable once `commit` has returned.
pub(crate) struct TextWriter {
    writer: IndexWriter,
    fields: Fields,
    failures: Failures,
}

impl TextWriter {
    /// Takes the writer of an index. The directory can have one at a time.
    pub fn new(text: &TextIndex) -> Result<Self, IndexError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let writer = text.writer(threads, HEAP_BYTES)?;
        let mut policy = LogMergePolicy::default();
        // By default deletes never cause a merge, and an index that is written again and again only grows.
        policy.set_del_docs_ratio_before_merge(0.2);
        writer.set_merge_policy(Box::new(policy));
        no_operation(&writer)?;
        // A writer that was stopped within a commit leaves files that the next commit would give the same names (those of
        // deletions are called by a count), and tantivy overwrites none.
        writer.garbage_collect_files().wait()?;
        Ok(Self { writer, fields: text.fields, failures: text.failures.clone() })
    }

    /// Stages chunks. `provenance` is kept with the document's first chunk.
    pub fn put(&mut self, entries: &[ChunkEntry], provenance: Option<&str>) -> Result<(), IndexError> {
        for entry in entries {
            let mut document = stored(&self.fields, entry);
            if let Some(provenance) = provenance.filter(|_| entry.chunk.ordinal == 0) {
                document.add_text(self.fields.provenance, provenance);
            }
            self.writer.add_document(document).map_err(|error| self.told(error))?;
        }
        Ok(())
    }

    /// Stages the removal of all chunks of a document.
    pub fn remove(&mut self, document: &str) {
        self.writer.delete_term(Term::from_field_text(self.fields.document, document));
    }

    /// Commits under a number that counts the commits of the whole index, together with its vectors.
    pub fn commit(&mut self, committed: Committed) -> Result<(), IndexError> {
        let commit = |writer: &mut IndexWriter| {
            let mut prepared = writer.prepare_commit()?;
            prepared.set_payload(&committed.payload());
            prepared.commit()
        };
        commit(&mut self.writer).map(drop).map_err(|error| self.told(error))
    }

    /// Waits for the merges that are under way.
    pub fn finish(self) -> Result<(), IndexError> {
        let failures = self.failures.clone();
        self.writer.wait_merging_threads().map_err(|error| why(&failures, error))
    }

    fn told(&self, error: TantivyError) -> IndexError {
        why(&self.failures, error)
    }
}

/// Takes the number of the next operation for none at all, in a writer that has just been opened.
///
/// tantivy 0.26 gives the first operation of a new writer the number of the last commit. A merge then takes a deletion of
/// that number for done in a segment that the commit changed, and for open in the others, and goes on behind it for all:
/// the deletion is lost.
pub(crate) fn no_operation(writer: &IndexWriter) -> Result<(), TantivyError> {
    writer.run(None).map(drop)
}

/// The engine says of a thread that ended only that it did: then the write that failed is what happened.
fn why(failures: &Failures, error: TantivyError) -> IndexError {
    match error {
        TantivyError::ErrorInThread(_) => failures.first().unwrap_or(IndexError::Text(error)),
        error => IndexError::Text(error),
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
    // What is read for its words stands behind its language.
    let worded = |text: &str| -> String {
        match fields.language {
            Some(_) => hinted(text, chunk.language),
            None => text.to_owned(),
        }
    };
    if let Some(field) = fields.language {
        document.add_text(field, chunk.language.code());
    }
    for heading in &chunk.heading_path {
        document.add_text(fields.heading_path, worded(heading.as_str()));
    }
    if let Some(field) = fields.headings_within {
        for heading in &entry.headings {
            document.add_text(field, worded(heading.as_str()));
        }
    }
    if let Some(title) = &chunk.title {
        document.add_text(fields.title, worded(title));
    }
    let optional = [
        (fields.anchor, chunk.anchor.as_deref()),
        (fields.leading, Some(chunk.leading.as_str()).filter(|leading| !leading.is_empty())),
    ];
    for (field, text) in optional {
        if let Some(text) = text {
            document.add_text(field, text);
        }
    }
    document.add_text(fields.file_type, &chunk.file_type);
    let (text, context) = (worded(&chunk.text), chunk.context.as_deref().map(worded));
    document.add_text(fields.text, &text);
    // The second value of the field: found by its words as the text is, and no part of it.
    if let Some(context) = &context {
        document.add_text(fields.text, context);
    }
    if let Some(field) = fields.words {
        // Each is a value of its own: no phrase goes over from one into the next.
        match entry.searched.as_slice() {
            [] => document.add_text(field, &text),
            texts => texts.iter().for_each(|text| document.add_text(field, worded(text))),
        }
        if let Some(context) = &context {
            document.add_text(field, context);
        }
    }
    document.add_u64(fields.tokens, chunk.tokens as u64);
    if let (Some(fields), Some(begins)) = (fields.begins, chunk.begins) {
        for (field, number) in fields.into_iter().zip([begins.line, begins.char]) {
            document.add_u64(field, number as u64);
        }
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_store::LanguageChoice;
    use pericope_testkit::documents::{made_up, sentence_chunks};

    use super::*;

    fn entries(document: &str) -> Vec<ChunkEntry> {
        let document = made_up(document, 1, 3);
        let prepared =
            pericope_store::prepare(&document, &sentence_chunks(&document), None, LanguageChoice::Auto).unwrap();
        prepared.into_iter().map(|one| one.entry).collect()
    }

    fn commit(writer: &mut TextWriter, sequence: u64) {
        writer.commit(Committed { sequence, vectors: None }).unwrap();
    }

    /// A segment changed by the last commit and one that was not are merged while the first deletion of a new writer waits.
    #[test]
    fn a_merge_beside_the_first_deletion_loses_nothing() {
        for changed_first in [false, true] {
            let dir = tempfile::tempdir().unwrap();
            let text = TextIndex::open_or_create(dir.path(), crate::TEXT_ANALYZER).unwrap();
            let mut writer = TextWriter::new(&text).unwrap();
            for (sequence, range) in [(1, 0..10), (2, 10..20)] {
                writer.put(&range.flat_map(|i| entries(&format!("d{i}"))).collect::<Vec<_>>(), None).unwrap();
                commit(&mut writer, sequence);
            }
            writer.remove("d1");
            commit(&mut writer, 3);
            drop(writer);

            let mut writer = TextWriter::new(&text).unwrap();
            writer.remove("d2");
            writer.remove("d12");
            let mut segments = writer.writer.index().searchable_segment_metas().unwrap();
            segments.sort_by_key(|segment| segment.has_deletes() != changed_first);
            let ids: Vec<_> = segments.iter().map(tantivy::SegmentMeta::id).collect();
            writer.writer.merge(&ids).wait().unwrap();
            commit(&mut writer, 4);
            writer.finish().unwrap();
            text.reload().unwrap();
            let left = text.document_ids(&text.searcher()).unwrap();
            assert_eq!(left.len(), 17, "{left:?}");
        }
    }
}
