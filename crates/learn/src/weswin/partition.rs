//! Partitions of a document into overlapping sequences.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// Sentences that a model reads together, and those among them that it labels.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Window {
    /// The sentences read, 0-based.
    pub read: Range<usize>,
    /// The sentences labelled; the others are context. Never empty, within `read`.
    pub active: Range<usize>,
}

/// A way to part a document's sentences into sequences of at most T tokens (Abbasi 2024, "WeSWin", partitioning). Every
/// sequence holds as many whole sentences as fit; a sentence longer than that is alone in its sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partition {
    /// `cr-K`, context at the right: the last K sentences of a sequence are context, except in the concluding one; the
    /// next sequence starts after the last labelled sentence. Each sentence is labelled once.
    Right(usize),
    /// `clr-K`, context at both sides: the first and the last K sentences are context, except at the document's ends.
    /// Where 2 K sentences leave none to label, the sentence in the middle of its sequence is. Each sentence is labelled
    /// once. `clr-max`: the middle one always.
    Both(usize),
    /// `ss-K`, stride: the next sequence starts K sentences further, at most at this one's last sentence. All sentences
    /// are labelled, most of them several times.
    Stride(usize),
    /// `si-K`, intersection: the next sequence starts with this one's last K sentences, at least one sentence further.
    Intersection(usize),
}

impl Partition {
    /// The sequences of a document whose sentences take `tokens` tokens each, with at most `budget` tokens a sequence.
    /// Starts and ends of what is labelled increase from window to window; together the windows label every sentence.
    /// Starts of what is read increase too, but under `clr-K` where long sentences leave no room at the right.
    ///
    /// Time O(sentences + sentences labelled or read as context).
    #[must_use]
    pub fn windows(self, tokens: &[usize], budget: usize) -> Vec<Window> {
        let full = Full::new(tokens, budget);
        let n = tokens.len();
        let mut windows = Vec::new();
        // Where the next sequence starts, or for `Both` the next sentence to be labelled.
        let mut next = 0;
        while next < n {
            let window = match self {
                Partition::Right(context) => {
                    let end = full.end(next);
                    let stop = if end == n { n } else { end.saturating_sub(context).max(next + 1) };
                    Window { read: next..end, active: next..stop }
                }
                Partition::Both(context) => full.around(next, context),
                Partition::Stride(_) | Partition::Intersection(_) => {
                    let end = full.end(next);
                    Window { read: next..end, active: next..end }
                }
            };
            let Window { read, active } = &window;
            next = if active.end == n {
                n
            } else {
                match self {
                    Partition::Right(_) | Partition::Both(_) => active.end,
                    Partition::Stride(stride) => (read.start.saturating_add(stride)).min(read.end - 1),
                    Partition::Intersection(shared) => read.end.saturating_sub(shared),
                }
                .max(if matches!(self, Partition::Right(_) | Partition::Both(_)) {
                    0
                } else {
                    read.start + 1
                })
            };
            windows.push(window);
        }
        windows
    }

    /// True where a sentence may be labelled more than once.
    #[must_use]
    pub fn overlaps(self) -> bool {
        matches!(self, Partition::Stride(_) | Partition::Intersection(_))
    }
}

/// Which sentences fill a sequence.
struct Full {
    /// Tokens of the sentences before each, and of all.
    before: Vec<usize>,
    budget: usize,
}

impl Full {
    fn new(tokens: &[usize], budget: usize) -> Self {
        let mut before = Vec::with_capacity(tokens.len() + 1);
        let mut sum = 0;
        before.push(0);
        for count in tokens {
            sum += count;
            before.push(sum);
        }
        Self { before, budget }
    }

    fn sentences(&self) -> usize {
        self.before.len() - 1
    }

    fn fits(&self, start: usize, end: usize) -> bool {
        self.before[end] - self.before[start] <= self.budget
    }

