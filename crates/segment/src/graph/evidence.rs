use super::similarity::NeighbourSimilarities;
use crate::depth::depths;

/// What speaks for a boundary at each gap, averaged over similarities.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Evidence {
    /// Share of the segmentations that have a boundary at the gap, 0..=1.
    shares: Vec<f64>,
    /// Sum over the similarities of the depth of the valley at the gap, in units of the mean similarity.
    depths: Vec<f64>,
    similarities: usize,
    /// Boundaries that a segmentation has on average.
    mean_count: f64,
}

impl Evidence {
    pub(super) fn new(gaps: usize) -> Self {
        Self { shares: vec![0.0; gaps], depths: vec![0.0; gaps], similarities: 0, mean_count: 0.0 }
    }

    /// Adds the similarities by one measure, and the boundaries of the segmentations found with it; `weight` is each one's share of
    /// all segmentations.
    pub(super) fn add<'a>(
        &mut self,
        similarities: &NeighbourSimilarities,
        decay: &[f64],
        found: impl Iterator<Item = &'a [usize]>,
        weight: f64,
    ) {
        self.similarities += 1;
        for after in found {
            self.mean_count += weight * after.len() as f64;
            for gap in after {
                self.shares[gap - 1] += weight;
            }
        }
        let across = across(similarities, decay, self.shares.len());
        let mean = across.iter().sum::<f64>() / across.len().max(1) as f64;
        if mean > 0.0 {
            self.depths.iter_mut().zip(depths(&across)).for_each(|(sum, depth)| *sum += depth / mean);
        }
    }

    /// Evidence of each gap, 0..=1: the mean of its share of the segmentations and of d / (d + 1), d being the depth of
    /// its valley.
    pub(super) fn values(&self) -> Vec<f64> {
        let depth = |sum: &f64| sum / (sum + self.similarities.max(1) as f64);
        self.shares.iter().zip(&self.depths).map(|(share, sum)| (share.min(1.0) + depth(sum)) / 2.0).collect()
    }

    /// Scores of the gaps, 0..=1: above 0.5 are as many as a segmentation has boundaries on average, those with most
    /// evidence among the gaps that some segmentation proposes (all of those of the only segmentation there is). The
    /// bound on the evidence between the chosen and the rest scores 0.5, and scores are linear on both sides of it.
    pub(super) fn scores(&self) -> Vec<f64> {
        let values = self.values();
        let mut order: Vec<usize> = (0..values.len()).filter(|&gap| self.shares[gap] > 0.0).collect();
        order.sort_by(|&a, &b| values[b].total_cmp(&values[a]).then(a.cmp(&b)));
        let count = (self.mean_count.round() as usize).min(order.len());
        let (chosen, rest) = order.split_at(count);
        let Some(&last) = chosen.last() else {
            return values.into_iter().map(|value| value.min(0.5)).collect();
        };
        let next = rest.first().map_or(0.0, |&gap| values[gap]);
        let bound = (values[last] + next) / 2.0;
        let mut scores: Vec<f64> = values.iter().map(|&value| scaled(value, bound).min(0.5)).collect();
        for &gap in chosen {
            scores[gap] = scaled(values[gap], bound).max(0.5_f64.next_up());
        }
        scores
    }
}

/// 0 at 0, 0.5 at `bound`, 1 at 1, linear between.
fn scaled(value: f64, bound: f64) -> f64 {
    if value > bound {
        (0.5 + 0.5 * (value - bound) / (1.0 - bound).max(f64::MIN_POSITIVE)).min(1.0)
    } else if value > 0.0 {
        0.5 * value / bound
    } else {
        0.0
    }
}

/// Mean similarity of the pairs across each gap, weighted by `decay[l - 1]` at distance l. A mean, since fewer pairs
/// reach across the gaps near the ends of the document. Linear in the number of pairs.
fn across(similarities: &NeighbourSimilarities, decay: &[f64], gaps: usize) -> Vec<f64> {
    // What is added at a gap and all after it.
    let mut steps = vec![(0.0, 0.0); gaps + 1];
    for (i, j, value) in similarities.pairs() {
        let weight = decay[j - i - 1];
        let sum = weight * value.max(0.0);
        steps[i].0 += sum;
        steps[i].1 += weight;
        steps[j].0 -= sum;
        steps[j].1 -= weight;
    }
    let (mut sum, mut weights) = (0.0, 0.0);
    let mean = |step: &(f64, f64)| {
        sum += step.0;
        weights += step.1;
        // Rounding leaves tiny sums where all similarities are 0.
        if sum > weights * 1e-12 { sum / weights } else { 0.0 }
    };
    steps[..gaps].iter().map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::{Evidence, NeighbourSimilarities, across};

    fn similarities() -> NeighbourSimilarities {
        // Pairs (0,1) (0,2), (1,2) (1,3), (2,3).
        NeighbourSimilarities::new(2, vec![1.0, 0.5, 0.0, -1.0, 1.0, 9.0, 9.0, 9.0])
    }

    #[test]
    fn means_over_the_pairs_across_a_gap() {
        let found = across(&similarities(), &[1.0, 0.5], 3);
        let expected = [1.25 / 1.5, 0.25 / 2.0, 1.0 / 1.5];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert_eq!(across(&NeighbourSimilarities::default(), &[], 0), [0.0; 0]);
    }

    #[test]
    fn a_single_segmentation_is_followed_exactly() {
        let mut evidence = Evidence::new(3);
        evidence.add(&similarities(), &[1.0, 0.5], [&[1][..]].into_iter(), 1.0);
        let scores = evidence.scores();
        assert!(scores[0] > 0.5 && scores[1] <= 0.5 && scores[2] <= 0.5, "{scores:?}");
        assert!(scores[1] > scores[2], "the middle is a valley");
    }

    #[test]
    fn several_segmentations_vote() {
        let mut evidence = Evidence::new(3);
        for found in [[&[2][..], &[2]], [&[1][..], &[]]] {
            evidence.add(&similarities(), &[1.0, 0.5], found.into_iter(), 0.25);
        }
        let scores = evidence.scores();
        assert!(scores[1] > 0.5 && scores[0] <= 0.5, "one on average: {scores:?}");
        assert!(scores.iter().all(|s| (0.0..=1.0).contains(s)));
    }

    #[test]
    fn no_proposal_no_boundary() {
        let mut evidence = Evidence::new(3);
        evidence.add(&similarities(), &[1.0, 0.5], [&[][..]].into_iter(), 1.0);
        assert!(evidence.scores().iter().all(|&s| s <= 0.5));
    }
}
