//! How many sections a document has, before they are looked for.

use crate::probability::probability;

/// Names the rule that counts sections, in the fingerprints of segmenters.
pub(super) const COUNT_RULE: &str = "count-2";

/// Nats that no evidence outweighs.
pub(super) const SURE: f64 = 1e6;

/// The number of segments that a document is expected to have by the log-odds of a boundary at each of its gaps alone.
pub(super) fn expected_segments(odds: &[f64]) -> f64 {
    1.0 + odds.iter().map(|&odds| probability(odds)).sum::<f64>()
}

/// The price of a segment, in nats, at which as many segments are expected as `wanted` says. `boundaries` gives the expected number of
/// boundaries at a price, and falls as the price rises.
pub(super) fn price_of(wanted: f64, mut boundaries: impl FnMut(f64) -> f64) -> f64 {
    /// The ratio of the number found to the number wanted may be off by this.
    const EXACT: f64 = 0.005;
    /// Boundaries that are wanted at least: fewer are as good as none, at any price that there is.
    const FEWEST: f64 = 1e-6;
    const STEPS: usize = 60;
    let wanted = (wanted - 1.0).max(FEWEST);
    let mut excess = |price: f64| (boundaries(price).max(f64::MIN_POSITIVE) / wanted).ln();
    let (mut here, mut off) = (0.0, excess(0.0));
    if off.abs() < EXACT {
        return here;
    }
    // Steps away from 0 until the number is on the other side.
    let mut step = if off > 0.0 { 0.5_f64 } else { -0.5 };
    let (mut other, mut other_off) = (here + step, excess(here + step));
    while off.signum() == other_off.signum() && other.abs() < SURE {
        (here, off) = (other, other_off);
        step *= 2.0;
        other = here + step;
        other_off = excess(other);
    }
    // Regula falsi; where one end stays it counts half (Dowell and Jarratt 1971).
    for _ in 0..STEPS {
        if !(off.is_finite() && other_off.is_finite()) || off.signum() == other_off.signum() {
            return other;
        }
        let price = (here * other_off - other * off) / (other_off - off);
        let found = excess(price);
        if found.abs() < EXACT {
            return price;
        }
        if found.signum() == other_off.signum() {
            off *= 0.5;
        } else {
            (here, off) = (other, other_off);
        }
        (other, other_off) = (price, found);
    }
    other
}

#[cfg(test)]
mod tests {
    use super::{expected_segments, price_of};

    #[test]
    fn as_many_segments_as_the_odds_promise() {
        assert!((expected_segments(&[]) - 1.0).abs() < 1e-12);
        assert!((expected_segments(&[0.0, 0.0, 3.0_f64.ln(), 800.0, -800.0]) - 3.75).abs() < 1e-12);
    }

    #[test]
    fn the_price_gives_the_number_that_is_wanted() {
        for n in [2, 3, 40, 1000] {
            for own in [1e-9_f64, 0.01, 0.3, 0.99] {
                let odds = (own / (1.0 - own)).ln();
                let boundaries = |price: f64| f64::from(n - 1) / (1.0 + (price - odds).exp());
                for wanted in [1.001, 1.5, 0.5 * f64::from(n), f64::from(n) - 0.01] {
                    if wanted > 1.0 && wanted < f64::from(n) {
                        let found = boundaries(price_of(wanted, boundaries));
                        assert!((found / (wanted - 1.0)).ln().abs() < 0.01, "{n} {own}: {found} is not {wanted} - 1");
                    }
                }
                // Where none are promised none are expected, whatever words say.
                assert!(boundaries(price_of(1.0, boundaries)) < 1.1e-6, "{n} {own}");
            }
        }
        // Heavy evidence asks for high prices.
        for odds in [-900.0, -30.0, 30.0, 900.0] {
            let boundaries = |price: f64| 50.0 / (1.0 + (price - odds).exp());
            let found = boundaries(price_of(9.0, boundaries));
            assert!((found / 8.0).ln().abs() < 0.01, "{odds}: {found}");
        }
        // Nothing gives more than there is: the search ends.
        assert!(price_of(9.0, |_| 3.0).is_finite());
        assert!(price_of(9.0, |_| 0.0).is_finite());
        assert!(price_of(9.0, |_| f64::NAN).is_finite());
    }
}
