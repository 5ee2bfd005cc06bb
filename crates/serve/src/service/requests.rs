use pericope::store::{EXPAND_TOKENS, Expand, Mode};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use uuid::Uuid;

use super::Problem;

/// The unit of `start`, `end` and `highlights`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Offsets {
    /// Bytes of UTF-8.
    #[default]
    Bytes,
    /// Characters (Unicode scalar values).
    Chars,
}

/// `GET /v1/search`
#[derive(Debug, Clone, PartialEq, Deserialize, IntoParams, ToSchema)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchRequest {
    /// A question or some words; words in double quotes are a phrase.
    pub q: String,
    /// Number of hits, 1 to 100; with `group`, of documents.
    #[serde(default = "ten")]
    #[param(minimum = 1, maximum = 100, default = 10)]
    pub k: usize,
    /// By default `hybrid` where the index has vectors, else `bm25`.
    #[serde(default)]
    #[param(inline)]
    pub mode: Option<Mode>,
    /// Beginnings of document ids; at least one must fit. May be repeated.
    #[serde(default)]
    pub path: Vec<String>,
    /// Words of a heading above the chunk or in it; at least one entry must fit. May be repeated.
    #[serde(default)]
    pub heading: Vec<String>,
    /// Types of files (`md`, `html`); at least one must fit. May be repeated.
    #[serde(default, rename = "type")]
    #[param(rename = "type")]
    #[schema(rename = "type")]
    pub file_type: Vec<String>,
    /// Chunks before and after each hit that come with it, 0 to 10.
    #[serde(default)]
    #[param(minimum = 0, maximum = 10, default = 0)]
    pub context: usize,
    /// What is given back in place of each chunk that is found, as one hit: `none`; `parent`, the coarsest section around it
    /// that fits; `merge`, a section where most of its chunks are found; `neighbours:N`, N chunks before and after it;
    /// `segment`, the best run of chunks around it. Not together with `context`.
    #[serde(default)]
    #[param(value_type = String, default = "none", pattern = "^(none|parent|merge|neighbours(:[1-9][0-9]*)?|segment)$")]
    #[schema(value_type = String, default = "none", pattern = "^(none|parent|merge|neighbours(:[1-9][0-9]*)?|segment)$")]
    pub expand: Expand,
    /// Tokens that an expanded hit has at most, 1 to 100000.
    #[serde(default = "expand_tokens")]
    #[param(minimum = 1, maximum = 100000, default = 512)]
    pub expand_tokens: usize,
    /// What orders the best hits anew before anything is expanded: the name of a reranker that the server was started with
    /// (`/v1/indexes` lists them), or `none`. By default the first of them.
    #[serde(default)]
    pub rerank: Option<String>,
    /// Also put the hits together by their documents.
    #[serde(default)]
    pub group: bool,
    /// Tokens that all hits may have together, context included.
    #[serde(default)]
    pub budget: Option<usize>,
    /// The name of the index; by default the first.
    #[serde(default)]
    pub index: Option<String>,
    /// The unit of `start`, `end` and `highlights`.
    #[serde(default)]
    #[param(inline)]
    pub offsets: Offsets,
}

fn ten() -> usize {
    10
}

fn expand_tokens() -> usize {
    EXPAND_TOKENS
}

impl SearchRequest {
    /// Returns a request for the ten best chunks.
    #[must_use]
    pub fn new(q: impl Into<String>) -> Self {
        Self {
            q: q.into(),
            k: ten(),
            mode: None,
            path: Vec::new(),
            heading: Vec::new(),
            file_type: Vec::new(),
            context: 0,
            expand: Expand::None,
            expand_tokens: EXPAND_TOKENS,
            rerank: None,
            group: false,
            budget: None,
            index: None,
            offsets: Offsets::default(),
        }
    }
}

