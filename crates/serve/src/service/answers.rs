use pericope::store::{Passage, Places};
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Mode;

/// A chunk that was found. Title and anchor are null where there is none, as `pericope search --json` has them; other fields
/// that are unknown are absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, ToSchema)]
pub struct HitAnswer {
    /// The place in the answer, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<usize>,
    /// Comparable within one answer only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The id of the chunk.
    pub id: Uuid,
    /// The id of the document.
    pub document: String,
    /// The beginning in the document's source.
    pub start: usize,
    /// The end in the document's source.
    pub end: usize,
    /// First and last line in the source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<[usize; 2]>,
    /// The headings above the chunk, outermost first.
    pub heading_path: Vec<String>,
    /// The source under `start..end`.
    pub text: String,
    /// The title of the document.
    #[schema(required = true)]
    pub title: Option<String>,
    /// The name of the place on the page where the chunk begins.
    #[schema(required = true)]
    pub anchor: Option<String>,
    /// The type of the file.
    #[serde(rename = "type")]
    pub file_type: String,
    /// The number of the chunk among the document's chunks, from 0.
    pub ordinal: usize,
    /// The number of tokens in the text.
    pub tokens: usize,
    /// The piece of the text that shows most of the query's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// The query's words in the text: beginnings and ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highlights: Option<Vec<[usize; 2]>>,
    /// The chunk with its neighbours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextPart>,
    /// Of an expanded hit the ids of its chunks, in the order of the document; `id` and `ordinal` are those of its best one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chunks: Option<Vec<Uuid>>,
    /// The address of the place, where the service knows addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// A piece of a document's source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ContextPart {
    /// The beginning in the document's source.
    pub start: usize,
    /// The end in the document's source.
    pub end: usize,
    /// The source under `start..end`. A blank line stands for text that is in no chunk.
    pub text: String,
}

impl From<Passage> for ContextPart {
    fn from(Passage { start, end, text, .. }: Passage) -> Self {
        Self { start, end, text }
    }
}

/// The hits of one document.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct HitGroup {
    /// The id of the document.
    pub document: String,
    /// The title of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The score of the best hit.
    pub score: f64,
    /// The hits, best first.
    pub hits: Vec<HitAnswer>,
}

/// The answer to a search.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SearchAnswer {
    /// The query as it was given.
    pub query: String,
    /// The way in which was searched.
    pub mode: Mode,
    /// The name of the reranker whose order and scores these are, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<String>,
    /// The hits, best first.
    pub hits: Vec<HitAnswer>,
    /// The hits by their documents, where `group` asked for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<Vec<HitGroup>>,
    /// The name of the index.
    pub index: String,
    /// Tokens of all hits together, context included.
    pub tokens: usize,
    /// What was found and did not fit `budget`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOut>,
    /// Milliseconds that the search took.
    pub took_ms: f64,
}

/// Hits that a budget of tokens leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
pub struct LeftOut {
    /// Their number.
    pub hits: usize,
    /// The tokens of the shortest of them.
    pub least_tokens: usize,
}

/// A document in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DocumentEntry {
    /// The id.
    pub id: String,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The type of the file.
    #[serde(rename = "type")]
    pub file_type: String,
    /// The number of chunks.
    pub chunks: u64,
    /// The number of tokens of its chunks; absent where the store would have to read all of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// The address, where the service knows addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
}

/// Documents by their ids.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DocumentsAnswer {
    /// The documents, ordered by their ids.
    pub documents: Vec<DocumentEntry>,
    /// What `after` takes to go on; absent at the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A chunk of a document, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct ChunkPart {
    /// The id of the chunk.
    pub id: Uuid,
    /// The number among the document's chunks, from 0.
    pub ordinal: usize,
    /// The first byte in the source.
    pub start: usize,
    /// One past the last byte in the source.
    pub end: usize,
    /// First and last line in the source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<[usize; 2]>,
    /// The number of tokens.
    pub tokens: usize,
    /// The headings above the chunk, outermost first.
    pub heading_path: Vec<String>,
    /// The name of the place on the page where the chunk begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
}

/// A document or a range of it, as the index has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct DocumentAnswer {
    /// The id.
    pub document: String,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The type of the file.
    #[serde(rename = "type")]
    pub file_type: String,
    /// The first byte of `text` in the source.
    pub start: usize,
    /// One past the last byte of `text` in the source.
    pub end: usize,
    /// First and last line of `text` in the source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<[usize; 2]>,
    /// The text of the range: that of the chunks. A blank line stands for text that is in no chunk.
    pub text: String,
    /// The chunks that the range touches.
    pub chunks: Vec<ChunkPart>,
    /// The address, where the service knows addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Where the bytes of `text` stand in the source.
    #[serde(skip)]
    pub places: Places,
}

/// A chunk with its neighbours.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ChunkAnswer {
    /// The chunk, without rank, score, snippet and highlights.
    #[serde(flatten)]
    pub chunk: HitAnswer,
    /// The id of the chunk before it in the document.
    pub previous: Option<Uuid>,
    /// The id of the chunk after it in the document.
    pub next: Option<Uuid>,
    /// The chunk with its neighbours as one text: the chunk alone where none were asked for.
    #[serde(skip)]
    pub passage: Passage,
}

/// An index of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct IndexEntry {
    /// The name that requests use.
    pub name: String,
    /// The number of documents.
    pub documents: u64,
    /// The number of chunks.
    pub chunks: u64,
    /// The spec of the segmenter that cut them.
    pub segmenter: String,
    /// The embedder of the vectors, or `none`.
    pub embedder: String,
    /// The tokenizer behind `tokens`.
    pub tokenizer: String,
    /// The ways in which it can be searched.
    pub modes: Vec<Mode>,
    /// The way in which it is searched where a request says nothing.
    pub default_mode: Mode,
    /// The number of the commit that is searched, where the store counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<u64>,
    /// The time of the last commit (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// The number of files that changed since, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<u64>,
}

/// The indexes of the service.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct IndexesAnswer {
    /// The indexes, the default one first.
    pub indexes: Vec<IndexEntry>,
    /// The rerankers that searches may name; the first one is taken where they name none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rerankers: Vec<String>,
    /// The version of the program.
    pub version: String,
}

/// What a refresh did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct RefreshAnswer {
    /// The name of the index.
    pub index: String,
    /// Whether a newer commit was opened.
    pub reopened: bool,
    /// Whether a pass over the files was ordered; it runs by itself.
    pub following: bool,
    /// The number of the commit that is searched now, where the store counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<u64>,
}
