use pericope_api::Boundaries;
use pericope_segment::metrics::window_size;

/// Boundaries that are counted in one window: more are as good as impossible, a window being half a segment long.
const COUNTED: usize = 16;

/// The probabilities of 0, 1, ... boundaries.
type Counts = [f64; COUNTED + 1];

/// No gap: no boundary.
const NO_GAP: Counts = {
    let mut counts = [0.0; COUNTED + 1];
    counts[0] = 1.0;
    counts
};

/// The WindowDiff (Pevzner and Hearst 2002) that a segmentation is expected to have, where gap i has a boundary with probability p(i),
/// whatever the others have: the mean, over all windows, of the probability that the window does not have as many boundaries as
/// the segmentation has there. 0 to 1.
///
/// The window is half the mean length of a segment, of which as many are expected as the probabilities say.
pub(super) struct ExpectedWindowDiff {
    window: usize,
    /// For each gap the counts from it to the end of its block of `window` gaps, and those from the block's beginning up to it: a window
    /// is the end of one block and the beginning of the next.
    ends: Vec<Counts>,
    beginnings: Vec<Counts>,
}

impl ExpectedWindowDiff {
    pub(super) fn new(probabilities: &[f64]) -> Self {
        let gaps = probabilities.len();
        let expected = (probabilities.iter().sum::<f64>().round() as usize).min(gaps);
        // The metric's own rule, for any segmentation with as many boundaries.
        let window = Boundaries::new(gaps + 1, (1..=expected).collect()).map_or(2, |some| window_size(&some));
        let (mut ends, mut beginnings) = (vec![NO_GAP; gaps], vec![NO_GAP; gaps + 1]);
        for (block, own) in probabilities.chunks(window).enumerate() {
            let first = block * window;
            let mut counts = NO_GAP;
            for (i, &p) in own.iter().enumerate() {
                // The beginning of the next block is no part of this one.
                counts = with(&counts, p);
                if let Some(here) = beginnings.get_mut(first + i + 1).filter(|_| i + 1 < window) {
                    *here = counts;
                }
            }
            let mut counts = NO_GAP;
            for (i, &p) in own.iter().enumerate().rev() {
                counts = with(&counts, p);
                if let Some(here) = ends.get_mut(first + i) {
                    *here = counts;
                }
            }
        }
        Self { window, ends, beginnings }
    }

    /// The expected WindowDiff of a segmentation of the same document.
    pub(super) fn of(&self, segmentation: &Boundaries) -> f64 {
        let is_boundary = {
            let mut flags = vec![0usize; self.ends.len()];
            segmentation
                .after()
                .iter()
                .for_each(|&after| flags.get_mut(after - 1).into_iter().for_each(|flag| *flag = 1));
            flags
        };
        let windows = (self.ends.len() + 1).saturating_sub(self.window);
        let mut inside: usize = is_boundary.iter().take(self.window).sum();
        let mut wrong = 0.0;
        for first in 0..windows {
            if let (Some(end), Some(beginning)) = (self.ends.get(first), self.beginnings.get(first + self.window)) {
                wrong += 1.0 - together(end, beginning, inside);
            }
            inside += is_boundary.get(first + self.window).unwrap_or(&0);
            inside -= is_boundary.get(first).unwrap_or(&0);
        }
        if windows > 0 { wrong / windows as f64 } else { 0.0 }
    }
}

/// The counts with one more gap.
fn with(counts: &Counts, p: f64) -> Counts {
    let mut more = [0.0; COUNTED + 1];
    let mut before = 0.0;
    for (more, &here) in more.iter_mut().zip(counts) {
        *more = here * (1.0 - p) + before * p;
        before = here;
    }
    more
}

/// The probability of `count` boundaries in two runs of gaps.
fn together(a: &Counts, b: &Counts, count: usize) -> f64 {
    if count > COUNTED {
        return 0.0;
    }
    a.iter().take(count + 1).zip(b.iter().take(count + 1).rev()).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::Boundaries;
    use pericope_segment::metrics::window_diff;
    use proptest::prelude::*;

    use super::ExpectedWindowDiff;

    fn all(n: usize) -> impl Iterator<Item = Boundaries> {
        (0..1u32 << (n - 1))
            .map(move |bits| Boundaries::new(n, (1..n).filter(|gap| bits >> (gap - 1) & 1 == 1).collect()).unwrap())
    }

    proptest! {
        #[test]
        fn as_over_all_references(probabilities in prop::collection::vec(0.0..1.0_f64, 0..9), bits in any::<u32>()) {
            let n = probabilities.len() + 1;
            let segmentation = Boundaries::new(n, (1..n).filter(|gap| bits >> gap & 1 == 1).collect()).unwrap();
            let expected = ExpectedWindowDiff::new(&probabilities);
            let mean: f64 = all(n).map(|reference| {
                let odds = probabilities.iter().enumerate().map(|(i, p)| if reference.after().contains(&(i + 1)) { *p } else { 1.0 - p });
                odds.product::<f64>() * window_diff(&reference, &segmentation, expected.window).unwrap()
            }).sum();
            prop_assert!((expected.of(&segmentation) - mean).abs() < 1e-9, "{} {mean}", expected.of(&segmentation));
        }
    }

    #[test]
    fn the_window_is_half_a_segment_and_work_is_in_proportion_to_the_gaps() {
        let rare = ExpectedWindowDiff::new(&vec![0.001; 20_000]);
        assert_eq!(rare.window, 476);
        // Nothing is certain: no boundary at all is as good as it gets.
        let none = rare.of(&Boundaries::none(20_001));
        let some = rare.of(&Boundaries::new(20_001, (1..20).map(|i| i * 1000).collect()).unwrap());
        assert!(none < some && (none - (1.0 - 0.999f64.powi(476))).abs() < 1e-9, "{none} {some}");
    }
}
