use std::ops::Range;

/// The windows of a document: each begins half a window after the one before.
pub(super) fn windows(sentences: usize, window: usize) -> Vec<Range<usize>> {
    let stride = (window / 2).max(1);
    let more = sentences.saturating_sub(window).div_ceil(stride);
    (0..=more).map(|k| k * stride..(k * stride + window).min(sentences)).collect()
}

/// Boundary probabilities from windows that overlap: a mean that trusts a window most in its middle.
pub(super) struct Scores {
    sums: Vec<f64>,
    weights: Vec<f64>,
}

impl Scores {
    pub(super) fn of(gaps: usize) -> Self {
        Self { sums: vec![0.0; gaps], weights: vec![0.0; gaps] }
    }

    pub(super) fn add(&mut self, span: &Range<usize>, firsts: &[f64]) {
        let length = firsts.len();
        for (i, first) in firsts.iter().enumerate().skip(1) {
            let weight = i.min(length - i) as f64;
            let gap = span.start + i - 1;
            if let (Some(sum), Some(total)) = (self.sums.get_mut(gap), self.weights.get_mut(gap)) {
                *sum += weight * first;
                *total += weight;
            }
        }
    }

    pub(super) fn at(&self, gap: usize) -> f64 {
        match (self.sums.get(gap), self.weights.get(gap)) {
            (Some(sum), Some(weight)) if *weight > 0.0 => (sum / weight).clamp(0.0, 1.0),
            _ => 0.0,
        }
    }
}

/// The sentence at which the tree of a window goes over into that of the next: the likeliest boundary in the middle half of what
/// both read; of equals the first.
pub(super) fn seam(before: &Range<usize>, after: &Range<usize>, scores: &Scores) -> usize {
    let shared = before.end.saturating_sub(after.start);
    let (low, high) = (after.start + shared.div_ceil(4).max(1), before.end - shared / 4);
    let likeliest = (low..high).map(|sentence| (scores.at(sentence - 1), sentence));
    likeliest.reduce(|a, b| if b.0 > a.0 { b } else { a }).map_or(low, |(_, sentence)| sentence)
}

#[cfg(test)]
mod tests {
    use super::{Scores, seam, windows};

    #[test]
    fn windows_overlap_by_half_and_cover_all() {
        for whole in [7, 8] {
            assert_eq!(windows(whole, 8), std::slice::from_ref(&(0..whole)));
        }
        assert_eq!(windows(9, 8), [0..8, 4..9]);
        assert_eq!(windows(20, 8), [0..8, 4..12, 8..16, 12..20]);
        for n in 1..100 {
            let all = windows(n, 10);
            assert!(all.last().is_some_and(|last| last.end == n) && all.windows(2).all(|w| w[0].end - w[1].start == 5));
        }
    }

    /// All spans of a window are scored: they are the work.
    #[test]
    fn the_work_is_in_proportion_to_the_length() {
        let work = |n: usize| windows(n, 40).iter().map(|window| window.len() * (window.len() + 1) / 2).sum::<usize>();
        assert_eq!(work(25), 25 * 26 / 2);
        let [short, long] = [1000, 4000].map(|n| work(n) as f64 / n as f64);
        assert!((long / short - 1.0).abs() < 0.02, "{short} {long}");
        // Each sentence lies in two windows of 40.
        assert!(long < 2.0 * 41.0 / 2.0 + 1.0, "{long}");
    }

    #[test]
    fn a_seam_is_the_likeliest_boundary_that_both_windows_know() {
        let mut scores = Scores { sums: vec![0.0; 30], weights: vec![1.0; 30] };
        // Gap 11 lies at the overlap's edge, gap 14 in its middle half.
        (scores.sums[10], scores.sums[13], scores.sums[15]) = (0.9, 0.6, 0.6);
        assert_eq!(seam(&(0..20), &(10..30), &scores), 14);
        assert_eq!(seam(&(0..20), &(10..30), &Scores { sums: vec![0.0; 30], weights: vec![1.0; 30] }), 13);
    }

    #[test]
    fn windows_are_trusted_in_their_middle() {
        let mut scores = Scores { sums: vec![0.0; 5], weights: vec![0.0; 5] };
        scores.add(&(0..4), &[1.0, 0.2, 0.4, 0.6]);
        scores.add(&(2..6), &[1.0, 0.3, 0.5, 0.0]);
        let close =
            |gap: usize, expected: f64| assert!((scores.at(gap) - expected).abs() < 1e-12, "{}", scores.at(gap));
        close(0, 0.2);
        close(1, 0.4);
        // One sentence from the edge of both.
        close(2, (0.6 + 0.3) / 2.0);
        close(3, 0.5);
        assert_eq!(scores.at(99), 0.0);
    }
}
