//! What the tools answer with, as structured content. The comments here are what agents read.

use pericope::api::Span;
use pericope::store::{self, Places};
use rmcp::schemars::{self, JsonSchema};
use serde::Serialize;

use crate::service::{ChunkAnswer, DocumentAnswer, DocumentEntry, HitAnswer, LeftOut};

/// The answer of `search`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SearchOutput {
    /// The query as it was given.
    pub query: String,
    /// How it was ranked: bm25, dense or hybrid.
    pub mode: String,
    /// The reranker that ordered the passages anew, where there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<String>,
    /// The index that was searched.
    pub index: String,
    /// Tokens of all passages together.
    pub tokens: usize,
    /// Passages that were found and did not fit `budget`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOutOutput>,
    /// The passages, best first.
    pub hits: Vec<Passage>,
}

/// Passages that a budget of tokens leaves out.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LeftOutOutput {
    /// Their number.
    pub hits: usize,
    /// The tokens of the shortest of them.
    pub least_tokens: usize,
}

impl From<LeftOut> for LeftOutOutput {
    fn from(LeftOut { hits, least_tokens }: LeftOut) -> Self {
        Self { hits, least_tokens }
    }
}

/// A passage of a document.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Passage {
    /// The id of the passage; `fetch` takes it.
    pub id: String,
    /// The title of the document, or its id where it has none.
    pub title: String,
    /// The id of the document: its path. `read` takes it.
    pub document: String,
    /// The address of the place, where addresses are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// First and last line in the document's source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<[usize; 2]>,
    /// The first byte in the document's source.
    pub start: usize,
    /// One past the last byte in the document's source.
    pub end: usize,
    /// The headings above the passage, outermost first.
    pub heading_path: Vec<String>,
    /// The number of tokens.
    pub tokens: usize,
    /// Higher is better; comparable within one answer only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The piece of the text that shows most of the query's words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snippet: Option<String>,
    /// The text.
    pub text: String,
}

impl From<HitAnswer> for Passage {
    fn from(hit: HitAnswer) -> Self {
        Self {
            id: hit.id.to_string(),
            title: hit.title.unwrap_or_else(|| hit.document.clone()),
            document: hit.document,
            url: hit.url,
            lines: hit.lines,
            start: hit.start,
            end: hit.end,
            heading_path: hit.heading_path,
            tokens: hit.tokens,
            score: hit.score,
            snippet: hit.snippet,
            text: hit.text,
        }
    }
}

/// The answer of `fetch` and of `read`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TextOutput {
    /// The id that was asked for.
    pub id: String,
    /// The title of the document, or its id where it has none.
    pub title: String,
    /// The id of the document: its path.
    pub document: String,
    /// The address of the place, where addresses are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// First and last line of the text in the document's source, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<[usize; 2]>,
    /// The first byte of the text in the document's source.
    pub start: usize,
    /// One past the last byte of the text in the document's source.
    pub end: usize,
    /// The headings above the text, outermost first; empty for a document.
    pub heading_path: Vec<String>,
    /// The text, with the passages before and after it where they were asked for.
    pub text: String,
    /// The id of the passage before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<String>,
    /// The id of the passage after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// Where the text was cut off since it is long, the byte to go on from: `read` with this `start`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub more_from: Option<usize>,
    /// Where the bytes of the text stand in the source.
    #[serde(skip)]
    pub places: Places,
}

impl From<ChunkAnswer> for TextOutput {
    fn from(ChunkAnswer { chunk, previous, next, passage }: ChunkAnswer) -> Self {
        // With its neighbours the text is longer than the chunk, whose lines are then not those of the text.
        let lines = passage.lines(Span::new(0, passage.text.trim_end().len()));
        let store::Passage { start, end, text, places } = passage;
        Self {
            id: chunk.id.to_string(),
            title: chunk.title.unwrap_or_else(|| chunk.document.clone()),
            document: chunk.document,
            url: chunk.url,
            lines,
            start,
            end,
            heading_path: chunk.heading_path,
            text,
            previous: previous.map(|id| id.to_string()),
            next: next.map(|id| id.to_string()),
            more_from: None,
            places,
        }
    }
}

impl From<DocumentAnswer> for TextOutput {
    fn from(document: DocumentAnswer) -> Self {
        Self {
            id: document.document.clone(),
            title: document.title.unwrap_or_else(|| document.document.clone()),
            document: document.document,
            url: document.url,
            lines: document.lines,
            start: document.start,
            end: document.end,
            heading_path: Vec::new(),
            text: document.text,
            previous: None,
            next: None,
            more_from: None,
            places: document.places,
        }
    }
}

/// The answer of `list`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ListOutput {
    /// The documents, by their ids.
    pub documents: Vec<Listed>,
    /// `after` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A document.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Listed {
    /// The id: its path.
    pub id: String,
    /// The title, or the id where it has none.
    pub title: String,
    /// The address, where addresses are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The type of the file: md, html, txt.
    #[serde(rename = "type")]
    pub file_type: String,
    /// The number of passages.
    pub passages: u64,
    /// The number of tokens, where the index knows it without reading the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
}

impl From<DocumentEntry> for Listed {
    fn from(entry: DocumentEntry) -> Self {
        Self {
            title: entry.title.unwrap_or_else(|| entry.id.clone()),
            id: entry.id,
            url: entry.url,
            file_type: entry.file_type,
            passages: entry.chunks,
            tokens: entry.tokens,
        }
    }
}

/// The answer of `status`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StatusOutput {
    /// The indexes; the first is taken where a call names none.
    pub indexes: Vec<IndexStatus>,
    /// The rerankers that `search` takes; the first is taken where a call names none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rerankers: Vec<String>,
    /// The version of the program.
    pub version: String,
}

/// An index.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct IndexStatus {
    /// The name that calls use.
    pub name: String,
    /// The number of documents.
    pub documents: u64,
    /// The number of passages.
    pub passages: u64,
    /// The ways to rank: bm25, dense, hybrid.
    pub modes: Vec<String>,
    /// When it was written last (RFC 3339).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written: Option<String>,
    /// Seconds since then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub age_seconds: Option<u64>,
    /// What changed since then; absent where that cannot be seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stale: Option<StaleFiles>,
}

/// Files that are not as the index has them. New files are not among them.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct StaleFiles {
    /// The number of files that changed.
    pub changed: u64,
    /// The number of files that are gone.
    pub gone: u64,
    /// Some of them by name.
    pub names: Vec<String>,
}
