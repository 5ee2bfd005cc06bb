use pericope_api::{Boundaries, BoundaryError};
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

/// Cells of a table at most: 256 MB.
pub(super) const CELLS: usize = 32 << 20;

/// Cells that are not worth a second thread.
const ALONE: usize = 10_000;

/// The cost of every segment of `first..first + length` sentences with `length` up to [`longest`](SegmentCosts::longest), and
/// where the table is [endless](SegmentCosts::endless) also of longer ones.
///
/// ```
/// use pericope_segment::segment_costs::SegmentCosts;
///
/// // Two sentences in one segment cost 1, three 4; one alone costs nothing.
/// let costs = SegmentCosts::new(4, 3, || (), |(), _, row| row.iter_mut().zip([0.0, 1.0, 4.0]).for_each(|(cost, own)| *cost = own));
/// assert_eq!(costs.cheapest(0.5)?.after(), [1, 2, 3]);
/// assert_eq!(costs.cheapest(2.0)?.after(), [2]);
/// assert_eq!(costs.counted(3)?.map(|found| found.segments()), Some(3));
/// # Ok::<(), pericope_api::BoundaryError>(())
/// ```
pub struct SegmentCosts {
    pub(super) n: usize,
    pub(super) longest: usize,
    /// `costs[first * longest + length - 1]`; infinite where the segment would pass the end.
    costs: Vec<f64>,
    /// What sentence `longest + i`, from 0, costs as one more of a segment that has `longest` sentences or more before it; empty
    /// where no segment may be longer than that.
    further: Vec<f64>,
}

impl SegmentCosts {
    /// The longest segment that is looked at, in sentences, where `wanted` would be enough: fewer where the table for `n`
    /// sentences would not fit into memory.
    #[must_use]
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
        let mut table = Self::of(n, longest, vec![f64::INFINITY; n * longest]);
        let fill = |state: &mut S, (first, row): (usize, &mut [f64])| {
            let room = longest.min(n - first);
            fill(state, first, &mut row[..room]);
        };
        if table.costs.len() < ALONE {
            let mut state = state();
            table.costs.chunks_mut(longest).enumerate().for_each(|row| fill(&mut state, row));
        } else {
            table.costs.par_chunks_mut(longest).enumerate().for_each_init(state, fill);
        }
        table
    }

    /// The table for `n` sentences whose rows, of `longest` costs each, are known; infinite where a segment would pass the end.
    pub(crate) fn of(n: usize, longest: usize, costs: Vec<f64>) -> Self {
        debug_assert!(longest > 0 && costs.len() == n * longest);
        Self { n, longest, costs, further: Vec::new() }
    }

    /// Allows segments longer than the table's. One more sentence then costs what the last sentence of a segment of
    /// [`longest`](Self::longest) sentences costs: the difference of such a segment that ends with it and of the same one without
    /// it. Time and memory stay those of the table.
    #[must_use]
    pub fn endless(mut self) -> Self {
        let cost = |first: usize, length: usize| if length == 0 { 0.0 } else { self.row(first)[length - 1] };
        let further = (1..=self.n.saturating_sub(self.longest)).map(|first| {
            let added = cost(first, self.longest) - cost(first, self.longest - 1);
            if added.is_nan() { f64::INFINITY } else { added }
        });
        self.further = further.collect();
        self
    }

    /// Sentences of the longest segment in the table.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    pub(super) fn row(&self, first: usize) -> &[f64] {
        &self.costs[first * self.longest..(first + 1) * self.longest]
    }

    /// Where a segment of the table begins that ends just before the last of `end` sentences, and what that sentence costs as one
    /// more of it; nothing where no segment is longer than the table's.
    pub(super) fn further(&self, end: usize) -> Option<(usize, f64)> {
        let first = end.checked_sub(self.longest + 1)?;
        self.further.get(first).map(|&cost| (first, cost))
    }

    /// Whether a segment may be longer than those of the table.
    pub(super) fn is_endless(&self) -> bool {
        !self.further.is_empty()
    }

    /// The cheapest segmentation where every segment costs `price` more; of equally cheap ones the one whose last
    /// segments are shortest.
    ///
    /// # Errors
    /// None, unless costs are not numbers.
    pub fn cheapest(&self, price: f64) -> Result<Boundaries, BoundaryError> {
        let n = self.n;
        let ways = self.ways(price);
        let mut after = Vec::new();
        let mut at = self.last_start(&ways, price, n);
        while at > 0 {
            after.push(at);
            at = self.last_start(&ways, price, at);
        }
        after.reverse();
        Boundaries::new(n, after)
    }

    /// The cheapest ways from the start to every gap, where each segment costs `price` more.
    pub(super) fn ways(&self, price: f64) -> Ways {
        let n = self.n;
        let mut ways =
            Ways { best: vec![f64::INFINITY; n + 1], longer: vec![0; if self.is_endless() { n + 1 } else { 0 }] };
        ways.best[0] = 0.0;
        let mut longer = Longer::new(self, price);
        let arch = Arch::new();
        for first in 0..=n {
            let (cost, start) = longer.at(first, &ways.best);
            if cost < ways.best[first] {
                ways.best[first] = cost;
                ways.longer[first] = start;
            }
            let (before, after) = ways.best.split_at_mut(first + 1);
            if first < n && before[first] < f64::INFINITY {
                arch.dispatch(OneMore { before: before[first] + price, costs: self.row(first), best: after });
            }
        }
        ways
    }

    /// Where the last segment of the cheapest way to the gap after `end` sentences begins.
    fn last_start(&self, ways: &Ways, price: f64, end: usize) -> usize {
        // The same sums as in `ways`, so that one of them is its result, to the bit.
        let reaches = |&first: &usize| {
            let before = ways.best[first];
            before < f64::INFINITY && before + price + self.row(first)[end - first - 1] <= ways.best[end]
        };
        (end.saturating_sub(self.longest)..end)
            .rev()
            .find(reaches)
            .unwrap_or_else(|| ways.longer.get(end).copied().unwrap_or(0))
    }
}

