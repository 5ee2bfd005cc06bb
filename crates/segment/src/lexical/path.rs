//! Segmentations of least cost, where the cost of a segment is a function of how often each word occurs in it.

use super::words::Words;

/// Most cells of the table that an exact number of segments needs (12 bytes each).
const CELLS: usize = 1 << 25;

/// What a segmentation costs, in nats: for each segment `base[words in it]`, and for each of its words
/// `step[how often the word occurs in it before]`.
///
/// So a segment grows by a sentence in time proportional to the sentence's words.
pub(super) struct Costs<'a> {
    pub(super) words: &'a Words,
    /// By number of words, 0 to all of the document.
    pub(super) base: Vec<f64>,
    /// By count before, 0 to (exclusively) that of the document's most frequent word.
    pub(super) step: Vec<f64>,
    /// Most sentences a segment, at least 1.
    pub(super) longest: usize,
}

/// The cheapest segmentation and what each gap means for it.
#[derive(Debug, PartialEq)]
pub(super) struct Best {
    /// Boundaries of the cheapest segmentation, as in [`pericope_api::Boundaries`].
    pub(super) boundaries: Vec<usize>,
    /// For each gap how much the cheapest segmentation without a boundary there costs more than the cheapest with one:
    /// positive at boundaries, negative elsewhere (but for ties), infinite where there is none without.
    pub(super) gains: Vec<f64>,
}

