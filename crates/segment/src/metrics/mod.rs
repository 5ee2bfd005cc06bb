//! Distances of a segmentation from the reference: boundary precision, recall and F1, Pk, WindowDiff, boundary
//! similarity B, segmentation similarity S, the tiling score, and the number of boundaries proposed.
//!
//! The end of the document is never a boundary and never scored. Every function is linear in the number of sentences
//! (boundary counts: in the number of boundaries) and returns a finite number for every input:
//!
//! | input | Pk, WindowDiff | precision, recall, F1 | B, S, tiling |
//! | --- | --- | --- | --- |
//! | identical segmentations | 0 | 1 | 1 |
//! | no sentence, or one: no gap to decide | 0 | 1 | 1 |
//! | neither has a boundary | 0 | 1 | 1 |
//! | only the reference has boundaries | share of probes that see one | 0 | B 0 |
//! | only the hypothesis has boundaries | share of probes that see one | 0 | B 0, tiling 1 |
//! | two sentences, not identical | 0: the window has no place (see [`window_size`]) | 0 | B 0, S 0 |
//!
//! Proposing no boundary at all beats many systems on Pk and WindowDiff: read these two beside F1 and
//! [`BoundaryCounts::ratio`].
//!
//! ```
//! use pericope_api::Boundaries;
//! use pericope_segment::metrics::{ScoreSummary, evaluate};
//!
//! let reference = Boundaries::new(11, vec![2, 5])?;
//! let hypothesis = Boundaries::new(11, vec![5])?;
//! let document = evaluate(&reference, &hypothesis)?;
//! assert_eq!((document.scores.precision, document.scores.recall), (1.0, 0.5));
//! assert_eq!(document.scores.boundary_similarity, 0.5);
//!
//! let summary: ScoreSummary = [document].into_iter().collect();
//! assert_eq!(summary.counts.ratio(), Some(0.5));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod counts;
mod edit;
mod summary;
mod tiling;
mod window;

use pericope_api::Boundaries;
use serde::{Deserialize, Serialize};

pub use counts::BoundaryCounts;
pub use edit::{BoundaryEdits, NEAR_MISS, boundary_edits};
pub use summary::ScoreSummary;
pub use tiling::{TilingNormaliser, penalised_tiling_score, tiling_score};
pub use window::{pk, window_diff, window_size};

/// The two segmentations are not of the same document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the reference has {reference} sentences and the hypothesis {hypothesis}: they are not of one document")]
pub struct LengthMismatch {
    /// Sentences of the reference.
    pub reference: usize,
    /// Sentences of the hypothesis.
    pub hypothesis: usize,
}

/// Errors unless both segment the same number of sentences, which is returned.
fn sentences(reference: &Boundaries, hypothesis: &Boundaries) -> Result<usize, LengthMismatch> {
    let (a, b) = (reference.sentences(), hypothesis.sentences());
    if a == b { Ok(a) } else { Err(LengthMismatch { reference: a, hypothesis: b }) }
}

/// The scores of one document, or their means over documents.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SegmentationScores {
    /// Pk (Beeferman, Berger and Lafferty 1999), 0..=1, an error: smaller is better.
    pub pk: f64,
    /// WindowDiff (Pevzner and Hearst 2002), 0..=1, an error: smaller is better.
    pub window_diff: f64,
    /// Share of the proposed boundaries that are in the reference at the exact place, 0..=1.
    pub precision: f64,
    /// Share of the reference's boundaries that were proposed at the exact place, 0..=1.
    pub recall: f64,
    /// Harmonic mean of precision and recall, 0..=1.
    pub f1: f64,
    /// Boundary similarity B (Fournier 2013), near misses up to [`NEAR_MISS`], 0..=1.
    pub boundary_similarity: f64,
    /// Segmentation similarity S (Fournier and Inkpen 2012), near misses as for B, 0..=1.
    pub segmentation_similarity: f64,
    /// Tiling score, divided by last sentence index times true boundaries, 0..=1; leans towards 1.
    pub tiling: f64,
    /// Tiling score times true over proposed boundaries, where more are proposed, 0..=1.
    #[serde(default)]
    pub tiling_penalised: f64,
}

/// The scores and boundary counts of one document, by [`evaluate`].
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct DocumentScores {
    /// Every score.
    pub scores: SegmentationScores,
    /// Boundaries proposed, true, and in both: micro averages sum these.
    pub counts: BoundaryCounts,
}