/// What the cheapest ways to the gaps cost.
pub(super) struct Ways {
    /// By gap, from the one before the first sentence on; infinite where there is none.
    pub best: Vec<f64>,
    /// Where the last segment begins, of ways whose last segment is longer than those of the table; empty where none may be.
    longer: Vec<usize>,
}

/// Goes on by one segment from a gap that costs `before`: the gaps behind it cost `best` at most, or by that segment less.
pub(super) struct OneMore<'a> {
    pub before: f64,
    pub costs: &'a [f64],
    pub best: &'a mut [f64],
}

impl WithSimd for OneMore<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { before, costs, best } = self;
        for (best, cost) in best.iter_mut().zip(costs) {
            let here = before + cost;
            *best = if here < *best { here } else { *best };
        }
    }
}

/// The cheapest ways to gaps, one after the other, by a last segment that is longer than those of the table.
pub(super) struct Longer<'a> {
    costs: &'a SegmentCosts,
    price: f64,
    cost: f64,
    from: usize,
}

impl<'a> Longer<'a> {
    pub(super) fn new(costs: &'a SegmentCosts, price: f64) -> Self {
        Self { costs, price, cost: f64::INFINITY, from: 0 }
    }

    /// The cost of the way to the gap after `end` sentences, and where its last segment begins; `best` are the costs of the cheapest
    /// ways of any kind to the gaps before it. To be asked for every gap, in order.
    pub(super) fn at(&mut self, end: usize, best: &[f64]) -> (f64, usize) {
        let Some((first, further)) = self.costs.further(end) else { return (f64::INFINITY, 0) };
        let here = best[first] + self.price + self.costs.row(first)[self.costs.longest - 1];
        if here <= self.cost {
            (self.cost, self.from) = (here, first);
        }
        self.cost += further;
        (self.cost, self.from)
    }
}
