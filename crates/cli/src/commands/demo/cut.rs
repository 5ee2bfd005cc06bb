//! One page as a segmenter cuts it.

use pericope::Engine;
use pericope_api::{Document, Heading, Segmentation};
use serde::Serialize;

use super::measure::{COUNTER, LEXICAL};
use crate::resources::failure;
use crate::status::Failure;

/// The page that is shown.
const PAGE: &str = "sourdough-bread-at-home.md";

/// A page and its chunks.
#[derive(Debug, Serialize)]
pub struct PageCut<'a> {
    pub document: &'a str,
    pub segmenter: &'static str,
    /// Of each gap between two sentences, 0 to 1.
    pub scores: Vec<f64>,
    pub chunks: Vec<Piece<'a>>,
}

/// A chunk, and the score of the gap that it ends at.
#[derive(Debug, Serialize)]
pub struct Piece<'a> {
    pub start: usize,
    pub end: usize,
    pub tokens: usize,
    pub heading_path: Vec<Heading>,
    pub text: &'a str,
    /// Number of the gap that it ends at, from 0; absent for the last chunk, and where a chunk ends inside a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<usize>,
    /// Its score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// Cuts the page that is shown.
pub fn cut(documents: &[Document]) -> Result<PageCut<'_>, Failure> {
    let document = documents.iter().find(|document| document.id == PAGE);
    let document = document.ok_or_else(|| Failure::runtime(format!("{PAGE} is not among the pages")))?;
    let engine = Engine::new().with_tokenizer(COUNTER);
    let chunker = engine.chunker(LEXICAL).map_err(failure)?;
    let segmentation = chunker.segmenter().segment(document).map_err(Failure::runtime)?;
    let scores = match &segmentation {
        Segmentation::Scores { scores, .. } => scores.clone(),
        _ => Vec::new(),
    };
    let chunks = chunker.chunks_from(document, segmentation).map_err(Failure::runtime)?;
    let pieces = chunks.into_iter().map(|chunk| {
        let gap = document.sentences.iter().position(|sentence| sentence.span.end == chunk.span.end);
        let score = gap.and_then(|gap| scores.get(gap)).copied();
        Piece {
            start: chunk.span.start,
            end: chunk.span.end,
            tokens: chunk.tokens,
            text: document.text(chunk.span),
            heading_path: chunk.heading_path,
            gap: gap.filter(|_| score.is_some()),
            score,
        }
    });
    let chunks = pieces.collect();
    Ok(PageCut { document: &document.id, segmenter: LEXICAL, scores, chunks })
}
