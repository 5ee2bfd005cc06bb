use std::f64::consts::TAU;

use serde::{Deserialize, Serialize};

/// Least deviation: lengths that are all the same would allow no other.
const LEAST: f64 = 0.1;

/// The lengths of segments: log-normally distributed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Median, in sentences.
    pub median: f64,
    /// Deviation of the natural logarithm.
    pub deviation: f64,
}

impl Lengths {
    /// The distribution that fits these lengths in sentences best; nothing where there is none.
    #[must_use]
    pub fn of(lengths: impl IntoIterator<Item = usize>) -> Option<Self> {
        let logs: Vec<f64> =
            lengths.into_iter().filter(|&length| length > 0).map(|length| (length as f64).ln()).collect();
        if logs.is_empty() {
            return None;
        }
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / count;
        Some(Self { median: mean.exp(), deviation: variance.sqrt().max(LEAST) })
    }

    /// How much more probable a segment of so many sentences is under this distribution than under the geometric one with the same
    /// mean, in nats.
    ///
    /// The log-odds of boundaries are right where lengths are geometrically distributed: each gap has a boundary or has none,
    /// whatever the others have. This is what the lengths say beyond that, and it leaves the number of boundaries where it is.
    #[must_use]
    pub fn evidence(&self, length: usize) -> f64 {
        let Self { median, deviation } = *self;
        let length = length.max(1) as f64;
        let z = (length / median).ln() / deviation;
        let own = -length.ln() - deviation.ln() - TAU.ln() / 2.0 - z * z / 2.0;
        // A mean of 1 would leave every other length without any probability.
        let end = 1.0 / (median * (deviation * deviation / 2.0).exp()).max(1.1);
        own - end.ln() - (length - 1.0) * (1.0 - end).ln()
    }

    pub(super) fn is_usable(&self) -> bool {
        [self.median, self.deviation].iter().all(|number| number.is_normal() && *number > 0.0)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Lengths;

    #[test]
    fn it_fits_the_lengths_that_it_is_made_of() {
        let found = Lengths::of([2, 8, 4, 4]).unwrap();
        assert!((found.median - 4.0).abs() < 1e-9 && (found.deviation - 2f64.ln() / 2f64.sqrt()).abs() < 1e-9);
        assert_eq!(Lengths::of([]), None);
        assert!(Lengths::of([5, 5]).unwrap().is_usable());
        // Usual lengths speak for themselves, and both ends against.
        let usual = found.evidence(4);
        assert!(usual > 0.0 && usual > found.evidence(1) && found.evidence(1) < 0.0 && found.evidence(60) < 0.0);
    }

    #[test]
    fn it_is_the_ratio_of_two_distributions() {
        let lengths = Lengths { median: 9.0, deviation: 0.7 };
        let mean = 9.0 * (0.7f64 * 0.7 / 2.0).exp();
        let geometric = |m: i32| (1.0 - 1.0 / mean).powi(m - 1) / mean;
        let total: f64 = (1..4000).map(|m| lengths.evidence(m as usize).exp() * geometric(m)).sum();
        assert!((total - 1.0).abs() < 1e-2, "{total}");
    }
}
