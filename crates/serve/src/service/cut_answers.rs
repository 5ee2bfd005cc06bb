use serde::Serialize;
use utoipa::ToSchema;

/// A chunk of a text that was cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SegmentedChunk {
    /// The first byte in the text.
    pub start: usize,
    /// One past the last byte in the text.
    pub end: usize,
    /// The number of tokens.
    pub tokens: usize,
    /// The headings above the chunk, outermost first.
    pub heading_path: Vec<String>,
    /// The text under `start..end`.
    pub text: String,
}

/// A text that was cut.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SegmentAnswer {
    /// The canonical spec of the segmenter.
    pub segmenter: String,
    /// First byte and one past the last byte of each sentence.
    pub sentences: Vec<[usize; 2]>,
    /// The score of the gap after each sentence but the last; empty for segmenters without scores. A gap that the
    /// segmenter says nothing of is null.
    pub scores: Vec<Option<f64>>,
    /// Numbers of the sentences, from 1, after which the segmenter cuts, before the limits of size.
    pub boundaries: Vec<usize>,
    /// The score from which on a gap is a boundary, for segmenters with scores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threshold: Option<f64>,
    /// The chunks, within the limits of size.
    pub chunks: Vec<SegmentedChunk>,
}

/// A chunk that one segmenter's cut of the documents gave.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct ComparedHit {
    /// The id of the document.
    pub document: String,
    /// The first byte in the source.
    pub start: usize,
    /// One past the last byte in the source.
    pub end: usize,
    /// The number of tokens.
    pub tokens: usize,
    /// The headings above the chunk, outermost first.
    pub heading_path: Vec<String>,
    /// The text.
    pub text: String,
    /// Comparable within one segmenter's hits only.
    pub score: f64,
    /// The question's words in the text: beginnings and ends in bytes.
    pub highlights: Vec<[usize; 2]>,
}

/// The cut of one segmenter.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct SegmenterResult {
    /// The canonical spec of the segmenter.
    pub segmenter: String,
    /// The number of chunks that the documents have.
    pub chunks: usize,
    /// The best chunks, best first.
    pub hits: Vec<ComparedHit>,
    /// Sentences of the hits that answer the question.
    pub answer: Option<String>,
}

/// The documents that a question finds, cut by several segmenters.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct CompareAnswer {
    /// The question as it was given.
    pub question: String,
    /// The ids of the documents that were looked at.
    pub documents: Vec<String>,
    /// One entry a segmenter, in the order of the request.
    pub results: Vec<SegmenterResult>,
}

/// A segmenter that specs may name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SegmenterEntry {
    /// The shortest spec.
    pub spec: String,
    /// What it does, in one sentence.
    pub summary: String,
    /// Whether it gives a score to each gap between sentences.
    pub scores: bool,
}

/// The segmenters that specs may name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct SegmentersAnswer {
    /// The segmenters.
    pub segmenters: Vec<SegmenterEntry>,
}