/// `GET /v1/documents`
#[derive(Debug, Clone, PartialEq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ListRequest {
    /// The beginning of the ids.
    #[serde(default)]
    pub prefix: String,
    /// Number of documents, 1 to 1000.
    #[serde(default = "hundred")]
    #[param(minimum = 1, maximum = 1000, default = 100)]
    pub limit: usize,
    /// Only documents after this id, as `next` of the answer before has it.
    #[serde(default)]
    pub after: Option<String>,
    /// The name of the index; by default the first.
    #[serde(default)]
    pub index: Option<String>,
}

fn hundred() -> usize {
    100
}

impl Default for ListRequest {
    fn default() -> Self {
        Self { prefix: String::new(), limit: hundred(), after: None, index: None }
    }
}

/// `GET /v1/documents/{id}`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct DocumentRequest {
    /// The id of the document; over HTTP it stands in the path.
    #[serde(skip)]
    #[param(ignore)]
    pub id: String,
    /// The first byte of the source.
    #[serde(default)]
    pub start: Option<usize>,
    /// One past the last byte of the source.
    #[serde(default)]
    pub end: Option<usize>,
    /// First and last line, from 1, instead of bytes: `10-20`, `10-`, `10`.
    #[serde(default)]
    pub lines: Option<String>,
    /// The name of the index; by default the first.
    #[serde(default)]
    pub index: Option<String>,
}

/// `GET /v1/chunks/{id}`
#[derive(Debug, Clone, Default, PartialEq, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChunkRequest {
    /// The id of the chunk; over HTTP it stands in the path.
    #[serde(skip)]
    #[param(ignore)]
    pub id: Uuid,
    /// Chunks before and after it that come with it, 0 to 10.
    #[serde(default = "one")]
    #[param(minimum = 0, maximum = 10, default = 1)]
    pub context: usize,
    /// The name of the index; by default the first.
    #[serde(default)]
    pub index: Option<String>,
}

fn one() -> usize {
    1
}

/// `POST /v1/segment`
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SegmentRequest {
    /// The text.
    pub text: String,
    /// Its format: `markdown`, `html`, `plain`, `rst`, `asciidoc`, `mdx`.
    #[serde(default = "markdown")]
    pub format: String,
    /// The spec of the segmenter, as `GET /v1/segmenters` lists them: `fusion`, `fixed:words=100`.
    #[serde(default = "structure")]
    pub segmenter: String,
    /// Most tokens of a chunk; 0 for no limit, 256 or what the spec says by default.
    #[serde(default)]
    pub max_tokens: Option<usize>,
    /// Fewest tokens of a chunk.
    #[serde(default)]
    pub min_tokens: Option<usize>,
    /// Sentences that a chunk repeats of the one before it.
    #[serde(default)]
    pub overlap: Option<usize>,
}

fn markdown() -> String {
    "markdown".into()
}

fn structure() -> String {
    "structure".into()
}

impl SegmentRequest {
    /// Returns a request to cut a Markdown text by a segmenter.
    #[must_use]
    pub fn new(text: impl Into<String>, segmenter: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            format: markdown(),
            segmenter: segmenter.into(),
            max_tokens: None,
            min_tokens: None,
            overlap: None,
        }
    }
}

/// `POST /v1/compare`
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareRequest {
    /// The question.
    pub question: String,
    /// The specs of the segmenters, 1 to 6.
    pub segmenters: Vec<String>,
    /// Number of hits of each, 1 to 10.
    #[serde(default = "three")]
    #[schema(minimum = 1, maximum = 10, default = 3)]
    pub k: usize,
    /// By default `hybrid` where the index has vectors, else `bm25`.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// The name of the index; by default the first.
    #[serde(default)]
    pub index: Option<String>,
}

fn three() -> usize {
    3
}

/// Checks that a number lies within its range.
pub(super) fn within(name: &str, value: usize, least: usize, most: usize) -> Result<(), Problem> {
    match (least..=most).contains(&value) {
        true => Ok(()),
        false => Err(Problem::parameter(format!("`{name}` is {value}, and must be {least} to {most}"))),
    }
}