    /// The end of a sequence that starts with sentence `start` and is full.
    fn end(&self, start: usize) -> usize {
        let limit = self.before[start] + self.budget;
        let end = self.before.partition_point(|&sum| sum <= limit) - 1;
        end.max(start + 1).min(self.sentences())
    }

    /// The sequence that labels `first` and what follows it, with `context` sentences before and behind.
    fn around(&self, first: usize, context: usize) -> Window {
        let n = self.sentences();
        let start = first.saturating_sub(context);
        let end = self.end(start);
        if end > first {
            let stop = if end == n { n } else { end.saturating_sub(context) };
            if stop > first {
                return Window { read: start..end, active: first..stop };
            }
        }
        // Too little room for the context asked for: as much on both sides as there is.
        let (mut start, mut end) = (first, first + 1);
        loop {
            let left = start > 0 && self.fits(start - 1, end);
            let right = end < n && self.fits(start, end + 1);
            match (left, right) {
                (false, false) => break,
                (true, false) => start -= 1,
                (false, true) => end += 1,
                (true, true) if first - start < end - first => start -= 1,
                (true, true) => end += 1,
            }
        }
        let stop = match (start, end) {
            (_, end) if end == n => n,
            // What lies left of the first sequence's middle has no better place to be labelled in.
            (0, end) => end.div_ceil(2).max(first + 1),
            _ => first + 1,
        };
        Window { read: start..end, active: first..stop }
    }
}

