use serde::{Deserialize, Serialize};

use super::{BoundaryCounts, DocumentScores, SegmentationScores};

/// Scores over a data set: every document counts the same in `mean`, every boundary the same in `counts`.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ScoreSummary {
    /// Number of documents.
    pub documents: usize,
    /// Mean of each score over the documents (macro average); all 0 where there are none.
    pub mean: SegmentationScores,
    /// Boundary counts summed over the documents: `counts.f1()` is the micro F1, `counts.ratio()` the number of
    /// proposed over true boundaries.
    pub counts: BoundaryCounts,
}

impl ScoreSummary {
    /// Micro F1, 0..=1: the F1 of the summed counts.
    #[must_use]
    pub fn micro_f1(&self) -> f64 {
        self.counts.f1()
    }
}

impl FromIterator<DocumentScores> for ScoreSummary {
    fn from_iter<I: IntoIterator<Item = DocumentScores>>(documents: I) -> Self {
        let mut summary = ScoreSummary::default();
        let mut sums = [0.0; 9];
        for document in documents {
            summary.documents += 1;
            summary.counts += document.counts;
            for (sum, value) in sums.iter_mut().zip(values(&document.scores)) {
                *sum += value;
            }
        }
        let count = summary.documents.max(1) as f64;
        let [pk, window_diff, precision, recall, f1, b, s, tiling, tiling_penalised] = sums.map(|sum| sum / count);
        summary.mean = SegmentationScores {
            pk,
            window_diff,
            precision,
            recall,
            f1,
            boundary_similarity: b,
            segmentation_similarity: s,
            tiling,
            tiling_penalised,
        };
        summary
    }
}

impl<'a> FromIterator<&'a DocumentScores> for ScoreSummary {
    fn from_iter<I: IntoIterator<Item = &'a DocumentScores>>(documents: I) -> Self {
        documents.into_iter().copied().collect()
    }
}

fn values(s: &SegmentationScores) -> [f64; 9] {
    let (b, similarity) = (s.boundary_similarity, s.segmentation_similarity);
    [s.pk, s.window_diff, s.precision, s.recall, s.f1, b, similarity, s.tiling, s.tiling_penalised]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Boundaries;

    use super::ScoreSummary;
    use crate::metrics::evaluate;

    #[test]
    fn macro_and_micro_differ() {
        let one = evaluate(&Boundaries::new(9, vec![4]).unwrap(), &Boundaries::new(9, vec![4]).unwrap()).unwrap();
        let two = evaluate(&Boundaries::new(9, vec![1, 2, 3]).unwrap(), &Boundaries::none(9)).unwrap();
        let summary: ScoreSummary = [one, two].iter().collect();
        assert_eq!((summary.documents, summary.mean.f1, summary.micro_f1()), (2, 0.5, 0.4));
        assert_eq!(summary.counts.ratio(), Some(0.25));
    }

    #[test]
    fn no_documents_give_zeros() {
        let summary: ScoreSummary = std::iter::empty::<crate::metrics::DocumentScores>().collect();
        assert_eq!(summary, ScoreSummary::default());
    }
}