impl Costs<'_> {
    /// Fills `costs` with the cost of the segments from sentence `start` to each end after it. `counts` is zero for all
    /// words, before and after.
    fn row(&self, start: usize, counts: &mut [u32], costs: &mut Vec<f64>) {
        costs.clear();
        let end = start.saturating_add(self.longest).min(self.words.sentences());
        let (mut steps, mut length) = (0.0, 0);
        for i in start..end {
            let sentence = self.words.of(i);
            for &word in sentence {
                let count = &mut counts[word as usize];
                steps += self.step[*count as usize];
                *count += 1;
            }
            length += sentence.len();
            costs.push(self.base[length] + steps);
        }
        for i in start..end {
            self.words.of(i).iter().for_each(|&word| counts[word as usize] = 0);
        }
    }

    /// The cheapest segmentation of whatever number of segments. Time O(n * words in a longest segment), memory O(n);
    /// ties go to the longer segment.
    pub(super) fn best(&self) -> Best {
        let n = self.words.sentences();
        let mut counts = vec![0; self.words.vocabulary()];
        let mut costs = Vec::new();
        // Cheapest way from the first sentence to each gap.
        let mut before = vec![f64::INFINITY; n + 1];
        before[0] = 0.0;
        for start in 0..n {
            self.row(start, &mut counts, &mut costs);
            for (i, cost) in costs.iter().enumerate() {
                let end = start + 1 + i;
                before[end] = before[end].min(before[start] + cost);
            }
        }
        // Cheapest way from each gap to the end, the first step of it, and the cheapest way over each gap.
        let mut after = vec![f64::INFINITY; n + 1];
        after[n] = 0.0;
        let mut next = vec![n; n + 1];
        let mut over = vec![f64::INFINITY; n + 1];
        for start in (0..n).rev() {
            self.row(start, &mut counts, &mut costs);
            let mut farther = f64::INFINITY;
            for (i, cost) in costs.iter().enumerate().rev() {
                let end = start + 1 + i;
                over[end] = over[end].min(farther);
                let rest = cost + after[end];
                farther = farther.min(before[start] + rest);
                if rest < after[start] {
                    (after[start], next[start]) = (rest, end);
                }
            }
        }
        let gains = (1..n).map(|gap| over[gap] - (before[gap] + after[gap])).collect();
        let path = std::iter::successors(Some(next[0]), |&gap| Some(next[gap]));
        Best { boundaries: path.take_while(|&gap| gap < n).collect(), gains }
    }

    /// The cheapest segmentation into exactly `segments` segments, at least 1 and at most one a sentence; `None` where
    /// n * `segments` is too much. Time O(n * longest segment * (words a sentence + `segments`)), memory O(n *
    /// `segments`).
    pub(super) fn exactly(&self, segments: usize) -> Option<Vec<usize>> {
        let n = self.words.sentences();
        let width = segments + 1;
        let cells = (n + 1).checked_mul(width).filter(|&cells| cells <= CELLS)?;
        // Row g: the cheapest way to gap g in 0, 1, ... segments, and where the last of them begins.
        let mut cheapest = vec![f64::INFINITY; cells];
        let mut from = vec![0u32; cells];
        cheapest[0] = 0.0;
        let mut counts = vec![0; self.words.vocabulary()];
        let mut costs = Vec::new();
        for start in 0..n {
            self.row(start, &mut counts, &mut costs);
            let (done, open) = cheapest.split_at_mut((start + 1) * width);
            let reachable = segments.min(start + 1);
            let here = &done[start * width..][..reachable];
            for (i, &cost) in costs.iter().enumerate() {
                let there = &mut open[i * width + 1..][..reachable];
                let links = &mut from[(start + 1 + i) * width + 1..][..reachable];
                for ((&here, there), link) in here.iter().zip(there).zip(links) {
                    if here + cost < *there {
                        (*there, *link) = (here + cost, start as u32);
                    }
                }
            }
        }
        let mut boundaries = vec![0; segments - 1];
        let mut gap = n;
        for k in (1..segments).rev() {
            gap = from[gap * width + k + 1] as usize;
            boundaries[k - 1] = gap;
        }
        Some(boundaries)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use pericope_api::Document;
    use proptest::prelude::*;

    use super::super::words::Words;
    use super::{Best, Costs};

    fn costs(words: &Words, longest: usize) -> Costs<'_> {
        let base = (0..=words.total()).map(|n| 3.0 + n as f64 * (n as f64 + 9.0).ln()).collect();
        let step = (0..words.most()).map(|f| -(f as f64 + 0.4).ln()).collect();
        Costs { words, base, step, longest }
    }

    /// Cost of a segmentation, from the definition.
    pub(in super::super) fn cost(costs: &Costs<'_>, boundaries: &[usize]) -> f64 {
        let n = costs.words.sentences();
        let mut sum = 0.0;
        let mut start = 0;
        for &end in boundaries.iter().chain([&n]) {
            let mut counts = vec![0; costs.words.vocabulary()];
            let words: Vec<u32> = (start..end).flat_map(|i| costs.words.of(i).to_vec()).collect();
            sum += costs.base[words.len()];
            for word in words {
                sum += costs.step[counts[word as usize]];
                counts[word as usize] += 1;
            }
            start = end;
        }
        sum
    }

    /// All segmentations whose segments are not too long.
    fn all(n: usize, longest: usize) -> Vec<Vec<usize>> {
        let sets = (0..1u32 << (n - 1)).map(|bits| (1..n).filter(|b| bits >> (b - 1) & 1 == 1).collect());
        let short = |b: &Vec<usize>| {
            let ends = b.iter().copied().chain([n]);
            std::iter::once(0).chain(b.iter().copied()).zip(ends).all(|(start, end)| end - start <= longest)
        };
        sets.filter(short).collect()
    }

    proptest! {
        #[test]
        fn nothing_is_cheaper(
            sentences in proptest::collection::vec("((ant|bee|cow|dog|emu|the) ){1,4}", 2..9),
            longest in 2usize..10,
        ) {
            let words = Words::read(&Document::from_sentences("d", &sentences));
            let costs = costs(&words, longest);
            let n = words.sentences();
            let all = all(n, longest);
            let least = |keep: &dyn Fn(&[usize]) -> bool| {
                all.iter().filter(|b| keep(b)).map(|b| cost(&costs, b)).fold(f64::INFINITY, f64::min)
            };
            let Best { boundaries, gains } = costs.best();
            prop_assert!((cost(&costs, &boundaries) - least(&|_| true)).abs() < 1e-9);
            for gap in 1..n {
                let gain = least(&|b| !b.contains(&gap)) - least(&|b| b.contains(&gap));
                prop_assert!((gains[gap - 1] - gain).abs() < 1e-9, "gap {gap}: {} not {gain}", gains[gap - 1]);
            }
            for segments in n.div_ceil(longest)..=n {
                let found = costs.exactly(segments).unwrap_or_default();
                prop_assert_eq!(found.len() + 1, segments);
                prop_assert!((cost(&costs, &found) - least(&|b| b.len() + 1 == segments)).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn tables_that_would_be_too_large_are_not_made() {
        let words = Words::read(&Document::from_sentences("d", &["Ants, bees."; 6000]));
        assert!(costs(&words, 1).exactly(6000).is_none());
    }
}