impl FromStr for Partition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no partition: known are cr-K, clr-K, ss-K and si-K (K a number or max)");
        let (kind, count) = text.split_once('-').ok_or_else(wrong)?;
        let count = match count {
            "max" | "inf" => usize::MAX,
            digits => digits.parse().map_err(|_| wrong())?,
        };
        match kind {
            "cr" => Ok(Partition::Right(count)),
            "clr" => Ok(Partition::Both(count)),
            "ss" if count > 0 => Ok(Partition::Stride(count)),
            "si" if count > 0 => Ok(Partition::Intersection(count)),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, count) = match *self {
            Partition::Right(count) => ("cr", count),
            Partition::Both(count) => ("clr", count),
            Partition::Stride(count) => ("ss", count),
            Partition::Intersection(count) => ("si", count),
        };
        match count {
            usize::MAX => write!(f, "{kind}-max"),
            count => write!(f, "{kind}-{count}"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::{Partition, Window};

    fn windows(spec: &str, tokens: &[usize], budget: usize) -> Vec<Window> {
        spec.parse::<Partition>().unwrap().windows(tokens, budget)
    }

    fn shown(spec: &str, n: usize, fit: usize) -> Vec<(usize, usize, usize, usize)> {
        let all = windows(spec, &vec![1; n], fit);
        all.into_iter().map(|w| (w.read.start, w.active.start, w.active.end, w.read.end)).collect()
    }

    /// Eight sentences, four to a sequence.
    #[test]
    fn each_partition_by_hand() {
        assert_eq!(shown("cr-1", 8, 4), [(0, 0, 3, 4), (3, 3, 6, 7), (6, 6, 8, 8)]);
        assert_eq!(shown("cr-0", 8, 4), [(0, 0, 4, 4), (4, 4, 8, 8)]);
        assert_eq!(shown("cr-9", 6, 4), [(0, 0, 1, 4), (1, 1, 2, 5), (2, 2, 6, 6)]);
        assert_eq!(shown("clr-1", 8, 4), [(0, 0, 3, 4), (2, 3, 5, 6), (4, 5, 8, 8)]);
        assert_eq!(shown("clr-max", 7, 3), [(0, 0, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5), (3, 4, 5, 6), (4, 5, 7, 7)]);
        assert_eq!(shown("ss-2", 8, 4), [(0, 0, 4, 4), (2, 2, 6, 6), (4, 4, 8, 8)]);
        assert_eq!(shown("ss-9", 8, 4), [(0, 0, 4, 4), (3, 3, 7, 7), (6, 6, 8, 8)]);
        assert_eq!(shown("si-2", 8, 4), [(0, 0, 4, 4), (2, 2, 6, 6), (4, 4, 8, 8)]);
        assert_eq!(shown("si-9", 6, 4), [(0, 0, 4, 4), (1, 1, 5, 5), (2, 2, 6, 6)]);
        assert_eq!(shown("cr-1", 0, 4), []);
        // The fifth sentence has no room at its right, so it is read with more of what is before it.
        let long = windows("clr-1", &[7, 6, 15, 20, 14, 28], 55);
        let read: Vec<_> = long.iter().map(|w| (w.read.start, w.active.start, w.active.end, w.read.end)).collect();
        assert_eq!(read, [(0, 0, 3, 4), (2, 3, 4, 5), (1, 4, 5, 5), (4, 5, 6, 6)]);
    }

    #[test]
    fn names_are_read_and_written() {
        for name in ["cr-1", "clr-max", "ss-4", "si-12"] {
            assert_eq!(name.parse::<Partition>().unwrap().to_string(), name);
        }
        for name in ["", "cr", "cr-", "ss-0", "si-0", "xs-3", "cr--1", "cr-1.5"] {
            assert!(name.parse::<Partition>().unwrap_err().contains("cr-K"), "{name}");
        }
    }

    fn documents() -> impl Strategy<Value = (Vec<usize>, usize)> {
        (proptest::collection::vec(1usize..30, 0..60), 30usize..90)
    }

    proptest! {
        #[test]
        fn every_window_keeps_its_budget_and_every_sentence_is_labelled(
            (tokens, budget) in documents(), k in 0usize..20, kind in 0usize..4,
        ) {
            let partition = match kind {
                0 => Partition::Right(k),
                1 => Partition::Both(k),
                2 => Partition::Stride(k.max(1)),
                _ => Partition::Intersection(k.max(1)),
            };
            let windows = partition.windows(&tokens, budget);
            let mut labelled = vec![0; tokens.len()];
            for w in &windows {
                prop_assert!(w.read.start <= w.active.start && w.active.end <= w.read.end && !w.active.is_empty());
                prop_assert!(tokens[w.read.clone()].iter().sum::<usize>() <= budget);
                labelled[w.active.clone()].iter_mut().for_each(|count| *count += 1);
            }
            prop_assert!(labelled.iter().all(|&count| count >= 1));
            if !partition.overlaps() {
                prop_assert!(labelled.iter().all(|&count| count == 1));
            }
            let ahead = |a: &Window, b: &Window| a.active.start < b.active.start && a.active.end <= b.active.end;
            prop_assert!(windows.windows(2).all(|w| ahead(&w[0], &w[1])));
            if partition.overlaps() {
                prop_assert!(windows.windows(2).all(|w| w[0].read.start < w[1].read.start));
            }
        }

        /// The limits that the paper names: SS-inf = SI-1 and SI-inf = SS-1.
        #[test]
        fn stride_and_intersection_meet_at_their_limits((tokens, budget) in documents()) {
            let at = |p: Partition| p.windows(&tokens, budget);
            prop_assert_eq!(at(Partition::Stride(usize::MAX)), at(Partition::Intersection(1)));
            prop_assert_eq!(at(Partition::Intersection(usize::MAX)), at(Partition::Stride(1)));
        }

        /// Interior sentences have their context on both sides where the sequence has the room.
        #[test]
        fn context_is_kept_where_there_is_room(n in 1usize..60, fit in 3usize..12, k in 0usize..6) {
            prop_assume!(2 * k < fit);
            for w in Partition::Both(k).windows(&vec![1; n], fit) {
                prop_assert!(w.active.start == 0 || w.active.start - w.read.start == k.min(w.active.start));
                prop_assert!(w.active.end == n || w.read.end - w.active.end == k);
            }
        }
    }
}
