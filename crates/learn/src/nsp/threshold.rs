//! The threshold p, exact near 1.

use crate::probability::probability;

/// The threshold on "is next", as log-odds ln(p / (1 - p)): a segment ends where those of the prediction are at most as
/// high.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold(f64);

/// The number that scores of boundaries lie above: just below 0.5.
pub const THRESHOLD: f64 = 0.5f64.next_down();

/// Log-odds beyond which a threshold does not move the scores any more (decisions it does): scores of a threshold
/// further out would all be 0 or 1.
const FURTHEST: f64 = 12.0;

impl Threshold {
    /// q <= p, where p is a share; 1 ends a segment after every sentence.
    #[must_use]
    pub fn at_most(p: f64) -> Self {
        Self(p.ln() - (-p).ln_1p())
    }

    /// q <= 1 - `rest`, exact however small the rest is; 0 ends a segment after every sentence.
    #[must_use]
    pub fn all_but(rest: f64) -> Self {
        Self((-rest).ln_1p() - rest.ln())
    }

    /// From log-odds of p.
    #[must_use]
    pub fn of_odds(odds: f64) -> Self {
        Self(odds)
    }

    /// ln(p / (1 - p)); infinite for 0 and 1.
    #[must_use]
    pub fn odds(self) -> f64 {
        self.0
    }

    /// p, rounded to 1 where it is closer to it than numbers are.
    #[must_use]
    pub fn p(self) -> f64 {
        probability(self.0)
    }

    /// True where a prediction with these log-odds of "is next" ends a segment.
    #[must_use]
    pub fn cuts(self, odds: f64) -> bool {
        odds <= self.0
    }

    /// The score of a boundary in `[0, 1]`: p (1 - q) / (p (1 - q) + (1 - p) q), so that its log-odds say by how much q
    /// falls short of p; above [`THRESHOLD`] exactly where [`cuts`](Self::cuts), also where q and p are equal or the difference
    /// is lost in rounding. Never rises with `odds`.
    #[must_use]
    pub fn score(self, odds: f64) -> f64 {
        let score = probability(self.0.clamp(-FURTHEST, FURTHEST) - odds);
        if self.cuts(odds) { score.max(0.5) } else { score.min(THRESHOLD) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{THRESHOLD, Threshold};

    #[test]
    fn log_odds_are_exact_near_one() {
        let close = |found: Threshold, odds: f64| assert!((found.odds() - odds).abs() < 1e-9, "{found:?}, {odds}");
        close(Threshold::at_most(0.95), 19f64.ln());
        close(Threshold::all_but(0.05), 19f64.ln());
        close(Threshold::all_but(1e-5), 99_999f64.ln());
        close(Threshold::at_most(0.5), 0.0);
        // No number lies between 1 and this p, so that 1 - p is 0 when p is given; the rest can still be told.
        assert!((Threshold::all_but(1e-20).odds() - 20.0 * 10f64.ln()).abs() < 1e-12);
        assert!(Threshold::all_but(1e-5).cuts(11.512_915) && !Threshold::all_but(1e-5).cuts(11.512_916));
        for all in [Threshold::all_but(0.0), Threshold::at_most(1.0)] {
            assert!(all.cuts(f64::INFINITY) && all.score(f64::INFINITY) > THRESHOLD && all.score(500.0) > THRESHOLD);
        }
        let none = Threshold::at_most(0.0);
        assert!(!none.cuts(-1e6) && none.score(-1e6) <= THRESHOLD && (none.p()).abs() < 1e-12);
        // A damaged model's answer is no boundary, and still a score.
        assert!(Threshold::at_most(0.5).score(f64::NAN) <= THRESHOLD);
    }

    proptest! {
        #[test]
        fn scores_lie_above_tau_exactly_where_q_is_at_most_p(
            odds in prop_oneof![Just(f32::MAX), Just(-30.0f32), -20.0f32..20.0],
            rest in prop_oneof![Just(0.0), Just(1.0), Just(1e-5), Just(1e-30), 0.0..1.0f64],
            step in prop_oneof![Just(0u32), Just(1), 0u32..1000],
        ) {
            let odds = f64::from(odds);
            let next = f64::from_bits(odds.to_bits() + u64::from(step));
            for threshold in [Threshold::all_but(rest), Threshold::of_odds(odds), Threshold::of_odds(next)] {
                for odds in [odds, next] {
                    let score = threshold.score(odds);
                    prop_assert!((0.0..=1.0).contains(&score));
                    prop_assert_eq!(score > THRESHOLD, odds <= threshold.odds(), "{} {:?}", odds, threshold);
                }
                let (low, high) = if odds <= next { (odds, next) } else { (next, odds) };
                prop_assert!(threshold.score(low) >= threshold.score(high));
            }
        }
    }
}
