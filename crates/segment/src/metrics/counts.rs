use std::cmp::Ordering;

use pericope_api::Boundaries;
use serde::{Deserialize, Serialize};

use super::{LengthMismatch, sentences};

/// Boundaries proposed, true, and in both, of one document or summed over several (for micro averages).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct BoundaryCounts {
    /// Boundaries of the hypothesis.
    pub proposed: usize,
    /// Boundaries of the reference.
    pub reference: usize,
    /// Boundaries of the hypothesis that are in the reference at the exact place.
    pub matched: usize,
}

impl BoundaryCounts {
    /// Counts one document's boundaries.
    ///
    /// # Errors
    /// [`LengthMismatch`] where the two do not have the same number of sentences.
    pub fn of(reference: &Boundaries, hypothesis: &Boundaries) -> Result<Self, LengthMismatch> {
        sentences(reference, hypothesis)?;
        let (mut a, mut b) = (reference.after().iter().peekable(), hypothesis.after().iter().peekable());
        let mut matched = 0;
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            let order = x.cmp(y);
            matched += usize::from(order == Ordering::Equal);
            if order != Ordering::Greater {
                a.next();
            }
            if order != Ordering::Less {
                b.next();
            }
        }
        Ok(Self { proposed: hypothesis.after().len(), reference: reference.after().len(), matched })
    }

    /// Share of the proposed boundaries that are true, 0..=1. Where none is proposed: 1 if none is true, else 0.
    #[must_use]
    pub fn precision(&self) -> f64 {
        share(self.matched, self.proposed, self.reference)
    }

    /// Share of the true boundaries that are proposed, 0..=1. Where none is true: 1 if none is proposed, else 0.
    #[must_use]
    pub fn recall(&self) -> f64 {
        share(self.matched, self.reference, self.proposed)
    }

    /// F1 = 2 * matched / (proposed + true), the harmonic mean of precision and recall, 0..=1; 1 where there are no
    /// boundaries at all.
    #[must_use]
    pub fn f1(&self) -> f64 {
        share(2 * self.matched, self.proposed + self.reference, 0)
    }

    /// Proposed over true boundaries; `None` where none is true.
    #[must_use]
    pub fn ratio(&self) -> Option<f64> {
        (self.reference > 0).then(|| self.proposed as f64 / self.reference as f64)
    }
}

/// `part / whole`; without a whole, 1 if the other side is empty too and 0 if it is not.
fn share(part: usize, whole: usize, other: usize) -> f64 {
    match (whole, other) {
        (0, 0) => 1.0,
        (0, _) => 0.0,
        _ => part as f64 / whole as f64,
    }
}

impl std::ops::AddAssign for BoundaryCounts {
    fn add_assign(&mut self, other: Self) {
        self.proposed += other.proposed;
        self.reference += other.reference;
        self.matched += other.matched;
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Boundaries;

    use super::BoundaryCounts;

    #[test]
    fn counts_exact_positions() {
        let reference = Boundaries::new(12, vec![1, 4, 7, 9]).unwrap();
        let hypothesis = Boundaries::new(12, vec![2, 4, 9, 10, 11]).unwrap();
        let counts = BoundaryCounts::of(&reference, &hypothesis).unwrap();
        assert_eq!(counts, BoundaryCounts { proposed: 5, reference: 4, matched: 2 });
        assert_eq!((counts.precision(), counts.recall(), counts.f1()), (0.4, 0.5, 4.0 / 9.0));
        assert_eq!(counts.ratio(), Some(1.25));
    }

    #[test]
    fn one_side_empty_scores_nothing() {
        let (none, some) = (Boundaries::none(5), Boundaries::new(5, vec![2]).unwrap());
        for (a, b) in [(&none, &some), (&some, &none)] {
            let counts = BoundaryCounts::of(a, b).unwrap();
            assert_eq!((counts.precision(), counts.recall(), counts.f1()), (0.0, 0.0, 0.0));
        }
        assert_eq!(BoundaryCounts::of(&none, &some).unwrap().ratio(), None);
        assert_eq!(BoundaryCounts::of(&some, &none).unwrap().ratio(), Some(0.0));
    }
}
