use std::path::{Path, PathBuf};

use pericope_api::Embeddings;
use tantivy::directory::MmapDirectory;
use tantivy::indexer::LogMergePolicy;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::{
    DocAddress, DocSet, Index, IndexReader, IndexWriter, ReloadPolicy, Searcher, TERMINATED, TantivyDocument, Term,
};
use uuid::Uuid;

use super::Sink;
use crate::analyzer::{TEXT_ANALYZER, text_analyzer};
use crate::{Entry, IndexError};

/// Memory of all indexing threads together before they write a segment.
const HEAP_BYTES: usize = 80 << 20;
const MAX_THREADS: usize = 4;

/// The fields of the schema. The order of `Fields::schema` is part of the format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub document: Field,
    pub ordinal: Field,
    pub start: Field,
    pub end: Field,
    pub heading_path: Field,
    pub title: Field,
    pub text: Field,
    pub tokens: Field,
    /// The upper 64 bits of the point id, by which a vector's chunk is found, and the lower 64, which confirm it.
    pub point_high: Field,
    pub point_low: Field,
}

impl Fields {
    fn schema() -> (Schema, Self) {
        let mut builder = Schema::builder();
        let words = TextFieldIndexing::default()
            .set_tokenizer(TEXT_ANALYZER)
            .set_index_option(IndexRecordOption::WithFreqsAndPositions);
        let words = TextOptions::default().set_indexing_options(words).set_stored();
        let fields = Self {
            document: builder.add_text_field("doc_id", STRING | STORED | FAST),
            ordinal: builder.add_u64_field("ordinal", STORED | FAST),
            start: builder.add_u64_field("start", STORED | FAST),
            end: builder.add_u64_field("end", STORED | FAST),
            heading_path: builder.add_text_field("heading_path", words.clone()),
            title: builder.add_text_field("title", words.clone()),
            text: builder.add_text_field("text", words),
            tokens: builder.add_u64_field("tokens", STORED | FAST),
            point_high: builder.add_u64_field("point_high", INDEXED | FAST),
            point_low: builder.add_u64_field("point_low", FAST),
        };
        (builder.build(), fields)
    }
}

/// The full-text index as readers see it: at its last commit.
pub(crate) struct TextIndex {
    pub path: PathBuf,
    pub fields: Fields,
    index: Index,
    reader: IndexReader,
}

impl TextIndex {
    /// Opens the index in `path`, or makes it.
    pub fn open_or_create(path: &Path) -> Result<Self, IndexError> {
        std::fs::create_dir_all(path).map_err(IndexError::io(path))?;
        let (schema, fields) = Fields::schema();
        let directory = MmapDirectory::open(path).map_err(|e| IndexError::corrupt(path, e.to_string()))?;
        let index = Index::open_or_create(directory, schema).map_err(|e| Self::unreadable(path, &e))?;
        Self::over(path, index, fields)
    }

    /// Opens the index in `path`, which must be there.
    pub fn open(path: &Path) -> Result<Self, IndexError> {
        let (schema, fields) = Fields::schema();
        let index = Index::open_in_dir(path).map_err(|e| Self::unreadable(path, &e))?;
        if index.schema() != schema {
            return Err(IndexError::corrupt(path, "its schema is not Pericope's"));
        }
        Self::over(path, index, fields)
    }

    fn over(path: &Path, index: Index, fields: Fields) -> Result<Self, IndexError> {
        index.tokenizers().register(TEXT_ANALYZER, text_analyzer());
        let reader = index
            .reader_builder()
            .reload_policy(ReloadPolicy::Manual)
            .try_into()
            .map_err(|e| Self::unreadable(path, &e))?;
        Ok(Self { path: path.to_owned(), fields, index, reader })
    }

    fn unreadable(path: &Path, error: &tantivy::TantivyError) -> IndexError {
        // The engine's messages may run over several lines; ours do not.
        let reason = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        IndexError::corrupt(path, reason)
    }

    pub fn searcher(&self) -> Searcher {
        self.reader.searcher()
    }

    /// Looks at the newest commit from now on.
    pub fn reload(&self) -> Result<(), IndexError> {
        Ok(self.reader.reload()?)
    }

    /// The number that the last commit carries; 0 before the first.
    pub fn sequence(&self) -> Result<u64, IndexError> {
        let payload = self.index.load_metas()?.payload;
        Ok(payload.and_then(|p| p.parse().ok()).unwrap_or(0))
    }

    /// Number of documents: of chunks that are their document's first.
    pub fn documents(&self) -> Result<u64, IndexError> {
        let mut documents = 0;
        for segment in self.searcher().segment_readers() {
            let ordinals = segment.fast_fields().u64("ordinal")?;
            documents += segment.doc_ids_alive().filter(|&doc| ordinals.first(doc) == Some(0)).count() as u64;
        }
        Ok(documents)
    }

    /// The ids of the documents, sorted.
    pub fn document_ids(&self) -> Result<Vec<String>, IndexError> {
        let mut ids = Vec::new();
        for segment in self.searcher().segment_readers() {
            let fast = segment.fast_fields();
            let (ordinals, Some(column)) = (fast.u64("ordinal")?, fast.str("doc_id")?) else { continue };
            for doc in segment.doc_ids_alive().filter(|&doc| ordinals.first(doc) == Some(0)) {
                for ord in column.term_ords(doc) {
                    let mut id = String::new();
                    column.ord_to_str(ord, &mut id).map_err(tantivy::TantivyError::from)?;
                    ids.push(id);
                }
            }
        }
        ids.sort_unstable();
        Ok(ids)
    }

