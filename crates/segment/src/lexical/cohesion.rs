//! What the segmenters that minimise a cost share: from a model of a segment's words to a segmentation.

use pericope_api::{Boundaries, Document, SegmentError, Segmentation};

use super::path::{Best, Costs};
use super::words::Words;

/// Gain of a boundary, in nats, that is one unit of its score's logit.
///
/// By the models themselves it were 1, but the words of a text do not come independently of each other, so their odds are
/// far too sure. On sets of several kinds the scores' log loss is least between 2 and 20.
const NATS: f64 = 5.0;

/// Segments that are looked at for a known number of them: beyond that, the highest scores are taken.
const STEPS: usize = 1 << 28;

/// A model of the words of a segment, as the tables of [`Costs`].
pub(super) trait Cohesion {
    /// Cost of a segment by its number of words, the cost of being a segment in it.
    fn base(&self, words: &Words) -> Vec<f64>;

    /// Cost of one more word by how often it occurs in the segment before.
    fn step(&self, words: &Words) -> Vec<f64>;

    /// Most sentences a segment.
    fn longest(&self) -> usize;
}

pub(super) fn costs<'a>(model: &impl Cohesion, words: &'a Words, longest: usize) -> Costs<'a> {
    Costs { words, base: model.base(words), step: model.step(words), longest: longest.max(1) }
}

/// The cheapest segmentation as scores: logistic in the gain of a boundary, above 0.5 at exactly its boundaries. None
/// where the document has no words.
pub(super) fn segment(model: &impl Cohesion, document: &Document) -> Segmentation {
    let words = Words::read(document);
    if document.len() < 2 || words.total() == 0 {
        return Segmentation::Scores { scores: vec![0.0; document.len().saturating_sub(1)], threshold: 0.5 };
    }
    let Best { boundaries, gains } = costs(model, &words, model.longest()).best();
    let score = |gain: f64| 1.0 / (1.0 + (-gain / NATS).exp());
    // The bounds at 0.5 matter for ties, and for near ties that rounding decides.
    let mut scores: Vec<f64> = gains.iter().map(|&gain| score(gain).min(0.5)).collect();
    for boundary in boundaries {
        scores[boundary - 1] = score(gains[boundary - 1]).max(0.5_f64.next_up());
    }
    Segmentation::Scores { scores, threshold: 0.5 }
}

/// The cheapest segmentation into a number of segments, at most one a sentence. Segments may then be longer than the
/// model's longest, up to four times their mean. Where the table for it would be too large (sentences times segments
/// above 2^25), the gaps with the highest scores instead.
pub(super) fn segment_into(
    model: &impl Cohesion,
    document: &Document,
    segments: usize,
) -> Result<Boundaries, SegmentError> {
    let n = document.len();
    if n < 2 {
        return Ok(Boundaries::none(n));
    }
    let segments = segments.clamp(1, n);
    let words = Words::read(document);
    let longest = model.longest().max(n.div_ceil(segments).saturating_mul(4));
    let affordable = n.saturating_mul(longest) <= STEPS;
    if affordable && let Some(after) = costs(model, &words, longest).exactly(segments) {
        return Ok(Boundaries::new(n, after)?);
    }
    match segment(model, document) {
        Segmentation::Scores { scores, .. } => Ok(Boundaries::top(&scores, segments - 1)),
        _ => Ok(Boundaries::none(n)),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::{Boundaries, Segmentation};

    use super::super::samples::topics;
    use super::super::{BayesSeg, U00};
    use super::{Cohesion, costs, segment, segment_into};
    use crate::lexical::words::Words;

    fn agree(model: &impl Cohesion) {
        let document = topics();
        let words = Words::read(&document);
        let best = costs(model, &words, model.longest()).best().boundaries;
        let Segmentation::Scores { scores, threshold } = segment(model, &document) else { unreachable!() };
        let found = Boundaries::above(&scores, threshold);
        assert_eq!(found.after(), best);
        // A known number may need longer segments than the limit.
        if model.longest() >= document.len() {
            assert_eq!(segment_into(model, &document, found.segments()).unwrap(), found);
        }
    }

    #[test]
    fn exactly_the_best_boundaries_lie_above_the_threshold() {
        for max in [1, 2, 7, 30, 100] {
            agree(&U00 { max });
            for cost in [0.0, 1.0, 3.0] {
                agree(&BayesSeg { cost, max, ..BayesSeg::default() });
            }
        }
    }
}
