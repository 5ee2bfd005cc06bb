//! The dynamic programme.

use std::cmp::{Ordering, Reverse};
use std::ops::Range;

use super::weights::fixed;

const LOW_PENALTY: f64 = 6.0;
const TARGET_PENALTY: f64 = 8.0;
/// A target without a maximum allows chunks of so many times the target.
const FROM_TARGET: usize = 8;

/// A row of units to cut.
pub(super) struct Problem<'a> {
    /// Tokens of the document that end before each unit, and up to its end.
    pub first: Vec<usize>,
    /// Tokens of the document that end inside or before each unit.
    pub last: Vec<usize>,
    /// What a cut after each unit but the last earns.
    pub gaps: &'a [i64],
    /// What such a cut is, as far as that matters under a minimum; empty without one.
    pub marks: Vec<Mark>,
    /// Tokens that every chunk has on top.
    pub special: usize,
    pub max: Option<usize>,
    pub min: Option<usize>,
    pub target: Option<usize>,
}

/// What a cut is beside what it earns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Mark {
    #[default]
    Plain,
    /// It tears what belongs together: a heading from its body, or the pieces of a unit.
    Tears,
    /// It lies at a boundary before a heading of this level, 1 to 6.
    Section(u8),
}

/// What counts under a minimum before any score does, in this order; greater is better. Without a minimum all are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Rank {
    /// Cuts that tear what belongs together.
    torn: Reverse<u32>,
    /// Chunks under the minimum.
    short: Reverse<u32>,
    /// Cuts before headings of each level, the highest first: what is joined stays in its section where it can.
    sections: [u32; LEVELS],
}

/// Levels of headings.
const LEVELS: usize = 6;

impl Rank {
    /// Counts a cut.
    fn cut(&mut self, mark: Mark) {
        match mark {
            Mark::Plain => {}
            Mark::Tears => self.torn.0 += 1,
            Mark::Section(level) => {
                let place = usize::from(level).clamp(1, LEVELS) - 1;
                self.sections.iter_mut().skip(place).take(1).for_each(|cuts| *cuts += 1);
            }
        }
    }
}