    /// Number of chunks.
    pub fn chunks(&self) -> u64 {
        self.searcher().num_docs()
    }

    /// The ids of a document's chunks.
    pub fn points_of(&self, searcher: &Searcher, document: &str) -> Result<Vec<Uuid>, IndexError> {
        let mut points = Vec::new();
        if searcher.num_docs() == 0 {
            return Ok(points);
        }
        let term = Term::from_field_text(self.fields.document, document);
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.document)?;
            let Some(mut postings) =
                inverted.read_postings(&term, IndexRecordOption::Basic).map_err(IndexError::io(&self.path))?
            else {
                continue;
            };
            let (high, low) = (segment.fast_fields().u64("point_high")?, segment.fast_fields().u64("point_low")?);
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                if segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                    let (high, low) = (high.first(doc).unwrap_or(0), low.first(doc).unwrap_or(0));
                    points.push(Uuid::from_u64_pair(high, low));
                }
                postings.advance();
            }
        }
        Ok(points)
    }

    /// The ids of all chunks.
    pub fn all_points(&self) -> Result<std::collections::HashSet<Uuid>, IndexError> {
        let searcher = self.searcher();
        let mut points = std::collections::HashSet::with_capacity(usize::try_from(searcher.num_docs()).unwrap_or(0));
        for segment in searcher.segment_readers() {
            let (high, low) = (segment.fast_fields().u64("point_high")?, segment.fast_fields().u64("point_low")?);
            for doc in segment.doc_ids_alive() {
                points.insert(Uuid::from_u64_pair(high.first(doc).unwrap_or(0), low.first(doc).unwrap_or(0)));
            }
        }
        Ok(points)
    }

    /// Where the chunk with this point id is.
    pub fn address_of(&self, searcher: &Searcher, point: Uuid) -> Result<Option<DocAddress>, IndexError> {
        let (wanted_high, wanted_low) = point.as_u64_pair();
        let term = Term::from_field_u64(self.fields.point_high, wanted_high);
        for (ord, segment) in (0..).zip(searcher.segment_readers()) {
            let inverted = segment.inverted_index(self.fields.point_high)?;
            let Some(mut postings) =
                inverted.read_postings(&term, IndexRecordOption::Basic).map_err(IndexError::io(&self.path))?
            else {
                continue;
            };
            let low = segment.fast_fields().u64("point_low")?;
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                if low.first(doc) == Some(wanted_low) && segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc))
                {
                    return Ok(Some(DocAddress::new(ord, doc)));
                }
                postings.advance();
            }
        }
        Ok(None)
    }

    /// In how many chunks a term occurs.
    pub fn frequency(&self, searcher: &Searcher, term: &Term) -> u64 {
        searcher.doc_freq(term).unwrap_or(0)
    }
}

/// The full-text sink: one tantivy document a chunk.
pub struct TantivySink {
    writer: IndexWriter,
    fields: Fields,
}

impl TantivySink {
    /// Takes the writer of an index. The directory can have one at a time.
    pub(crate) fn new(text: &TextIndex) -> Result<Self, IndexError> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        let writer: IndexWriter = text.index.writer_with_num_threads(threads, HEAP_BYTES)?;
        let mut policy = LogMergePolicy::default();
        // By default deletes never cause a merge, and an index that is written again and again only grows.
        policy.set_del_docs_ratio_before_merge(0.2);
        writer.set_merge_policy(Box::new(policy));
        Ok(Self { writer, fields: text.fields })
    }

    /// Waits for the merges that are under way.
    pub(crate) fn finish(self) -> Result<(), IndexError> {
        Ok(self.writer.wait_merging_threads()?)
    }
}

impl Sink for TantivySink {
    fn name(&self) -> &'static str {
        "tantivy"
    }

    fn put(&mut self, entries: &[Entry], _vectors: &Embeddings) -> Result<(), IndexError> {
        let fields = self.fields;
        for entry in entries {
            let mut document = TantivyDocument::default();
            document.add_text(fields.document, &entry.document);
            document.add_u64(fields.ordinal, entry.ordinal);
            document.add_u64(fields.start, entry.span.start as u64);
            document.add_u64(fields.end, entry.span.end as u64);
            for heading in &entry.heading_path {
                document.add_text(fields.heading_path, heading);
            }
            if let Some(title) = &entry.title {
                document.add_text(fields.title, title);
            }
            document.add_text(fields.text, &entry.text);
            document.add_u64(fields.tokens, entry.tokens);
            let (high, low) = entry.id.as_u64_pair();
            document.add_u64(fields.point_high, high);
            document.add_u64(fields.point_low, low);
            self.writer.add_document(document)?;
        }
        Ok(())
    }

    fn remove(&mut self, document: &str, _points: &[Uuid]) -> Result<(), IndexError> {
        self.writer.delete_term(Term::from_field_text(self.fields.document, document));
        Ok(())
    }

    fn commit(&mut self, sequence: u64) -> Result<(), IndexError> {
        let mut prepared = self.writer.prepare_commit()?;
        prepared.set_payload(&sequence.to_string());
        prepared.commit()?;
        Ok(())
    }
}
