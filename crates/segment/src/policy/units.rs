//! The row of units that the policy cuts.

use std::ops::Range;

use pericope_api::{Document, SegmentError, Segmentation, Span};

use super::weights;

/// Units in order, and what a cut after each of them but the last earns.
pub(super) struct Units {
    pub spans: Vec<Span>,
    /// The sentence that each unit is or is a part of.
    pub sentences: Vec<usize>,
    pub gaps: Vec<i64>,
}

impl Units {
    /// Sentences, or where the segmenter cuts inside them, their parts.
    pub fn new(document: &Document, segmentation: &Segmentation, threshold: Option<f64>) -> Result<Self, SegmentError> {
        let n = document.len();
        let gaps = match segmentation {
            Segmentation::Scores { scores, threshold: own } => {
                if scores.len() + 1 != n && !(n == 0 && scores.is_empty()) {
                    return Err(unfit(format!("{} scores for {n} sentences", scores.len())));
                }
                weights::from_scores(document, scores, threshold.unwrap_or(*own))
            }
            Segmentation::Boundaries(boundaries) => {
                if boundaries.sentences() != n {
                    return Err(unfit(format!("boundaries of {} sentences for {n}", boundaries.sentences())));
                }
                weights::from_boundaries(document, boundaries)
            }
            Segmentation::Spans(spans) => return Self::from_spans(document, spans),
            // The policy cuts each by itself.
            Segmentation::Chunks(_) => return Err(unfit("finished chunks are no units".into())),
        };
        let spans = document.sentences.iter().map(|s| s.span).collect();
        Ok(Self { spans, sentences: (0..n).collect(), gaps })
    }

    fn from_spans(document: &Document, spans: &[Span]) -> Result<Self, SegmentError> {
        let source: &str = &document.source;
        let mut units = Self { spans: Vec::new(), sentences: Vec::new(), gaps: Vec::new() };
        let mut sentence = 0;
        let mut covered = 0;
        for (k, span) in spans.iter().enumerate() {
            let between = source.get(covered..span.start);
            if between.is_none_or(|between| !between.trim().is_empty()) || source.get(span.start..span.end).is_none() {
                return Err(unfit(format!("span {k} ({}..{}) does not follow the one before", span.start, span.end)));
            }
            covered = span.end;
            let mut first = true;
            while let Some(found) = document.sentences.get(sentence) {
                let part = found.span.intersection(span).map(|part| part.trimmed(source));
                if let Some(part) = part.filter(|part| !part.is_empty()) {
                    if let Some(&before) = units.sentences.last() {
                        units.gaps.push(match first {
                            true => weights::sure(),
                            false => weights::prior(document, before),
                        });
                    }
                    first = false;
                    units.spans.push(part);
                    units.sentences.push(sentence);
                }
                if found.span.end > span.end {
                    break;
                }
                sentence += 1;
            }
        }
        if source.get(covered..).is_none_or(|rest| !rest.trim().is_empty()) {
            return Err(unfit("the last span ends before the document does".into()));
        }
        Ok(units)
    }

    /// The parts of sentences inside a finished chunk, of which only the limit makes several.
    pub fn inside(document: &Document, chunk: Span) -> Self {
        let mut units = Self { spans: Vec::new(), sentences: Vec::new(), gaps: Vec::new() };
        let first = document.sentence_at(chunk.start);
        for (at, sentence) in document.sentences.iter().enumerate().skip(first) {
            if sentence.span.start >= chunk.end {
                break;
            }
            let part = sentence.span.intersection(&chunk).map(|part| part.trimmed(&document.source));
            let Some(part) = part.filter(|part| !part.is_empty()) else { continue };
            if let Some(&before) = units.sentences.last() {
                units.gaps.push(weights::prior(document, before));
            }
            units.spans.push(part);
            units.sentences.push(at);
        }
        units
    }

    /// From the first byte of the first unit to the last of the last; `range` is not empty.
    pub fn hull(&self, range: Range<usize>) -> Span {
        self.spans[range.start].hull(&self.spans[range.end - 1])
    }

    /// The chunks between cuts (a cut `i` lies after unit i, counted from 1).
    pub fn join(&self, cuts: impl IntoIterator<Item = usize>) -> Vec<Span> {
        let mut start = 0;
        let mut spans = Vec::new();
        for end in cuts.into_iter().chain([self.spans.len()]) {
            if end > start {
                spans.push(self.hull(start..end));
            }
            start = end;
        }
        spans
    }
}

pub(super) fn unfit(what: String) -> SegmentError {
    SegmentError::Unsupported(format!("the segmenter's answer does not fit the document: {what}"))
}
