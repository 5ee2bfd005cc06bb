//! The dynamic programme.

use std::cmp::Ordering;
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
    /// Tokens that every chunk has on top.
    pub special: usize,
    pub max: Option<usize>,
    pub min: Option<usize>,
    pub target: Option<usize>,
}

/// How good a set of cuts is: greater is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Value {
    pub gain: i64,
    pub cuts: usize,
    pub squares: u128,
}

impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        let gain = self.gain.cmp(&other.gain);
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
            return self.path(0..n, max);
        }
        // A gap that earns something is always worth cutting: it costs no penalty and only makes chunks smaller.
        let mut cuts = Vec::new();
        let mut start = 0;
        for end in 1..=n {
            if self.gaps.get(end - 1).is_some_and(|&gap| gap <= 0) {
                continue;
            }
            if max.is_some_and(|max| self.tokens(start, end) > max) {
                cuts.extend(self.path(start..end, max));
            }
            if end < n {
                cuts.push(end);
            }
            start = end;
        }
        cuts
    }

    /// The best cuts inside `units`, with chunks of at most `max` tokens (single units are always allowed).
    pub fn path(&self, units: Range<usize>, max: Option<usize>) -> Vec<usize> {
        let (low, n) = (units.start, units.len());
        let mut best = vec![Value { gain: 0, cuts: 0, squares: 0 }; n + 1];
        let mut from = vec![0usize; n + 1];
        // What chunks that start at unit i begin with: the best of what comes before, and the cut between.
        let begin = |best: &[Value], i: usize| match i.checked_sub(1) {
            None => best[0],
            Some(before) => Value { gain: best[i].gain + self.gaps[low + before], cuts: best[i].cuts + 1, ..best[i] },
        };
        // Without a maximum, starts so far back that the chunk is over the minimum: all cost nothing, so the best is kept.
        let mut far: Option<(Value, usize)> = None;
        let mut near = 0;
        for end in 1..=n {
            if max.is_none() {
                let enough = self.min.unwrap_or(0);
                while near < end && self.tokens(low + near, low + end) >= enough {
                    let value = begin(&best, near);
                    if far.is_none_or(|(kept, _)| value > kept) {
                        far = Some((value, near));
                    }
                    near += 1;
                }
            }
            let mut found = far;
            for start in (near..end).rev() {
                let tokens = self.tokens(low + start, low + end);
                if max.is_some_and(|max| tokens > max) && start + 1 < end {
                    break;
                }
                let mut value = begin(&best, start);
                value.gain -= self.penalty(tokens);
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

    /// What a chunk of so many tokens costs.
    pub fn penalty(&self, tokens: usize) -> i64 {
        let mut logits = 0.0;
        if let Some(min) = self.min.filter(|&min| tokens < min) {
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

    use super::{Problem, Value};

    /// The value of given cuts, straight from the definition; `None` where a chunk is over the maximum.
    fn value(problem: &Problem<'_>, cuts: &[usize], max: Option<usize>) -> Option<Value> {
        let n = problem.first.len();
        let mut value = Value { gain: 0, cuts: cuts.len(), squares: 0 };
        let mut start = 0;
        for &end in cuts.iter().chain([&n]) {
            let tokens = problem.last[end - 1] - problem.first[start] + problem.special;
            if max.is_some_and(|max| tokens > max) {
                return None;
            }
            value.gain -= problem.penalty(tokens);
            value.squares += if max.is_some() { (tokens as u128).pow(2) } else { 0 };
            start = end;
        }
        value.gain += cuts.iter().map(|&cut| problem.gaps[cut - 1]).sum::<i64>();
        Some(value)
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
            special in 0usize..3,
            max in proptest::option::of(11usize..30),
            min in proptest::option::of(1usize..20),
            target in proptest::option::of(2usize..20),
        ) {
            let n = tokens.len();
            let last: Vec<usize> = tokens.iter().scan(0, |sum, t| { *sum += t; Some(*sum) }).collect();
            let first: Vec<usize> = last.iter().zip(&tokens).map(|(l, t)| l - t).collect();
            let problem = Problem { first, last, gaps: &gaps[..n - 1], special, max, min, target };
            let bound = max.or(target.map(|t| t * 8));
            // A single unit over the bound (only a target's) may stand alone; such cases have no other answer.
            let allowed: Vec<Value> = all_sets(n).filter_map(|cuts| value(&problem, &cuts, bound)).collect();
            prop_assume!(!allowed.is_empty());
            let found = problem.solve();
            prop_assert_eq!(value(&problem, &found, bound), allowed.into_iter().max());
        }
    }

    #[test]
    fn pieces_are_balanced() {
        let problem = Problem {
            first: (0..10).map(|i| i * 10).collect(),
            last: (1..11).map(|i| i * 10).collect(),
            gaps: &[-5; 9],
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
            special: 2,
            max,
            min,
            target: None,
        };
        assert_eq!(problem(Some(50), None).solve(), [0; 0]);
        assert_eq!(problem(None, Some(102)).solve().len(), n / 100 - 1);
    }
}