/// How good a set of cuts is: greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Value {
    pub rank: Rank,
    pub gain: i64,
    pub cuts: usize,
    pub squares: u128,
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        let gain = self.rank.cmp(&other.rank).then(self.gain.cmp(&other.gain));
        gain.then(other.cuts.cmp(&self.cuts)).then(other.squares.cmp(&self.squares))
    }
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Problem<'_> {
    /// Tokens of a chunk of units `start..end`, special tokens included; at least one a unit, so that the number of
    /// units in a chunk is bounded whatever the counter says.
    pub fn tokens(&self, start: usize, end: usize) -> usize {
        (self.last[end - 1].saturating_sub(self.first[start])).max(end - start) + self.special
    }

    /// The best cuts: a cut `i` lies after unit i (counted from 1).
    pub fn solve(&self) -> Vec<usize> {
        let n = self.first.len();
        if n == 0 {
            return Vec::new();
        }
        let max = self.max.or(self.target.map(|target| target.saturating_mul(FROM_TARGET)));
        if self.min.is_some() || self.target.is_some() {
            return self.path(0..n, max, &self.closed(max));
        }
        // A gap that earns something is always worth cutting: it costs no penalty and only makes chunks smaller.
        let mut cuts = Vec::new();
        let mut start = 0;
        for end in 1..=n {
            if self.gaps.get(end - 1).is_some_and(|&gap| gap <= 0) {
                continue;
            }
            if max.is_some_and(|max| self.tokens(start, end) > max) {
                cuts.extend(self.path(start..end, max, &[]));
            }
            if end < n {
                cuts.push(end);
            }
            start = end;
        }
        cuts
    }

    /// The gaps that a minimum never cuts: those inside segments that fit. Segments are joined whole, so that no chunk reaches the
    /// minimum by what it takes from the segment beside it. A target cuts anywhere.
    fn closed(&self, max: Option<usize>) -> Vec<bool> {
        if self.min.is_none() || self.target.is_some() {
            return Vec::new();
        }
        let mut closed = vec![false; self.gaps.len()];
        let mut start = 0;
        for end in 1..=self.first.len() {
            if self.gaps.get(end - 1).is_some_and(|&gap| gap <= 0) {
                continue;
            }
            if max.is_none_or(|max| self.tokens(start, end) <= max) {
                closed[start..end - 1].fill(true);
            }
            start = end;
        }
        closed
    }

    /// The best cuts inside `units`, none of them at a gap that is `closed`, with chunks of at most `max` tokens (single units
    /// are always allowed, and so is what lies between gaps that are not closed).
    ///
    /// Starts are tried from the nearest on, up to the first before which nothing can be better than what was found.
    pub fn path(&self, units: Range<usize>, max: Option<usize>, closed: &[bool]) -> Vec<usize> {
        let (low, n) = (units.start, units.len());
        let mut best = vec![Value::default(); n + 1];
        let mut from = vec![0usize; n + 1];
        // What chunks that start at unit i begin with: the best of what comes before, and the cut between.
        let begin = |best: &[Value], i: usize| {
            let mut value = best[i];
            if let Some(before) = i.checked_sub(1) {
                value.gain += self.gaps[low + before];
                value.cuts += 1;
                value.rank.cut(self.marks.get(low + before).copied().unwrap_or_default());
            }
            value
        };
        let is_closed = |i: usize| 0 < i && i < n && closed.get(low + i - 1).copied().unwrap_or_default();
        // The best that chunks from any of the units up to this one may come to: what they begin with, were they to cost nothing.
        let mut hope: Vec<Value> = Vec::with_capacity(n);
        // Without a maximum, starts so far back that the chunk is over the minimum: all cost nothing, so the best is kept.
        let mut far: Option<(Value, usize)> = None;
        let mut near = 0;
        for end in (1..=n).filter(|&end| !is_closed(end)) {
            for start in hope.len()..end {
                let before = hope.last().copied();
                let own = (!is_closed(start)).then(|| Value { squares: 0, ..begin(&best, start) });
                hope.push(before.max(own).unwrap_or_default());
            }
            if max.is_none() {
                let enough = self.min.unwrap_or(0);
                while near < end && self.tokens(low + near, low + end) >= enough {
                    let value = begin(&best, near);
                    if !is_closed(near) && far.is_none_or(|(kept, _)| value > kept) {
                        far = Some((value, near));
                    }
                    near += 1;
                }
            }
            let mut found = far;
            for start in (near..end).rev() {
                let tokens = self.tokens(low + start, low + end);
                let is_over = max.is_some_and(|max| tokens > max) && start + 1 < end;
                if is_over || found.is_some_and(|kept| kept.0 > hope[start]) {
                    break;
                }
                if is_closed(start) {
                    continue;
                }
                let mut value = begin(&best, start);
                value.gain -= self.penalty(tokens);
                value.rank.short.0 += u32::from(self.is_short(tokens));
                if max.is_some() {
                    value.squares += (tokens as u128).pow(2);
                }
                if found.is_none_or(|(kept, _)| value > kept) {
                    found = Some((value, start));
                }
            }
            if let Some((value, start)) = found {
                (best[end], from[end]) = (value, start);
            }
        }
        let mut cuts = Vec::new();
        let mut at = from[n];
        while at > 0 {
            cuts.push(low + at);
            at = from[at];
        }
        cuts.reverse();
        cuts
    }

    fn is_short(&self, tokens: usize) -> bool {
        self.min.is_some_and(|min| tokens < min)
    }

    /// What a chunk of so many tokens costs.
    pub fn penalty(&self, tokens: usize) -> i64 {
        let mut logits = 0.0;
        if let Some(min) = self.min.filter(|_| self.is_short(tokens)) {
            logits += LOW_PENALTY * (1.0 - tokens as f64 / min as f64);
        }
        if let Some(target) = self.target {
            logits += TARGET_PENALTY * (tokens.max(1) as f64 / target as f64).ln().powi(2);
        }
        fixed(logits)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Mark, Problem, Value};

    /// The value of given cuts, straight from the definition; `None` where a chunk is over the maximum.
    fn value(problem: &Problem<'_>, cuts: &[usize], max: Option<usize>) -> Option<Value> {
        let n = problem.first.len();
        let mut value = Value { cuts: cuts.len(), ..Value::default() };
        let mut start = 0;
        for &end in cuts.iter().chain([&n]) {
            let tokens = problem.last[end - 1] - problem.first[start] + problem.special;
            if max.is_some_and(|max| tokens > max) {
                return None;
            }
            value.gain -= problem.penalty(tokens);
            value.rank.short.0 += u32::from(problem.min.is_some_and(|min| tokens < min));
            value.squares += if max.is_some() { (tokens as u128).pow(2) } else { 0 };
            start = end;
        }
        value.gain += cuts.iter().map(|&cut| problem.gaps[cut - 1]).sum::<i64>();
        let marks = || cuts.iter().filter_map(|&cut| problem.marks.get(cut - 1));
        value.rank.torn.0 = marks().filter(|&&mark| mark == Mark::Tears).count() as u32;
        for (place, cuts) in value.rank.sections.iter_mut().enumerate() {
            *cuts = marks().filter(|&&mark| mark == Mark::Section(place as u8 + 1)).count() as u32;
        }
        Some(value)
    }

    /// Under a minimum alone, segments that fit stay whole.
    fn keeps_segments(problem: &Problem<'_>, cuts: &[usize], max: Option<usize>) -> bool {
        let n = problem.first.len();
        if problem.min.is_none() || problem.target.is_some() {
            return true;
        }
        let is_boundary = |at: usize| at == 0 || at == n || problem.gaps[at - 1] > 0;
        cuts.iter().filter(|&&cut| !is_boundary(cut)).all(|&cut| {
            let start = (0..cut).rev().find(|&at| is_boundary(at)).unwrap_or(0);
            let end = (cut..=n).find(|&at| is_boundary(at)).unwrap_or(n);
            max.is_some_and(|max| problem.tokens(start, end) > max)
        })
    }

    fn all_sets(n: usize) -> impl Iterator<Item = Vec<usize>> {
        (0u32..1 << (n - 1)).map(move |set| (1..n).filter(|i| set >> (i - 1) & 1 == 1).collect())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]
        #[test]
        fn no_set_of_cuts_is_better(
            tokens in proptest::collection::vec(1usize..9, 1..11),
            // Few distinct weights, so that ties are common.
            gaps in proptest::collection::vec(prop_oneof![Just(0i64), Just(-3_000_000), -4_000_000i64..4_000_000], 10),
            kinds in proptest::collection::vec(
                prop_oneof![Just(Mark::Plain), Just(Mark::Tears), (1u8..4).prop_map(Mark::Section)], 10,
            ),
            special in 0usize..3,
            max in proptest::option::of(11usize..30),
            min in proptest::option::of(1usize..20),
            target in proptest::option::of(2usize..20),
        ) {
            let n = tokens.len();
            let last: Vec<usize> = tokens.iter().scan(0, |sum, t| { *sum += t; Some(*sum) }).collect();
            let first: Vec<usize> = last.iter().zip(&tokens).map(|(l, t)| l - t).collect();
            let marks = if min.is_some() { kinds[..n - 1].to_vec() } else { Vec::new() };
            let problem = Problem { first, last, gaps: &gaps[..n - 1], marks, special, max, min, target };
            let bound = max.or(target.map(|t| t * 8));
            // A single unit over the bound (only a target's) may stand alone; such cases have no other answer.
            let sets = all_sets(n).filter(|cuts| keeps_segments(&problem, cuts, bound));
            let allowed: Vec<Value> = sets.filter_map(|cuts| value(&problem, &cuts, bound)).collect();
            prop_assume!(!allowed.is_empty());
            let found = problem.solve();
            prop_assert!(keeps_segments(&problem, &found, bound), "{:?}", found);
            prop_assert_eq!(value(&problem, &found, bound), allowed.into_iter().max());
            // Nothing under the minimum could be joined with what lies beside it.
            let ends: Vec<usize> = [0].into_iter().chain(found).chain([n]).collect();
            let is_short = |start, end| min.is_some_and(|min| problem.tokens(start, end) < min);
            for three in ends.windows(3) {
                let (start, cut, end) = (three[0], three[1], three[2]);
                let fits = bound.is_none_or(|bound| problem.tokens(start, end) <= bound);
                prop_assert!(!fits || !(is_short(start, cut) || is_short(cut, end)), "{:?}", ends);
            }
        }
    }

    #[test]
    fn pieces_are_balanced() {
        let problem = Problem {
            first: (0..10).map(|i| i * 10).collect(),
            last: (1..11).map(|i| i * 10).collect(),
            gaps: &[-5; 9],
            marks: Vec::new(),
            special: 0,
            max: Some(90),
            min: None,
            target: None,
        };
        assert_eq!(problem.solve(), [5]);
    }

    #[test]
    fn a_hundred_thousand_units_are_no_trouble() {
        let n = 100_000;
        let gaps = vec![-1; n - 1];
        let problem = |min, max| Problem {
            first: (0..n).collect(),
            last: (1..=n).collect(),
            gaps: &gaps,
            marks: Vec::new(),
            special: 2,
            max,
            min,
            target: None,
        };
        assert_eq!(problem(Some(50), None).solve(), [0; 0]);
        assert_eq!(problem(Some(50), Some(102)).solve().len(), n / 100 - 1);
        assert_eq!(problem(None, Some(102)).solve().len(), n / 100 - 1);
        // Nor where chunks may be as long as the document.
        let gaps = vec![1; n - 1];
        let long = Problem { gaps: &gaps, ..problem(Some(50), Some(1_000_000)) };
        assert_eq!(long.solve().len(), n / 48 - 1);
    }
}
