use std::collections::VecDeque;
use std::sync::Arc;

use pericope_api::{Chunk, Document, Heading, SentenceEncoder};
use pericope_store::{ChunkEntry, ChunkId, Embedding, Encoded, LanguageChoice, StoreError, prepare};
use serde::{Deserialize, Serialize};

use crate::embed::{Embedder, is_full};

/// A chunk as a point of a vector index.
#[derive(Debug, Clone, PartialEq)]
pub struct ChunkPoint {
    /// The same for the same document, range and text in every run: writing it again overwrites it.
    pub id: ChunkId,
    /// The vector that the encoder made of the chunk, L2 norm 1.
    pub vector: Vec<f32>,
    /// The payload that is stored beside it.
    pub payload: ChunkPayload,
}

/// The payload beside a vector: where the chunk is from, and its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChunkPayload {
    /// Id of the document.
    pub document: String,
    /// Place among the document's chunks, from 0.
    pub ordinal: u64,
    /// First byte in the document's source.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Headings above, outermost first.
    pub heading_path: Vec<Heading>,
    /// Name of the place on the page, where the format has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// `md`, `html`, `txt`.
    pub file_type: String,
    /// Title of the document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The chunk: exactly the source under `start..end`. Nothing in an index whose texts are kept elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Tokens of the text.
    pub tokens: u64,
    /// XXH3 (128 bits, 32 hexadecimal digits) of what the encoder read: points with the same one have the same vector.
    pub hash: String,
}

impl ChunkPayload {
    /// All of a chunk.
    #[must_use]
    pub fn new(entry: &ChunkEntry) -> Self {
        Self { title: entry.chunk.title.clone(), text: Some(entry.chunk.text.clone()), ..Self::of_place(entry) }
    }

    /// Where a chunk is, without its text.
    pub(crate) fn of_place(ChunkEntry { chunk, encoded, .. }: &ChunkEntry) -> Self {
        Self {
            document: chunk.document.clone(),
            ordinal: chunk.ordinal as u64,
            start: chunk.start as u64,
            end: chunk.end as u64,
            heading_path: chunk.heading_path.clone(),
            anchor: chunk.anchor.clone(),
            file_type: chunk.file_type.clone(),
            title: None,
            text: None,
            tokens: chunk.tokens as u64,
            hash: encoded.map_or_else(String::new, |hash| format!("{hash:032x}")),
        }
    }
}

/// The points of documents and their chunks, in order: texts are embedded in large batches as the points are asked for,
/// so that any number of documents can be streamed to a client.
///
/// ```
/// # use std::sync::Arc;
/// # use pericope_api::{Chunk, Document, Embeddings, EncodeError, SentenceEncoder};
/// use pericope_index::plugin::chunk_points;
/// # struct Length;
/// # impl SentenceEncoder for Length {
/// #     fn name(&self) -> &str { "length" }
/// #     fn fingerprint(&self) -> String { "1".into() }
/// #     fn dimension(&self) -> usize { 2 }
/// #     fn max_tokens(&self) -> usize { 512 }
/// #     fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
/// #         Ok(Embeddings::new(2, texts.iter().flat_map(|t| [(t.len() as f32).cos(), (t.len() as f32).sin()]).collect()))
/// #     }
/// # }
/// # let encoder = Arc::new(Length);
///
/// let document = Document::from_sentences("tides.md", &["The moon pulls.", "The sea follows."]);
/// let whole = Chunk {
///     document: document.id.clone(),
///     ordinal: 0,
///     span: document.span_of(0..2),
///     heading_path: vec!["Tides".into()],
///     tokens: 6,
///     hash: 0,
///     context: None,
/// };
/// for point in chunk_points([(document, vec![whole])], encoder) {
///     let point = point?;
///     // `upsert(point.id, point.vector, serde_json::to_value(point.payload)?)` of any client
///     assert_eq!((point.payload.start, point.payload.end), (0, 32));
///     assert_eq!(serde_json::to_value(&point.payload)?["heading_path"][0], "Tides");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn chunk_points<I>(documents: I, encoder: Arc<dyn SentenceEncoder>) -> ChunkPoints<I::IntoIter>
where
    I: IntoIterator<Item = (Document, Vec<Chunk>)>,
{
    ChunkPoints {
        documents: documents.into_iter(),
        embedding: Embedding {
            encoder: Arc::clone(&encoder),
            prefix_headings: false,
            late_chunking: false,
            tokenizer: String::new(),
        },
        embedder: Embedder { encoder, caches: Vec::new() },
        ready: VecDeque::new(),
    }
}

/// See [`chunk_points`].
pub struct ChunkPoints<I> {
    documents: I,
    embedding: Embedding,
    embedder: Embedder,
    ready: VecDeque<Result<ChunkPoint, StoreError>>,
}

impl<I> ChunkPoints<I> {
    /// The encoder reads the heading path in front of the text (`A > B`, a blank line, the text).
    #[must_use]
    pub fn with_heading_prefix(mut self, on: bool) -> Self {
        self.embedding.prefix_headings = on;
        self
    }

    /// The encoder reads every chunk within its document ([`SentenceEncoder::encode_spans`]). It does not go with heading
    /// prefixes: every document is an error then.
    #[must_use]
    pub fn with_late_chunking(mut self, on: bool) -> Self {
        self.embedding.late_chunking = on;
        self
    }
}

impl<I: Iterator<Item = (Document, Vec<Chunk>)>> ChunkPoints<I> {
    /// Fills `ready` with the next batch. A document whose chunks do not fit it takes its place as an error.
    fn next_batch(&mut self) {
        let (mut batch, mut bytes, mut failed) = (Vec::new(), 0, None);
        while !is_full(batch.len(), bytes) && failed.is_none() {
            let Some((document, chunks)) = self.documents.next() else { break };
            match prepare(&document, &chunks, Some(&self.embedding), LanguageChoice::Auto) {
                Ok(prepared) => {
                    bytes += prepared.iter().map(|p| p.encoded.as_str().len()).sum::<usize>();
                    batch.extend(prepared);
                }
                Err(error) => failed = Some(error),
            }
        }
        let texts: Vec<(u128, &Encoded)> = batch.iter().map(|p| (p.entry.encoded.unwrap_or(0), &p.encoded)).collect();
        match self.embedder.embed(&texts) {
            Ok((vectors, _)) => {
                let points = batch.iter().zip(vectors.rows()).map(|(prepared, vector)| {
                    let payload = ChunkPayload::new(&prepared.entry);
                    Ok(ChunkPoint { id: prepared.entry.id, vector: vector.to_vec(), payload })
                });
                self.ready.extend(points);
            }
            Err(error) => self.ready.push_back(Err(error)),
        }
        self.ready.extend(failed.map(Err));
    }
}

impl<I: Iterator<Item = (Document, Vec<Chunk>)>> Iterator for ChunkPoints<I> {
    type Item = Result<ChunkPoint, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ready.is_empty() {
            self.next_batch();
        }
        self.ready.pop_front()
    }
}
