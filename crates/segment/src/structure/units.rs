use pericope_api::{Boundaries, Document, SegmentError, Segmentation, Segmenter};

use crate::registry::entry::{BuiltSegmenter, Needs, SegmenterEntry};

pub(crate) const SENTENCE: SegmenterEntry = SegmenterEntry {
    name: "sentence",
    summary: "every sentence, code block and table is a chunk",
    keys: &[],
    example: "sentence:min_tokens=40",
    needs: Needs::None,
    needs_of: None,
    has_scores: false,
    build: |_, _| Ok(BuiltSegmenter::new(Sentences)),
};

pub(crate) const PARAGRAPH: SegmenterEntry = SegmenterEntry {
    name: "paragraph",
    summary: "every paragraph is a chunk; a heading goes with the one under it",
    keys: &[],
    example: "paragraph:min_tokens=40",
    needs: Needs::None,
    needs_of: None,
    has_scores: false,
    build: |_, _| Ok(BuiltSegmenter::new(Paragraphs)),
};

/// A boundary after every sentence.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sentences;

impl Segmenter for Sentences {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let n = document.len();
        Ok(Segmentation::Boundaries(Boundaries::new(n, (1..n).collect())?))
    }
}

/// A boundary after every paragraph.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paragraphs;

impl Segmenter for Paragraphs {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let pairs = document.sentences.iter().zip(document.sentences.iter().skip(1)).enumerate();
        let ends = pairs.filter(|(_, (a, b))| a.paragraph != b.paragraph).map(|(i, _)| i + 1).collect();
        Ok(Segmentation::Boundaries(Boundaries::new(document.len(), ends)?))
    }
}
