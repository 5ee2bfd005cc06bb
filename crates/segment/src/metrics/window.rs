//! The two metrics that slide a window over the document: [`pk`] and [`window_diff`].
//!
//! A probe `i` looks at sentence `i` and sentence `i + k` (0-based), so there are `n - k` probes for `n` sentences. Pk
//! (Beeferman, Berger and Lafferty 1999, Machine Learning 34) asks whether both lie in one segment; WindowDiff
//! (Pevzner and Hearst 2002, Computational Linguistics 28) asks how many boundaries lie between them. The score
//! is the share of probes on which reference and hypothesis answer differently.
//!
//! The literature and its programs choose `k`, half the mean segment length of the reference, with different roundings.
//! [`window_size`] rounds half up, segeval half to even, and nltk's default divides by boundaries instead of segments. So
//! compare figures only where `k` is the same; both functions take any.
//!
//! Where `k >= n` no probe fits and both scores are 0: with our `k`, in documents of up to two sentences.

use pericope_api::Boundaries;

use super::{LengthMismatch, sentences};

/// Returns the window size of this crate, in sentences: `max(2, floor(n / (2 S) + 0.5))` for n sentences and S segments.
#[must_use]
pub fn window_size(reference: &Boundaries) -> usize {
    let (n, segments) = (reference.sentences(), reference.segments().max(1));
    ((n + segments) / (2 * segments)).max(2)
}

/// Pk with a window of `k`: the share of the `n - k` probes on which the two disagree whether both ends lie in one
/// segment. 0..=1; 0 where no probe fits.
///
/// # Errors
/// [`LengthMismatch`] where the two do not have the same number of sentences.
pub fn pk(reference: &Boundaries, hypothesis: &Boundaries, k: usize) -> Result<f64, LengthMismatch> {
    disagreement(reference, hypothesis, k, |a, b| (a == 0) != (b == 0))
}

/// WindowDiff with a window of `k`: the share of the `n - k` windows whose numbers of boundaries differ. 0..=1; 0 where
/// no window fits.
///
/// # Errors
/// [`LengthMismatch`] where the two do not have the same number of sentences.
pub fn window_diff(reference: &Boundaries, hypothesis: &Boundaries, k: usize) -> Result<f64, LengthMismatch> {
    disagreement(reference, hypothesis, k, |a, b| a != b)
}

/// Share of probes for which `differ` holds of the two boundary counts.
fn disagreement(
    reference: &Boundaries,
    hypothesis: &Boundaries,
    k: usize,
    differ: impl Fn(usize, usize) -> bool,
) -> Result<f64, LengthMismatch> {
    let n = sentences(reference, hypothesis)?;
    if k >= n {
        return Ok(0.0);
    }
    let (mut a, mut b) = (Window::new(reference), Window::new(hypothesis));
    let errors = (0..n - k).filter(|&i| differ(a.count(i, i + k), b.count(i, i + k))).count();
    Ok(errors as f64 / (n - k) as f64)
}

/// Counts the boundaries in windows that only move to the right: two cursors, each of which passes every boundary once.
struct Window<'a> {
    after: &'a [usize],
    passed_start: usize,
    passed_end: usize,
}

impl<'a> Window<'a> {
    fn new(boundaries: &'a Boundaries) -> Self {
        Self { after: boundaries.after(), passed_start: 0, passed_end: 0 }
    }

    /// Boundaries `b` with `start < b <= end`: those between sentences `start` and `end` (0-based).
    fn count(&mut self, start: usize, end: usize) -> usize {
        let advance = |passed: &mut usize, limit: usize| {
            while self.after.get(*passed).is_some_and(|&b| b <= limit) {
                *passed += 1;
            }
            *passed
        };
        advance(&mut self.passed_end, end) - advance(&mut self.passed_start, start)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_api::Boundaries;

    use super::{pk, window_diff, window_size};

    fn boundaries(n: usize, after: &[usize]) -> Boundaries {
        Boundaries::new(n, after.to_vec()).unwrap()
    }

    #[test]
    fn the_window_is_rounded_half_up_and_at_least_two() {
        // Ten sentences, two segments: 10 / 4 = 2.5.
        assert_eq!(window_size(&boundaries(10, &[3])), 3);
        assert_eq!(window_size(&boundaries(6, &[1, 2, 3, 4, 5])), 2);
        assert_eq!(window_size(&Boundaries::none(0)), 2);
    }

    #[test]
    fn every_window_by_hand() {
        // Six sentences, k = 2, probes (0,2) (1,3) (2,4) (3,5). Reference counts 0 1 1 0, hypothesis 1 1 0 1 (at 1, 2
        // and 5: counts 2 1 0 1).
        let (reference, hypothesis) = (boundaries(6, &[3]), boundaries(6, &[1, 2, 5]));
        assert_eq!(pk(&reference, &hypothesis, 2).unwrap(), 0.75);
        assert_eq!(window_diff(&reference, &hypothesis, 2).unwrap(), 0.75);
        let (reference, hypothesis) = (boundaries(6, &[3]), boundaries(6, &[2, 3]));
        // Counts 0 1 1 0 against 1 2 1 0: Pk does not see the second boundary in the window (1,3).
        assert_eq!(pk(&reference, &hypothesis, 2).unwrap(), 0.25);
        assert_eq!(window_diff(&reference, &hypothesis, 2).unwrap(), 0.5);
    }

    #[test]
    fn windows_that_do_not_fit_and_empty_windows() {
        let (reference, hypothesis) = (boundaries(4, &[2]), Boundaries::none(4));
        assert_eq!(window_diff(&reference, &hypothesis, 4).unwrap(), 0.0);
        assert_eq!(window_diff(&reference, &hypothesis, usize::MAX).unwrap(), 0.0);
        assert_eq!(pk(&reference, &hypothesis, 0).unwrap(), 0.0);
        assert_eq!(pk(&reference, &hypothesis, 3).unwrap(), 1.0);
    }
}
