//! Segmentations of least cost: dynamic programmes over a table of what every possible segment costs.
//!
//! Several segmenters differ in nothing but the cost of a segment. They fill a [`SegmentCosts`], which knows the cheapest
//! segmentation with a given number of segments, the cheapest one at a given price a segment, and how much of all the
//! probability lies on segmentations that have a boundary at a gap.

use pericope_api::{Boundaries, BoundaryError};
use rayon::prelude::*;

/// Cells of a table at most: 256 MB.
const CELLS: usize = 32 << 20;

/// The cost of every segment of `first..first + length` sentences with `length` up to [`longest`](SegmentCosts::longest).
pub(crate) struct SegmentCosts {
    n: usize,
    longest: usize,
    /// `costs[first * longest + length - 1]`; infinite where the segment would pass the end.
    costs: Vec<f64>,
}

impl SegmentCosts {
    /// The longest segment that is looked at, in sentences, where `wanted` would be enough: fewer where the table for `n`
    /// sentences would not fit into memory.
    pub fn reach(n: usize, wanted: usize) -> usize {
        wanted.min(n).min((CELLS / n.max(1)).max(16)).max(1)
    }

    /// Fills a table for `n` sentences. `fill(state, first, costs)` gets what `state` made for its thread and a row of infinities, as long as there are segments that
    /// begin at sentence `first`, and writes the cost of the segment of `i + 1` sentences to `costs[i]`. Costs are to be
    /// finite; a segment that must not be stays infinite.
    pub fn new<S>(
        n: usize,
        longest: usize,
        state: impl Fn() -> S + Sync + Send,
        fill: impl Fn(&mut S, usize, &mut [f64]) + Sync + Send,
    ) -> Self {
        let longest = longest.clamp(1, n.max(1));
        let mut costs = vec![f64::INFINITY; n * longest];
        costs.par_chunks_mut(longest).enumerate().for_each_init(state, |state, (first, row)| {
            let room = longest.min(n - first);
            fill(state, first, &mut row[..room]);
        });
        Self { n, longest, costs }
    }

    /// Sentences of the longest segment.
    pub fn longest(&self) -> usize {
        self.longest
    }

    fn row(&self, first: usize) -> &[f64] {
        &self.costs[first * self.longest..(first + 1) * self.longest]
    }

    /// The cost of one segment; infinite beyond the table.
    #[cfg(test)]
    fn cost(&self, first: usize, end: usize) -> f64 {
        let length = end.saturating_sub(first);
        if length == 0 || length > self.longest { f64::INFINITY } else { self.row(first)[length - 1] }
    }

    /// The total cost of a segmentation.
    #[cfg(test)]
    fn total(&self, boundaries: &Boundaries) -> f64 {
        boundaries.ranges().map(|range| self.cost(range.start, range.end)).sum()
    }

    /// The cheapest segmentation where every segment costs `price` more; of equally cheap ones the one whose last
    /// segments are shortest.
    pub fn cheapest(&self, price: f64) -> Result<Boundaries, BoundaryError> {
        let mut best = vec![f64::INFINITY; self.n + 1];
        let mut from = vec![0; self.n + 1];
        best[0] = 0.0;
        for first in 0..self.n {
            if best[first] == f64::INFINITY {
                continue;
            }
            let before = best[first] + price;
            for (i, cost) in self.row(first).iter().enumerate().take(self.n - first) {
                let end = first + i + 1;
                if before + cost <= best[end] {
                    best[end] = before + cost;
                    from[end] = first;
                }
            }
        }
        Boundaries::new(self.n, trace(&from, self.n))
    }

    /// The costs of the cheapest segmentations of the first `n` sentences (at most all) into 1, 2, ... `most` segments; infinite
    /// where the table allows none. Time O(n * longest * most).
    pub fn costs_by_count(&self, n: usize, most: usize) -> Vec<f64> {
        let n = n.min(self.n);
        let mut best = Counting::new(n);
        (0..most.min(n)).map(|_| best.one_more(self, &mut [])).collect()
    }

    /// Whether a table for `n` sentences can be asked for `segments` segments: not where segments of up to `longest` sentences are
    /// too short for so few, nor where the table would be too large (sentences times segments above 2^25).
    pub fn counts(n: usize, longest: usize, segments: usize) -> bool {
        let wanted = segments.clamp(1, n.max(1));
        wanted.saturating_mul(longest) >= n && wanted.saturating_mul(n + 1) <= CELLS
    }

    /// The cheapest segmentation into `segments` segments, or into as many as there are sentences; `None` where it cannot
    /// be [asked for](Self::counts).
    pub fn counted(&self, segments: usize) -> Result<Option<Boundaries>, BoundaryError> {
        let n = self.n;
        let wanted = segments.clamp(1, n.max(1));
        if !Self::counts(n, self.longest, segments) {
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
            cost if cost < f64::INFINITY => Ok(Some(Boundaries::new(n, trace_counted(&from, n))?)),
            _ => Ok(None),
        }
    }

