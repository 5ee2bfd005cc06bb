use serde::{Deserialize, Serialize};

/// Least deviation: lengths that are all the same would allow no other.
const LEAST: f64 = 0.1;

/// Sentences of the document that [`Lengths::median`] is of.
const USUAL: f64 = 100.0;

/// The lengths of segments: log-normally distributed around a median that grows with the document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Lengths {
    /// Median, in sentences, in a document of 100 sentences.
    pub median: f64,
    /// Deviation of the natural logarithm.
    pub deviation: f64,
    /// The power of a document's length that the median grows with, 0 to 1: long documents have longer segments, and more of them.
    #[serde(default)]
    pub growth: f64,
}

impl Lengths {
    /// The distribution that fits the segments of documents best, given by their lengths in sentences; each document counts as much
    /// as any other. Nothing where there is none.
    #[must_use]
    pub fn of(documents: impl IntoIterator<Item = Vec<usize>>) -> Option<Self> {
        // Of each document: the logarithm of its length, and the mean and the mean square of those of its segments' lengths.
        let facts: Vec<[f64; 3]> = documents.into_iter().filter_map(|lengths| facts(&lengths)).collect();
        if facts.is_empty() {
            return None;
        }
        let count = facts.len() as f64;
        let mean = |of: &dyn Fn(&[f64; 3]) -> f64| facts.iter().map(of).sum::<f64>() / count;
        let (x, y) = (mean(&|one| one[0]), mean(&|one| one[1]));
        let (spread, common) = (mean(&|one| (one[0] - x).powi(2)), mean(&|one| (one[0] - x) * (one[1] - y)));
        let growth = if spread > 1e-9 { (common / spread).clamp(0.0, 1.0) } else { 0.0 };
        let expected = |length: f64| y + growth * (length - x);
        let variance = mean(&|&[length, own, square]| square - 2.0 * own * expected(length) + expected(length).powi(2));
        Some(Self { median: expected(0.0).exp(), deviation: variance.max(0.0).sqrt().max(LEAST), growth })
    }

    /// The logarithm of how probable a segment of `length` sentences is in a document of `sentences`, less that of a segment of the
    /// median length: in nats, for a segment a sentence longer or shorter.
    #[must_use]
    pub fn evidence(&self, length: usize, sentences: usize) -> f64 {
        let median = self.median.ln() + self.growth * (sentences.max(1) as f64 / USUAL).ln();
        let off = (length.max(1) as f64).ln() - median;
        -off - (off / self.deviation).powi(2) / 2.0
    }

    pub(super) fn is_usable(&self) -> bool {
        let is_positive = [self.median, self.deviation].iter().all(|number| number.is_normal() && *number > 0.0);
        is_positive && (0.0..=1.0).contains(&self.growth)
    }
}

fn facts(lengths: &[usize]) -> Option<[f64; 3]> {
    let logs: Vec<f64> = lengths.iter().filter(|&&length| length > 0).map(|&length| (length as f64).ln()).collect();
    let count = logs.len() as f64;
    let sentences: usize = lengths.iter().sum();
    let mean = |sum: f64| sum / count;
    let [own, square] = [mean(logs.iter().sum()), mean(logs.iter().map(|log| log * log).sum())];
    (count > 0.0).then(|| [(sentences as f64 / USUAL).ln(), own, square])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Lengths;

    #[test]
    fn it_fits_the_lengths_that_it_is_made_of() {
        let found = Lengths::of([vec![2, 8, 4, 4]]).unwrap();
        assert!((found.median - 4.0).abs() < 1e-9 && (found.deviation - 2f64.ln() / 2f64.sqrt()).abs() < 1e-9);
        assert_eq!((found.growth, Lengths::of([]), Lengths::of([vec![]])), (0.0, None, None));
        assert!(Lengths::of([vec![5, 5]]).unwrap().is_usable());
        // Usual lengths speak for themselves, and both ends against.
        let usual = found.evidence(3, 100);
        assert!(usual > found.evidence(1, 100) && usual > found.evidence(60, 100));
        assert!(found.evidence(4, 100).abs() < 1e-9);
    }

    #[test]
    fn segments_grow_with_the_document() {
        // As the square root: 25 sentences have segments of 5, 100 of 10, 400 of 20.
        let found = Lengths::of([vec![5; 5], vec![10; 10], vec![20; 20]]).unwrap();
        assert!((found.growth - 0.5).abs() < 1e-9 && (found.median - 10.0).abs() < 1e-9, "{found:?}");
        assert!((found.evidence(10, 100) - found.evidence(20, 400)).abs() < 1e-9);
        assert!(found.evidence(10, 400) < found.evidence(20, 400));
        // A document that has many segments counts no more than another.
        let many = Lengths::of([vec![2; 50], vec![8]]).unwrap();
        assert!(many.growth == 0.0 && (many.median - 4.0).abs() < 1e-9, "{many:?}");
    }

    #[test]
    fn it_is_the_ratio_of_two_densities() {
        let Lengths { median, deviation, .. } = Lengths { median: 9.0, deviation: 0.7, growth: 0.3 };
        let density = |m: f64| (-((m / median).ln() / deviation).powi(2) / 2.0).exp() / m;
        let lengths = Lengths { median, deviation, growth: 0.3 };
        for m in [1usize, 4, 30] {
            let ratio = (density(m as f64) / density(median)).ln();
            assert!((lengths.evidence(m, 100) - ratio).abs() < 1e-9);
        }
    }
}
