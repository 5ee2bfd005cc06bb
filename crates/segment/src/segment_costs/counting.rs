use pericope_api::{Boundaries, BoundaryError};
use pulp::Arch;

use super::table::{CELLS, Longer, OneMore, SegmentCosts};

impl SegmentCosts {
    /// The costs of the cheapest segmentations of the first `n` sentences (at most all) into 1, 2, ... `most` segments; infinite
    /// where the table allows none. Time O(n * longest * most).
    #[must_use]
    pub fn costs_by_count(&self, n: usize, most: usize) -> Vec<f64> {
        let n = n.min(self.n);
        let most = most.min(n);
        // The cheapest ways to every gap, by the number of segments; those to a gap are all known once the gaps before it have been left.
        let mut best = vec![vec![f64::INFINITY; n + 1]; most + 1];
        best[0][0] = 0.0;
        let mut longer: Vec<Longer<'_>> = (0..most).map(|_| Longer::new(self, 0.0)).collect();
        let arch = Arch::new();
        for first in 0..=n {
            for segments in 0..most {
                let [before, after, ..] = &mut best[segments..] else { continue };
                let (cost, _) = longer[segments].at(first, before);
                after[first] = if cost < after[first] { cost } else { after[first] };
                if first < n && before[first] < f64::INFINITY {
                    let (before, best) = (before[first], &mut after[first + 1..]);
                    arch.dispatch(OneMore { before, costs: self.row(first), best });
                }
            }
        }
        best.iter().skip(1).map(|ways| ways[n]).collect()
    }

    /// Whether a table for `n` sentences can be asked for `segments` segments: not where segments of up to `longest` sentences are
    /// too short for so few, nor where the table would be too large (sentences times segments above 2^25).
    #[must_use]
    pub fn counts(n: usize, longest: usize, segments: usize) -> bool {
        let wanted = segments.clamp(1, n.max(1));
        wanted.saturating_mul(longest) >= n && wanted.saturating_mul(n + 1) <= CELLS
    }

    /// The cheapest segmentation into `segments` segments, or into as many as there are sentences; `None` where it cannot
    /// be [asked for](Self::counts). Time O(n * longest * segments).
    ///
    /// # Errors
    /// None, unless costs are not numbers.
    pub fn counted(&self, segments: usize) -> Result<Option<Boundaries>, BoundaryError> {
        let n = self.n;
        let wanted = segments.clamp(1, n.max(1));
        let longest = if self.is_endless() { n } else { self.longest };
        if !Self::counts(n, longest, segments) {
            return Ok(None);
        }
        let mut best = Counting::new(n);
        let mut from: Vec<Vec<u32>> = Vec::with_capacity(wanted);
        for _ in 0..wanted.min(n) {
            let mut back = vec![0u32; n + 1];
            best.one_more(self, &mut back);
            from.push(back);
        }
        match best.cost() {
            cost if cost < f64::INFINITY => Ok(Some(Boundaries::new(n, trace(&from, n))?)),
            _ => Ok(None),
        }
    }
}

/// The cheapest ways to every gap in a number of segments.
struct Counting {
    best: Vec<f64>,
    segments: usize,
}

impl Counting {
    fn new(n: usize) -> Self {
        let mut best = vec![f64::INFINITY; n + 1];
        best[0] = 0.0;
        Self { best, segments: 0 }
    }

    /// Cost of the way to the last gap.
    fn cost(&self) -> f64 {
        self.best.last().copied().unwrap_or(f64::INFINITY)
    }

    /// Adds a segment; writes where it begins to `back`, by the gap that it ends at.
    fn one_more(&mut self, band: &SegmentCosts, back: &mut [u32]) {
        let n = self.best.len() - 1;
        let mut next = vec![f64::INFINITY; n + 1];
        for (first, &before) in self.best.iter().enumerate().take(n).skip(self.segments) {
            if before == f64::INFINITY {
                continue;
            }
            for (i, cost) in band.row(first).iter().enumerate().take(n - first) {
                let end = first + i + 1;
                if before + cost <= next[end] {
                    next[end] = before + cost;
                    back[end] = first as u32;
                }
            }
        }
        let mut longer = Longer::new(band, 0.0);
        for (end, (next, back)) in next.iter_mut().zip(back).enumerate() {
            let (cost, first) = longer.at(end, &self.best);
            if cost < *next {
                (*next, *back) = (cost, first as u32);
            }
        }
        self.best = next;
        self.segments += 1;
    }
}

fn trace(from: &[Vec<u32>], n: usize) -> Vec<usize> {
    let mut after = Vec::new();
    let mut at = n;
    for back in from.iter().rev() {
        at = back[at] as usize;
        if at > 0 {
            after.push(at);
        }
    }
    after.reverse();
    after
}