    /// For each gap the probability of a boundary, where a segmentation's probability is proportional to
    /// exp(-(cost + price * segments) / temperature).
    pub fn marginals(&self, price: f64, temperature: f64) -> Vec<f64> {
        let n = self.n;
        let weight = |cost: f64| -(cost + price) / temperature;
        let mut forward = vec![f64::NEG_INFINITY; n + 1];
        forward[0] = 0.0;
        for first in 0..n {
            let before = forward[first];
            if before == f64::NEG_INFINITY {
                continue;
            }
            for (i, &cost) in self.row(first).iter().enumerate().take(n - first) {
                let end = first + i + 1;
                forward[end] = log_add(forward[end], before + weight(cost));
            }
        }
        let mut backward = vec![f64::NEG_INFINITY; n + 1];
        backward[n] = 0.0;
        for first in (0..n).rev() {
            let terms = self.row(first).iter().take(n - first).enumerate();
            backward[first] =
                terms.fold(f64::NEG_INFINITY, |sum, (i, &cost)| log_add(sum, weight(cost) + backward[first + i + 1]));
        }
        (1..n).map(|gap| (forward[gap] + backward[gap] - forward[n]).exp().clamp(0.0, 1.0)).collect()
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

    /// Adds a segment; writes where it begins to `back`, if that has room, and gives the cost.
    fn one_more(&mut self, band: &SegmentCosts, back: &mut [u32]) -> f64 {
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
                    if let Some(back) = back.get_mut(end) {
                        *back = first as u32;
                    }
                }
            }
        }
        self.best = next;
        self.segments += 1;
        self.cost()
    }
}

/// Logarithm of the sum of two exponentials.
fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    // Beyond this the smaller one is below the last bit of the sum.
    if high - low > 40.0 || low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

fn trace(from: &[usize], n: usize) -> Vec<usize> {
    let mut after = Vec::new();
    let mut at = from[n];
    while at > 0 {
        after.push(at);
        at = from[at];
    }
    after.reverse();
    after
}

fn trace_counted(from: &[Vec<u32>], n: usize) -> Vec<usize> {
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

/// Scores whose boundaries above 0.5 are exactly `chosen`: the probabilities, moved to the right side of 0.5.
pub(crate) fn scores(mut probabilities: Vec<f64>, chosen: &Boundaries) -> Vec<f64> {
    let mut chosen_here = vec![false; probabilities.len()];
    for &after in chosen.after() {
        if let Some(here) = chosen_here.get_mut(after - 1) {
            *here = true;
        }
    }
    for (p, chosen) in probabilities.iter_mut().zip(chosen_here) {
        *p = if chosen { p.max(0.5_f64.next_up()) } else { p.min(0.5) };
    }
    probabilities
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::{SegmentCosts, scores};
    use pericope_api::Boundaries;

    fn band(n: usize, longest: usize, table: &[f64]) -> SegmentCosts {
        SegmentCosts::new(
            n,
            longest,
            || (),
            |(), first, costs| {
                for (i, cost) in costs.iter_mut().enumerate() {
                    *cost = table[(first * 31 + i * 7) % table.len()];
                }
            },
        )
    }

    /// Every segmentation of `n` sentences.
    fn all(n: usize) -> impl Iterator<Item = Boundaries> {
        (0..1u32 << (n - 1))
            .map(move |bits| Boundaries::new(n, (1..n).filter(|gap| bits >> (gap - 1) & 1 == 1).collect()).unwrap())
    }

    proptest! {
        #[test]
        fn as_by_trying_everything(
            n in 1_usize..9,
            longest in 1_usize..9,
            table in prop::collection::vec(-2.0..3.0_f64, 40),
            price in -1.0..2.0_f64,
        ) {
            let band = band(n, longest, &table);
            let priced = |b: &Boundaries| band.total(b) + price * b.segments() as f64;
            let least = all(n).map(|b| priced(&b)).fold(f64::INFINITY, f64::min);
            prop_assert!((priced(&band.cheapest(price).unwrap()) - least).abs() < 1e-9);
            for (i, cost) in band.costs_by_count(n, n).into_iter().enumerate() {
                let least = all(n).filter(|b| b.segments() == i + 1).map(|b| band.total(&b)).fold(f64::INFINITY, f64::min);
                match band.counted(i + 1).unwrap() {
                    Some(boundaries) => {
                        prop_assert_eq!(boundaries.segments(), i + 1);
                        prop_assert!((cost - least).abs() < 1e-9 && (band.total(&boundaries) - least).abs() < 1e-9);
                    }
                    None => prop_assert!(least.is_infinite() && cost.is_infinite()),
                }
            }
            let temperature = 0.7;
            let mass: Vec<(f64, Boundaries)> = all(n).map(|b| ((-priced(&b) / temperature).exp(), b)).collect();
            let whole: f64 = mass.iter().map(|(p, _)| p).sum();
            for (i, found) in band.marginals(price, temperature).into_iter().enumerate() {
                let here: f64 = mass.iter().filter(|(_, b)| b.after().contains(&(i + 1))).map(|(p, _)| p).sum();
                prop_assert!((found - here / whole).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn scores_say_what_was_chosen() {
        let chosen = Boundaries::new(4, vec![2]).unwrap();
        let scores = scores(vec![0.9, 0.4, 0.2], &chosen);
        assert_eq!(Boundaries::above(&scores, 0.5), chosen);
        assert_eq!(scores[2], 0.2);
    }
}