/// Computes every score of one document.
///
/// # Errors
/// [`LengthMismatch`] where the two do not have the same number of sentences.
pub fn evaluate(reference: &Boundaries, hypothesis: &Boundaries) -> Result<DocumentScores, LengthMismatch> {
    let k = window_size(reference);
    let counts = BoundaryCounts::of(reference, hypothesis)?;
    let edits = boundary_edits(reference, hypothesis, NEAR_MISS)?;
    let scores = SegmentationScores {
        pk: pk(reference, hypothesis, k)?,
        window_diff: window_diff(reference, hypothesis, k)?,
        precision: counts.precision(),
        recall: counts.recall(),
        f1: counts.f1(),
        boundary_similarity: edits.boundary_similarity(),
        segmentation_similarity: edits.segmentation_similarity(),
        tiling: tiling_score(reference, hypothesis, TilingNormaliser::PerBoundary)?,
        tiling_penalised: penalised_tiling_score(reference, hypothesis, TilingNormaliser::PerBoundary)?,
    };
    Ok(DocumentScores { scores, counts })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Boundaries;
    use proptest::prelude::*;

    use super::{LengthMismatch, SegmentationScores, evaluate};

    const BEST: SegmentationScores = SegmentationScores {
        pk: 0.0,
        window_diff: 0.0,
        precision: 1.0,
        recall: 1.0,
        f1: 1.0,
        boundary_similarity: 1.0,
        segmentation_similarity: 1.0,
        tiling: 1.0,
        tiling_penalised: 1.0,
    };

    fn scores(n: usize, reference: &[usize], hypothesis: &[usize]) -> SegmentationScores {
        let reference = Boundaries::new(n, reference.to_vec()).unwrap();
        let hypothesis = Boundaries::new(n, hypothesis.to_vec()).unwrap();
        evaluate(&reference, &hypothesis).unwrap().scores
    }

    #[test]
    fn nothing_to_decide_is_perfect() {
        for n in 0..4 {
            assert_eq!(scores(n, &[], &[]), BEST, "{n} sentences");
        }
        assert_eq!(scores(2, &[1], &[1]), BEST);
    }

    #[test]
    fn two_sentences_that_differ() {
        for (reference, hypothesis) in [(&[1][..], &[][..]), (&[], &[1])] {
            let s = scores(2, reference, hypothesis);
            assert_eq!(
                (s.pk, s.window_diff, s.f1, s.boundary_similarity, s.segmentation_similarity),
                (0.0, 0.0, 0.0, 0.0, 0.0)
            );
        }
    }

    #[test]
    fn other_documents_are_refused() {
        let error = evaluate(&Boundaries::none(3), &Boundaries::none(4));
        assert_eq!(error, Err(LengthMismatch { reference: 3, hypothesis: 4 }));
    }

    fn pair() -> impl Strategy<Value = (Boundaries, Boundaries)> {
        let bits = || prop::collection::vec(any::<(bool, bool)>(), 0..60);
        bits().prop_map(|bits| {
            let pick = |keep: fn(&(bool, bool)) -> bool| {
                let after = bits.iter().enumerate().filter(|(_, b)| keep(b)).map(|(i, _)| i + 1).collect();
                Boundaries::new(bits.len() + 1, after).unwrap()
            };
            (pick(|b| b.0), pick(|b| b.1))
        })
    }

    proptest! {
        #[test]
        fn scores_are_shares_and_identity_is_best((reference, hypothesis) in pair()) {
            let s = evaluate(&reference, &hypothesis).unwrap().scores;
            for value in [s.pk, s.window_diff, s.precision, s.recall, s.f1, s.boundary_similarity,
                s.segmentation_similarity, s.tiling] {
                prop_assert!((0.0..=1.0).contains(&value), "{s:?}");
            }
            prop_assert!(s.pk <= s.window_diff, "Pk sees only part of what WindowDiff sees");
            prop_assert!(s.boundary_similarity <= s.segmentation_similarity + 1e-12);
            prop_assert_eq!(evaluate(&reference, &reference).unwrap().scores, BEST);
        }

        #[test]
        fn similarities_do_not_depend_on_the_direction((reference, hypothesis) in pair()) {
            let (there, back) = (evaluate(&reference, &hypothesis).unwrap(), evaluate(&hypothesis, &reference).unwrap());
            prop_assert_eq!(there.scores.boundary_similarity, back.scores.boundary_similarity);
            prop_assert_eq!(there.scores.segmentation_similarity, back.scores.segmentation_similarity);
            prop_assert_eq!(there.scores.precision, back.scores.recall);
            prop_assert_eq!(there.scores.f1, back.scores.f1);
        }
    }
}
