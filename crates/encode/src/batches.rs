use std::ops::Range;

use candle_core::Result;
use rayon::prelude::*;

/// Sequences in the order in which they are encoded, and the batches in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Batches {
    /// Indices of the sequences, longest first; ties in input order.
    pub order: Vec<usize>,
    /// Ranges of `order`.
    pub ranges: Vec<Range<usize>>,
}

impl Batches {
    /// Sorts sequences by length and cuts batches whose longest sequence times their number stays within `budget`
    /// tokens (a sequence longer than that is a batch by itself). Depends on the lengths alone, not on the machine.
    #[must_use]
    pub fn new(lengths: &[usize], budget: usize) -> Self {
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&i| std::cmp::Reverse(lengths.get(i).copied()));
        let mut ranges = Vec::new();
        let mut start = 0;
        while let Some(&first) = order.get(start) {
            let longest = lengths.get(first).copied().unwrap_or(0).max(1);
            let end = (start + (budget / longest).max(1)).min(order.len());
            ranges.push(start..end);
            start = end;
        }
        Self { order, ranges }
    }

    /// Returns what `run` makes of the members of each batch (indices of sequences), in the order of the batches: side by side on
    /// all threads of the current rayon pool where `parallel`, else one after the other.
    ///
    /// # Errors
    /// The first that `run` gives.
    pub fn run<T: Send>(&self, parallel: bool, run: impl Fn(&[usize]) -> Result<T> + Sync) -> Result<Vec<T>> {
        let run = |range: &Range<usize>| run(self.order.get(range.clone()).unwrap_or(&[]));
        if parallel {
            return self.ranges.par_iter().with_max_len(1).map(run).collect();
        }
        self.ranges.iter().map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Batches;

    #[test]
    fn batches_hold_their_budget_and_everything() {
        let lengths = [3, 9, 2, 9, 30, 1, 1, 2];
        let Batches { order, ranges } = Batches::new(&lengths, 18);
        assert_eq!(order, [4, 1, 3, 0, 2, 7, 5, 6]);
        assert_eq!(ranges, [0..1, 1..3, 3..8]);
        assert!(ranges.iter().skip(1).all(|r| r.len() * lengths[order[r.start]] <= 18));
        assert_eq!(Batches::new(&[], 18), Batches { order: vec![], ranges: vec![] });
    }
}
