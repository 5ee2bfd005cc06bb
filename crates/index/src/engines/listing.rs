//! The documents of a commit.

use std::collections::BTreeMap;

use pericope_store::DocumentSummary;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocAddress, DocSet, Searcher, SegmentReader, TERMINATED};
use uuid::Uuid;

use super::text_index::TextIndex;
use crate::IndexError;

/// What the chunks of a document in one segment say of it.
#[derive(Default)]
struct Found {
    chunks: u64,
    tokens: u64,
    first: Option<DocAddress>,
}

impl TextIndex {
    /// The documents whose ids begin with `prefix` and come after `after`, in the order of their ids, `limit` at most.
    pub fn list(
        &self,
        searcher: &Searcher,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<DocumentSummary>, IndexError> {
        let mut found: BTreeMap<String, Found> = BTreeMap::new();
        for (ord, segment) in (0..).zip(searcher.segment_readers()) {
            // A writer replaces all chunks of a document at once, so that they lie in few segments, mostly in one.
            for (id, more) in self.listed(segment, ord, (prefix, after, limit))? {
                let one = found.entry(id).or_default();
                one.chunks += more.chunks;
                one.tokens += more.tokens;
                one.first = one.first.or(more.first);
            }
        }
        let summary = |(id, found): (String, Found)| {
            let record = found.first.map(|address| self.record(searcher, address)).transpose()?.unwrap_or_default();
            let (title, file_type) = (record.title, record.file_type);
            Ok(DocumentSummary { id, title, file_type, chunks: found.chunks, tokens: Some(found.tokens) })
        };
        found.into_iter().take(limit).map(summary).collect()
    }

    /// The same of one segment: its first `limit` documents that have a chunk that was not deleted.
    fn listed(
        &self,
        segment: &SegmentReader,
        ord: u32,
        (prefix, after, limit): (&str, Option<&str>, usize),
    ) -> Result<BTreeMap<String, Found>, IndexError> {
        let failed = || IndexError::io(&self.path);
        let inverted = segment.inverted_index(self.fields.document)?;
        let fast = segment.fast_fields();
        let (tokens, ordinals) = (fast.u64("tokens")?, fast.u64("ordinal")?);
        let range = inverted.terms().range();
        let mut ids = match after {
            Some(after) if after >= prefix => range.gt(after.as_bytes()),
            _ => range.ge(prefix.as_bytes()),
        }
        .into_stream()
        .map_err(failed())?;
        let mut found = BTreeMap::new();
        while found.len() < limit && ids.advance() && ids.key().starts_with(prefix.as_bytes()) {
            let mut postings =
                inverted.read_postings_from_terminfo(ids.value(), IndexRecordOption::Basic).map_err(failed())?;
            let mut one = Found::default();
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                postings.advance();
                if segment.alive_bitset().is_some_and(|alive| !alive.is_alive(doc)) {
                    continue;
                }
                one.chunks += 1;
                one.tokens += tokens.first(doc).unwrap_or(0);
                if one.first.is_none() || ordinals.first(doc) == Some(0) {
                    one.first = Some(DocAddress::new(ord, doc));
                }
            }
            if one.chunks > 0 {
                found.insert(String::from_utf8_lossy(ids.key()).into_owned(), one);
            }
        }
        Ok(found)
    }

    /// The id of a chunk.
    pub fn point_of(&self, searcher: &Searcher, address: DocAddress) -> Result<Uuid, IndexError> {
        let fast = searcher.segment_reader(address.segment_ord).fast_fields();
        let half = |name| Ok::<_, IndexError>(fast.u64(name)?.first(address.doc_id).unwrap_or(0));
        Ok(Uuid::from_u64_pair(half("point_high")?, half("point_low")?))
    }
}
