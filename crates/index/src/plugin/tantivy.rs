use std::time::Instant;

use pericope_api::{Chunk, Document, Embeddings};
use pericope_store::{
    ChunkEntry, Destination, DestinationInfo, DocumentHeader, Finished, IndexStats, RunSummary, StoreError, prepare,
};
use tantivy::schema::Field;
use tantivy::{IndexWriter, TantivyDocument, Term};

use crate::IndexError;
use crate::engines::no_operation;

/// A tantivy writer that takes documents and writes their chunks.
///
/// The schema is the caller's. Two things are asked of it: a text field that is indexed as it stands (`STRING`) and holds
/// the id of the chunk's document, by which the chunks of a document are replaced; and a mapping from a chunk to a
/// tantivy document, which puts that id into the field ([`FieldMap`] does, for common schemas).
///
/// ```
/// use pericope_api::{Chunk, Document};
/// use pericope_index::plugin::{ChunkingIndexWriter, FieldMap};
/// use tantivy::schema::{FAST, STORED, STRING, Schema, TEXT};
///
/// let mut schema = Schema::builder();
/// let (path, body) = (schema.add_text_field("path", STRING | STORED), schema.add_text_field("body", TEXT | STORED));
/// let start = schema.add_u64_field("start", STORED | FAST);
/// let index = tantivy::Index::create_in_ram(schema.build());
///
/// let map = FieldMap::new(path, body).start(start);
/// let mut writer = ChunkingIndexWriter::new(index.writer(15_000_000)?, path, move |entry| map.document(entry));
/// // A real program asks a `Chunker` of `pericope-segment` for the chunks.
/// let chunk = |document: &Document| -> Vec<Chunk> {
///     let spans = document.sentences.iter().map(|s| s.span).enumerate();
///     let hash = Chunk::content_hash("");
///     spans.map(|(ordinal, span)| Chunk { document: document.id.clone(), ordinal, span, heading_path: vec![], tokens: 1, hash, context: None }).collect()
/// };
/// for text in [["One.", "Two.", "Three."].as_slice(), &["Two, changed.", "Three."]] {
///     let document = Document::from_sentences("numbers.md", text);
///     writer.add(&document, &chunk(&document))?;
/// }
/// writer.tantivy().commit()?;
/// assert_eq!(index.reader()?.searcher().num_docs(), 2, "the second version replaced the first");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ChunkingIndexWriter {
    writer: IndexWriter,
    document: Field,
    map: Box<dyn Fn(&ChunkEntry) -> TantivyDocument + Send + Sync>,
    about: DestinationInfo,
    stats: IndexStats,
    started: Instant,
}

impl ChunkingIndexWriter {
    /// Around a writer. `document` is the field that holds the id of a chunk's document, indexed as it stands; `map` makes
    /// a tantivy document of a chunk, that field included.
    pub fn new(
        writer: IndexWriter,
        document: Field,
        map: impl Fn(&ChunkEntry) -> TantivyDocument + Send + Sync + 'static,
    ) -> Self {
        let name = "a tantivy index".to_owned();
        let about = DestinationInfo { name, fingerprint: "-".to_owned(), ..DestinationInfo::default() };
        let (stats, started) = (IndexStats::default(), Instant::now());
        // Without operations nothing can fail.
        no_operation(&writer).ok();
        Self { writer, document, map: Box::new(map), about, stats, started }
    }

    /// Replaces all chunks of `document` by `chunks`; says how many were written. Nothing is committed.
    ///
    /// # Errors
    /// [`StoreError::BadChunk`] where a chunk does not fit the document: nothing is staged then. [`IndexError::Text`]
    /// where tantivy fails.
    pub fn add(&mut self, document: &Document, chunks: &[Chunk]) -> Result<usize, IndexError> {
        let prepared = prepare(document, chunks, None, self.about.language)?;
        let entries: Vec<ChunkEntry> = prepared.into_iter().map(|one| one.entry).collect();
        self.delete(&document.id);
        self.write(&entries)?;
        Ok(entries.len())
    }

    /// Removes all chunks of a document.
    pub fn delete(&mut self, document: &str) {
        self.writer.delete_term(Term::from_field_text(self.document, document));
    }

    /// Adds chunks without removing any.
    ///
    /// # Errors
    /// [`IndexError::Text`] where tantivy fails.
    pub fn write(&mut self, entries: &[ChunkEntry]) -> Result<(), IndexError> {
        for entry in entries {
            self.writer.add_document((self.map)(entry))?;
        }
        Ok(())
    }

    /// The writer inside: to commit, to roll back, to write documents of another kind.
    pub fn tantivy(&mut self) -> &mut IndexWriter {
        &mut self.writer
    }

    /// The writer, back.
    #[must_use]
    pub fn into_inner(self) -> IndexWriter {
        self.writer
    }
}

/// A pipeline may lead here, too: documents are segmented on all cores. Nothing is known of what was written before.
impl Destination for ChunkingIndexWriter {
    fn about(&self) -> &DestinationInfo {
        &self.about
    }

