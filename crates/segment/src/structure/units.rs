use pericope_api::{Boundaries, Cuts, Document, SegmentError, Segmenter};

use crate::registry::{Built, Entry};

pub(crate) const SENTENCE: Entry = Entry {
    name: "sentence",
    summary: "every sentence, code block and table is a chunk",
    keys: &[],
    example: "sentence:min_tokens=40",
    needs_encoder: false,
    has_scores: false,
    build: |_, _| Ok(Built::new(Sentences)),
};

pub(crate) const PARAGRAPH: Entry = Entry {
    name: "paragraph",
    summary: "every paragraph is a chunk; a heading goes with the one under it",
    keys: &[],
    example: "paragraph:min_tokens=40",
    needs_encoder: false,
    has_scores: false,
    build: |_, _| Ok(Built::new(Paragraphs)),
};

/// A boundary after every sentence.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sentences;

impl Segmenter for Sentences {
    fn cut(&self, document: &Document) -> Result<Cuts, SegmentError> {
        let n = document.len();
        Ok(Cuts::Boundaries(Boundaries::new(n, (1..n).collect())?))
    }
}

/// A boundary after every paragraph.
#[derive(Debug, Clone, Copy, Default)]
pub struct Paragraphs;

impl Segmenter for Paragraphs {
    fn cut(&self, document: &Document) -> Result<Cuts, SegmentError> {
        let pairs = document.sentences.iter().zip(document.sentences.iter().skip(1)).enumerate();
        let ends = pairs.filter(|(_, (a, b))| a.paragraph != b.paragraph).map(|(i, _)| i + 1).collect();
        Ok(Cuts::Boundaries(Boundaries::new(document.len(), ends)?))
    }
}
