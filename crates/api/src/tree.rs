use serde::Serialize;

use crate::{Document, SegmentError, Segmenter, Span};

/// A segment of a document with the segments in it, from coarse to fine.
///
/// Children lie in their parent in order and without overlap, and all of its text that is not blank is in one of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SegmentTree {
    /// Its bytes in the source.
    #[serde(flatten)]
    pub span: Span,
    /// The probability, in `[0, 1]`, that a segment begins here; `None` for the first of a document, and where none is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// What the segment is about, where the segmenter knows names for that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<SegmentLabel>,
    /// The segments that it consists of: none or at least two.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<SegmentTree>,
}

/// What a segment is about.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SegmentLabel {
    /// One of the segmenter's names.
    pub name: String,
    /// Its probability, in `[0, 1]`.
    pub probability: f64,
}

/// A segmenter that finds segments within segments. It hands itself out as this through [`Segmenter::trees`].
pub trait SegmentTrees: Segmenter {
    /// The tree of a document's segments. The root is the whole document.
    ///
    /// # Errors
    /// As [`Segmenter::segment`].
    fn tree(&self, document: &Document) -> Result<SegmentTree, SegmentError>;
}
