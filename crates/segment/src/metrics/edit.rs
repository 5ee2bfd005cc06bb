use pericope_api::Boundaries;
use serde::{Deserialize, Serialize};

use super::{LengthMismatch, sentences};

/// Largest number of neighbouring gaps that a near miss spans, as Fournier (2013) sets it: one gap beside is near.
pub const NEAR_MISS: usize = 2;

/// The edits that turn one segmentation into the other (boundary edit distance: Fournier 2013, "Evaluating Text
/// Segmentation using Boundary Edit Distance"), for one type of boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BoundaryEdits {
    /// Gaps between sentences: places where a boundary could be.
    pub gaps: usize,
    /// Boundaries in both at the same place.
    pub matches: usize,
    /// Boundaries in one that have no partner in the other: full misses.
    pub additions: usize,
    /// Boundaries in one with a partner nearby in the other: near misses.
    pub transpositions: usize,
    /// Sum over the near misses of the distance between the partners, in gaps.
    pub distance: usize,
    /// Largest number of neighbouring gaps that a near miss was allowed to span.
    pub span: usize,
}

impl BoundaryEdits {
    /// Cost of the edits: a full miss costs 1, a near miss its distance over the span allowed.
    #[must_use]
    pub fn cost(&self) -> f64 {
        self.additions as f64 + self.distance as f64 / self.span.max(1) as f64
    }

    /// Boundary similarity B: 1 - cost / (matches + near misses + full misses), 0..=1; 1 where there are no boundaries.
    #[must_use]
    pub fn boundary_similarity(&self) -> f64 {
        similarity(self.cost(), self.matches + self.additions + self.transpositions)
    }

    /// Segmentation similarity S, as segeval computes it from the same edits: 1 - cost / gaps, 0..=1; 1 where there
    /// are no gaps.
    #[must_use]
    pub fn segmentation_similarity(&self) -> f64 {
        similarity(self.cost(), self.gaps)
    }
}

fn similarity(cost: f64, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { (whole as f64 - cost) / whole as f64 }
}

/// Finds the edits between two segmentations. A boundary that only one of them has is a near miss where the other has
/// one of its own within `span` neighbouring gaps (2: the gap beside); nearer partners first, then left to right, each
/// boundary once. Time: `span` times the number of boundaries.
///
/// # Errors
/// [`LengthMismatch`] where the two do not have the same number of sentences.
pub fn boundary_edits(a: &Boundaries, b: &Boundaries, span: usize) -> Result<BoundaryEdits, LengthMismatch> {
    let n = sentences(a, b)?;
    let (mut lonely, matches) = unmatched(a.after(), b.after());
    let mut edits = BoundaryEdits { gaps: n.saturating_sub(1), matches, span, ..BoundaryEdits::default() };
    for distance in 1..span.min(n) {
        let (next, found) = pair_at(&lonely, distance);
        edits.transpositions += found;
        edits.distance += found * distance;
        lonely = next;
    }
    edits.additions = lonely.len();
    Ok(edits)
}

/// A boundary that only one side has, and whether that is the first side.
type Lonely = (usize, bool);

/// The boundaries that only one side has, in order, and the number that both have.
fn unmatched(a: &[usize], b: &[usize]) -> (Vec<Lonely>, usize) {
    let mut all: Vec<Lonely> = a.iter().map(|&at| (at, true)).chain(b.iter().map(|&at| (at, false))).collect();
    // A merge of two sorted runs, which the standard sort does in linear time.
    all.sort_by_key(|&(at, _)| at);
    let mut lonely: Vec<Lonely> = Vec::new();
    let mut matches = 0;
    for boundary in all {
        if lonely.last().is_some_and(|last| last.0 == boundary.0) {
            lonely.pop();
            matches += 1;
        } else {
            lonely.push(boundary);
        }
    }
    (lonely, matches)
}

/// Pairs, from the left, boundaries of different sides that are exactly `distance` apart; returns those that stay
/// alone, and the number of pairs.
fn pair_at(lonely: &[Lonely], distance: usize) -> (Vec<Lonely>, usize) {
    let mut used = vec![false; lonely.len()];
    let mut pairs = 0;
    let mut j = 0;
    for (i, &(at, side)) in lonely.iter().enumerate() {
        while lonely.get(j).is_some_and(|other| other.0 < at + distance) {
            j += 1;
        }
        let partner = lonely.get(j).is_some_and(|other| *other == (at + distance, !side));
        if partner && !used[i] && !used[j] {
            used[i] = true;
            used[j] = true;
            pairs += 1;
        }
    }
    (lonely.iter().zip(&used).filter(|(_, used)| !**used).map(|(boundary, _)| *boundary).collect(), pairs)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Boundaries;

    use super::{BoundaryEdits, boundary_edits};

    fn edits(n: usize, a: &[usize], b: &[usize], span: usize) -> BoundaryEdits {
        boundary_edits(&Boundaries::new(n, a.to_vec()).unwrap(), &Boundaries::new(n, b.to_vec()).unwrap(), span)
            .unwrap()
    }

    #[test]
    fn a_boundary_is_near_to_one_partner_only() {
        let found = edits(11, &[4, 9], &[3, 5, 9], 2);
        assert_eq!((found.matches, found.transpositions, found.additions), (1, 1, 1));
        // B = 1 - (1 + 1/2) / 3, S = 1 - (1 + 1/2) / 10.
        assert!((found.boundary_similarity() - 0.5).abs() < 1e-15);
        assert!((found.segmentation_similarity() - 0.85).abs() < 1e-15);
    }

    #[test]
    fn nearer_partners_come_first() {
        // With a span of 3, 4-5 (distance 1) is taken before 2-4 (distance 2), and leaves 2 alone.
        let found = edits(11, &[4], &[2, 5], 3);
        assert_eq!((found.transpositions, found.distance, found.additions), (1, 1, 1));
        let found = edits(11, &[4], &[2], 3);
        assert_eq!((found.transpositions, found.distance, found.additions), (1, 2, 0));
        assert_eq!(edits(11, &[4], &[2], 2).additions, 2);
    }

    #[test]
    fn odd_spans_do_no_harm() {
        for span in [0, 1] {
            assert_eq!(edits(5, &[2], &[3], span).additions, 2);
        }
        assert_eq!(edits(5, &[1], &[4], usize::MAX).transpositions, 1);
        assert_eq!(edits(0, &[], &[], 2).boundary_similarity(), 1.0);
    }
}
