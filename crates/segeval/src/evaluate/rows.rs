//! What an evaluation answers with: a row a set and segmenter, and a row a document.

use pericope_api::ModelUse;
use serde::Serialize;

/// A document that has no segmentation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Its id.
    pub document: String,
    /// Why.
    pub reason: String,
}

/// One segmenter's figures on one data set: a row of `segment-eval --json`.
///
/// Documents that failed are not part of any figure. Where all did, the figures are not numbers (`null` in JSON).
#[derive(Debug, Clone, Serialize)]
pub struct SegmentationRow {
    /// The data set.
    pub set: String,
    /// The segmenter.
    pub segmenter: String,
    /// Its resolved spec.
    pub spec: String,
    /// Whether it was told the true number of segments.
    pub known_count: bool,
    /// Documents that were scored.
    pub documents: usize,
    /// Mean over documents, 0 to 1; lower is better.
    pub pk: f64,
    /// Standard error of `pk` over documents; none for fewer than two.
    pub pk_error: Option<f64>,
    /// Mean over documents, 0 to 1; lower is better.
    pub window_diff: f64,
    /// Standard error of `window_diff` over documents; none for fewer than two.
    pub window_diff_error: Option<f64>,
    /// Over all boundaries of the data set, 0 to 1.
    pub precision: f64,
    /// Over all boundaries of the data set, 0 to 1.
    pub recall: f64,
    /// Over all boundaries of the data set, 0 to 1.
    pub f1: f64,
    /// Mean over documents, 0 to 1.
    pub macro_precision: f64,
    /// Mean over documents, 0 to 1.
    pub macro_recall: f64,
    /// Mean over documents, 0 to 1.
    pub macro_f1: f64,
    /// Mean over documents, 0 to 1.
    pub boundary_similarity: f64,
    /// Mean over documents, 0 to 1.
    pub segmentation_similarity: f64,
    /// Mean tiling score over documents, 0 to 1; leans towards 1.
    pub tiling: f64,
    /// The same with a penalty for surplus boundaries, 0 to 1.
    pub tiling_penalised: f64,
    /// Boundaries proposed over true boundaries; none where no boundary is true.
    pub proposed_over_true: Option<f64>,
    /// Wall-clock seconds of segmenting the set, its documents side by side on all threads.
    pub seconds: f64,
    /// Tokens that went through the segmenter's own model, where it has one and counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens_read: Option<u64>,
    /// What the segmenter asked of a language model, where it asks one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<ModelUse>,
    /// Sentences of the documents that were scored, over `seconds`.
    pub sentences_per_second: f64,
    /// Documents without a segmentation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<Failure>,
}

/// One document's segmentation and scores: a line of `documents.jsonl`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DocumentRow {
    /// The data set.
    pub set: String,
    /// The document's id.
    pub document: String,
    /// The segmenter.
    pub segmenter: String,
    /// Whether it was told the true number of segments.
    pub known_count: bool,
    /// Sentences of the document.
    pub sentences: usize,
    /// True boundaries: a segment ends after sentence i (1-based); the end is not listed.
    pub reference: Vec<usize>,
    /// Proposed boundaries.
    pub hypothesis: Vec<usize>,
    /// 0 to 1; lower is better.
    pub pk: f64,
    /// 0 to 1; lower is better.
    pub window_diff: f64,
    /// 0 to 1.
    pub precision: f64,
    /// 0 to 1.
    pub recall: f64,
    /// 0 to 1.
    pub f1: f64,
    /// 0 to 1.
    pub boundary_similarity: f64,
}