    fn put(&mut self, document: &DocumentHeader, chunks: Vec<ChunkEntry>, _: Embeddings) -> Result<(), StoreError> {
        self.delete(&document.id);
        self.write(&chunks)?;
        self.stats.documents_written += 1;
        self.stats.chunks_written += chunks.len() as u64;
        self.stats.bytes += document.bytes;
        Ok(())
    }

    fn remove(&mut self, document: &str) -> Result<bool, StoreError> {
        self.delete(document);
        self.stats.documents_removed += 1;
        Ok(true)
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.writer.commit().map_err(IndexError::from)?;
        Ok(())
    }

    /// Commits. Of the numbers those of this run are known alone.
    fn finish(mut self: Box<Self>, run: &RunSummary<'_>) -> Result<Finished, StoreError> {
        self.commit()?;
        let mut stats = IndexStats { seconds: self.started.elapsed().as_secs_f64(), ..self.stats };
        stats.add_embedding(run.embedded, run.truncated);
        Ok(Finished { stats, ..Finished::default() })
    }
}

/// The fields of a schema that take the parts of a chunk. A part without a field is left out.
#[derive(Debug, Clone, Copy)]
pub struct FieldMap {
    document: Field,
    text: Field,
    title: Option<Field>,
    heading_path: Option<Field>,
    anchor: Option<Field>,
    file_type: Option<Field>,
    id: Option<Field>,
    ordinal: Option<Field>,
    start: Option<Field>,
    end: Option<Field>,
    tokens: Option<Field>,
}

impl FieldMap {
    /// The text field for the document's id (`STRING`), and the one for the chunk's text.
    #[must_use]
    pub fn new(document: Field, text: Field) -> Self {
        Self {
            document,
            text,
            title: None,
            heading_path: None,
            anchor: None,
            file_type: None,
            id: None,
            ordinal: None,
            start: None,
            end: None,
            tokens: None,
        }
    }

    /// A text field for the document's title.
    #[must_use]
    pub fn title(self, field: Field) -> Self {
        Self { title: Some(field), ..self }
    }

    /// A text field that gets one value a heading, the outermost first.
    #[must_use]
    pub fn heading_path(self, field: Field) -> Self {
        Self { heading_path: Some(field), ..self }
    }

    /// A text field for the anchor of the place where the chunk begins.
    #[must_use]
    pub fn anchor(self, field: Field) -> Self {
        Self { anchor: Some(field), ..self }
    }

    /// A text field for the kind of file: `md`, `html`, `txt`.
    #[must_use]
    pub fn file_type(self, field: Field) -> Self {
        Self { file_type: Some(field), ..self }
    }

    /// A text field for the chunk's id, a UUID in its usual form: the same as in [`ChunkPoint`](super::ChunkPoint) where
    /// the points are of the same text.
    #[must_use]
    pub fn id(self, field: Field) -> Self {
        Self { id: Some(field), ..self }
    }

    /// A u64 field for the chunk's place among the document's chunks.
    #[must_use]
    pub fn ordinal(self, field: Field) -> Self {
        Self { ordinal: Some(field), ..self }
    }

    /// A u64 field for the first byte of the chunk in its source.
    #[must_use]
    pub fn start(self, field: Field) -> Self {
        Self { start: Some(field), ..self }
    }

    /// A u64 field for the end of the chunk in its source, one past its last byte.
    #[must_use]
    pub fn end(self, field: Field) -> Self {
        Self { end: Some(field), ..self }
    }

    /// A u64 field for the number of tokens.
    #[must_use]
    pub fn tokens(self, field: Field) -> Self {
        Self { tokens: Some(field), ..self }
    }

    /// The tantivy document of a chunk.
    #[must_use]
    pub fn document(&self, entry: &ChunkEntry) -> TantivyDocument {
        let mut document = TantivyDocument::default();
        let chunk = &entry.chunk;
        document.add_text(self.document, &chunk.document);
        document.add_text(self.text, &chunk.text);
        let id = self.id.map(|_| entry.id.to_string());
        let texts = [
            (self.title, chunk.title.as_deref()),
            (self.anchor, chunk.anchor.as_deref()),
            (self.file_type, Some(chunk.file_type.as_str())),
            (self.id, id.as_deref()),
        ];
        for (field, text) in texts {
            if let (Some(field), Some(text)) = (field, text) {
                document.add_text(field, text);
            }
        }
        if let Some(field) = self.heading_path {
            for heading in &chunk.heading_path {
                document.add_text(field, heading);
            }
        }
        let numbers = [
            (self.ordinal, chunk.ordinal),
            (self.start, chunk.start),
            (self.end, chunk.end),
            (self.tokens, chunk.tokens),
        ];
        for (field, number) in numbers {
            if let Some(field) = field {
                document.add_u64(field, number as u64);
            }
        }
        document
    }
}
