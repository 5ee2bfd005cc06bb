use pericope::api::{Document, Segmentation, Span};
use pericope::read::{ReadOptions, read_text, text_reader};
use pericope::segment::{Chunker, Limits};

use super::chunkers::Asked;
use super::{Problem, SegmentAnswer, SegmentRequest, SegmentedChunk, Service};

/// Bytes of a text that is cut, at most.
pub const LONGEST_TEXT: usize = 1 << 20;

impl Service {
    /// Cuts a text.
    ///
    /// # Errors
    /// [`Problem`]: 400 for a format or a segmenter that is not there, 413 for a text above [`LONGEST_TEXT`], 422 for one
    /// that cannot be cut so.
    pub fn segment(&self, request: &SegmentRequest) -> Result<SegmentAnswer, Problem> {
        if request.text.len() > LONGEST_TEXT {
            let detail = format!("the text has {} bytes, and may have {LONGEST_TEXT}", request.text.len());
            return Err(Problem::new(413, "text-too-large", "The text is too large", detail));
        }
        let document = read("text", &request.format, &request.text)?;
        let limits = Limits {
            max_tokens: request.max_tokens,
            min_tokens: request.min_tokens,
            target_tokens: None,
            overlap: request.overlap,
        };
        let corpus = std::slice::from_ref(&document);
        let chunker = self.chunkers.get(&Asked {
            spec: &request.segmenter,
            limits,
            defaults: Limits::INDEX,
            tokenizer: None,
            corpus,
        })?;
        let mut answer = SegmentAnswer {
            segmenter: chunker.spec().to_string(),
            sentences: document.sentences.iter().map(|sentence| pair(sentence.span)).collect(),
            scores: Vec::new(),
            boundaries: Vec::new(),
            threshold: None,
            chunks: Vec::new(),
        };
        if document.is_empty() {
            return Ok(answer);
        }
        let segmentation = chunker.segmenter().segment(&document).map_err(uncut)?;
        describe(&segmentation, &document, &chunker, &mut answer);
        let chunks = chunker.chunks_from(&document, segmentation).map_err(uncut)?;
        answer.chunks = chunks
            .into_iter()
            .map(|chunk| SegmentedChunk {
                start: chunk.span.start,
                end: chunk.span.end,
                tokens: chunk.tokens,
                heading_path: chunk.heading_path.iter().map(|heading| heading.as_str().to_owned()).collect(),
                text: document.text(chunk.span).to_owned(),
            })
            .collect();
        Ok(answer)
    }
}

/// Scores, threshold and boundaries, before the limits of size.
fn describe(segmentation: &Segmentation, document: &Document, chunker: &Chunker, answer: &mut SegmentAnswer) {
    match segmentation {
        Segmentation::Scores { scores, threshold } => {
            let threshold = chunker.policy().threshold.unwrap_or(*threshold);
            let above = scores.iter().enumerate().filter(|(_, score)| **score > threshold);
            answer.boundaries = above.map(|(gap, _)| gap + 1).collect();
            answer.scores = scores.iter().map(|score| score.is_finite().then_some(*score)).collect();
            answer.threshold = Some(threshold);
        }
        Segmentation::Boundaries(boundaries) => answer.boundaries = boundaries.after().to_vec(),
        Segmentation::Spans(spans) | Segmentation::Chunks(spans) => {
            let inner = spans.get(..spans.len().saturating_sub(1)).unwrap_or_default();
            let after = |span: &Span| document.sentences.partition_point(|sentence| sentence.span.end <= span.end);
            let mut boundaries: Vec<usize> = inner.iter().map(after).collect();
            boundaries.dedup();
            boundaries.retain(|after| (1..document.len()).contains(after));
            answer.boundaries = boundaries;
        }
    }
}

fn pair(span: Span) -> [usize; 2] {
    [span.start, span.end]
}

pub(super) fn uncut(reason: impl std::fmt::Display) -> Problem {
    Problem::new(422, "cannot-cut", "The text cannot be cut so", reason)
}

/// Reads a text of a format that holds nothing but text.
pub(super) fn read(id: &str, format: &str, text: &str) -> Result<Document, Problem> {
    let bad = |reason: String| Problem::new(400, "bad-format", "The format is not known", reason);
    if text_reader(format).is_none() {
        return Err(bad(format!("there is no format `{format}` for text; markdown, html and plain are some")));
    }
    read_text(id, format, text, &ReadOptions::default()).map_err(uncut)
}
