//! All binary trees over a sequence at once: the sum of their weights, the probabilities of their spans, and the best of them.
//!
//! A tree weighs the exponential of the sum of its spans' scores, and of the scores of the single sentences that are the first of the
//! two parts of a node: those that begin a node, in the binarised form of a document's tree. The other single sentences have
//! none. Sums are in logarithms and in double precision, over all spans
//! of one width together, so that neighbouring spans share the instructions of a vector.

use pulp::Arch;

/// One number a span of `n` sentences: all spans of one sentence from left to right, then all of two, and so on.
#[derive(Debug, Clone, PartialEq)]
pub struct Triangle {
    sentences: usize,
    numbers: Vec<f64>,
}

impl Triangle {
    /// The numbers that `number` gives for the spans `start..end`.
    #[must_use]
    pub fn of(sentences: usize, mut number: impl FnMut(usize, usize) -> f64) -> Self {
        let mut numbers = Vec::with_capacity(sentences * (sentences + 1) / 2);
        for width in 1..=sentences {
            numbers.extend((0..=sentences - width).map(|start| number(start, start + width)));
        }
        Self { sentences, numbers }
    }

    /// The same number for every span.
    #[must_use]
    pub fn filled(sentences: usize, number: f64) -> Self {
        Self { sentences, numbers: vec![number; sentences * (sentences + 1) / 2] }
    }

    /// The number of sentences.
    #[must_use]
    pub fn sentences(&self) -> usize {
        self.sentences
    }

    /// The numbers of single sentences.
    fn leaves(&self) -> &[f64] {
        &self.numbers[..self.sentences]
    }

    /// The number of the span `start..end`.
    ///
    /// # Panics
    /// For a span without a sentence, or one that reaches beyond the sequence.
    #[must_use]
    pub fn at(&self, start: usize, end: usize) -> f64 {
        self.numbers[offset(self.sentences, end - start) + start]
    }
}

/// Spans narrower than `width`.
fn offset(sentences: usize, width: usize) -> usize {
    // The sum of sentences - w + 1 over the widths w below it.
    (width - 1) * (2 * sentences + 2 - width) / 2
}

/// The sums over all binary trees below each span: the logarithm of the total weight of its trees, its own score with it. A single
/// sentence has the sum 0: its score belongs to the node whose first part it is.
#[must_use]
pub fn inside(scores: &Triangle) -> Triangle {
    let n = scores.sentences;
    let leaves = scores.leaves();
    let mut sums = Triangle::filled(n, 0.0);
    let (mut best, mut total) = (vec![0.0; n], vec![0.0; n]);
    for width in 2..=n {
        let spans = n - width + 1;
        let (narrow, own) = sums.numbers.split_at_mut(offset(n, width));
        let (best, total) = (&mut best[..spans], &mut total[..spans]);
        best.fill(f64::NEG_INFINITY);
        total.fill(0.0);
        Arch::new().dispatch(|| {
            for split in 1..width {
                let (left, right) = halves(narrow, leaves, n, width, split);
                for ((best, left), right) in best.iter_mut().zip(left).zip(right) {
                    let sum = left + right;
                    *best = if sum > *best { sum } else { *best };
                }
            }
            for split in 1..width {
                let (left, right) = halves(narrow, leaves, n, width, split);
                for (((total, best), left), right) in total.iter_mut().zip(&*best).zip(left).zip(right) {
                    *total += exp(left + right - best);
                }
            }
        });
        let scores = &scores.numbers[offset(n, width)..];
        for (((own, score), best), total) in own.iter_mut().zip(scores).zip(&*best).zip(&*total) {
            *own = score + best + total.ln();
        }
    }
    sums
}

/// The sums of the left and the right halves of all spans of a width, where the left half has `split` sentences. `leaves` are the scores
/// of single sentences.
#[inline(always)]
fn halves<'a>(
    narrow: &'a [f64],
    leaves: &'a [f64],
    sentences: usize,
    width: usize,
    split: usize,
) -> (&'a [f64], &'a [f64]) {
    let spans = sentences - width + 1;
    let left = if split == 1 { leaves } else { &narrow[offset(sentences, split)..] };
    let left = &left[..spans];
    let right = &narrow[offset(sentences, width - split) + split..][..spans];
    (left, right)
}

/// The probabilities under the distribution of all binary trees by their weights.
#[derive(Debug, Clone, PartialEq)]
pub struct Marginals {
    /// The probability of each span: that it is a node of the tree, or 1 for a single sentence. Of a node it is the derivative of
    /// the logarithm of the total weight by the span's score.
    pub spans: Triangle,
    /// For each sentence, the probability that it is the first of the two parts of a node. In the binarised form of a
    /// document's tree these are the sentences that begin a node. It is the derivative by the single sentence's score.
    pub firsts: Vec<f64>,
}

/// The probabilities of spans from their scores and [`inside`] sums.
#[must_use]
pub fn marginals(scores: &Triangle, inside: &Triangle) -> Marginals {
    let n = scores.sentences;
    let leaves = scores.leaves();
    let mut spans = Triangle::filled(n, 0.0);
    let mut firsts = vec![0.0; n];
    if let Some(root) = spans.numbers.last_mut() {
        *root = 1.0;
    }
    let (mut base, mut share) = (vec![0.0; n], vec![0.0; n]);
    for width in (2..=n).rev() {
        let (count, at) = (n - width + 1, offset(n, width));
        let (narrow, wide) = spans.numbers.split_at_mut(at);
        let own = &wide[..count];
        let (base, share) = (&mut base[..count], &mut share[..count]);
        for ((base, sum), score) in base.iter_mut().zip(&inside.numbers[at..]).zip(&scores.numbers[at..]) {
            *base = sum - score;
        }
        let below = &inside.numbers[..at];
        Arch::new().dispatch(|| {
            for split in 1..width {
                let (left, right) = halves(below, leaves, n, width, split);
                for ((((share, own), base), left), right) in share.iter_mut().zip(own).zip(&*base).zip(left).zip(right)
                {
                    *share = own * exp(left + right - base);
                }
                let parts = [offset(n, split), offset(n, width - split) + split];
                for part in parts {
                    narrow[part..][..count].iter_mut().zip(&*share).for_each(|(sum, share)| *sum += share);
                }
                if split == 1 {
                    firsts.iter_mut().zip(&*share).for_each(|(sum, share)| *sum += share);
                }
            }
        });
    }
    Marginals { spans, firsts }
}

/// The tree with the highest sum of scores (the CYK algorithm): its spans of two sentences or more, in preorder. Among equals the
/// left part of a span is the shorter one.
#[must_use]
pub fn best(scores: &Triangle) -> Vec<(usize, usize)> {
    let n = scores.sentences;
    let leaves = scores.leaves();
    let mut sums = Triangle::filled(n, 0.0);
    let mut splits = vec![0u32; sums.numbers.len()];
    let mut highest = vec![0.0; n];
    for width in 2..=n {
        let at = offset(n, width);
        let (narrow, own) = sums.numbers.split_at_mut(at);
        let highest = &mut highest[..n - width + 1];
        let splits = &mut splits[at..][..n - width + 1];
        highest.fill(f64::NEG_INFINITY);
        // A split of one is what is left where no sum is a number.
        splits.fill(1);
        Arch::new().dispatch(|| {
            for split in 1..width {
                let (left, right) = halves(narrow, leaves, n, width, split);
                let all = highest.iter_mut().zip(splits.iter_mut()).zip(left).zip(right);
                for (((highest, place), left), right) in all {
                    let sum = left + right;
                    let better = sum > *highest;
                    *highest = if better { sum } else { *highest };
                    *place = if better { split as u32 } else { *place };
                }
            }
        });
        own.iter_mut().zip(&scores.numbers[at..]).zip(&*highest).for_each(|((own, score), high)| *own = score + high);
    }
    let mut found = Vec::with_capacity(n.saturating_sub(1));
    let mut open = vec![(0, n)];
    while let Some((start, end)) = open.pop() {
        if end - start < 2 {
            continue;
        }
        found.push((start, end));
        let middle = start + splits[offset(n, end - start) + start] as usize;
        open.extend([(middle, end), (start, middle)]);
    }
    found
}

/// exp(x) for x up to about 0, with a relative error below 1e-15; e^-700 for all below. Written out so that the compiler can use
/// vectors; without a fused multiplication, so that all machines agree.
#[inline(always)]
fn exp(x: f64) -> f64 {
    /// Adding this to |y| < 2^51 rounds y to an integer, which then lies in the low bits of the sum.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    // ln 2 in two parts, so that n times the first one is exact.
    const LN2: (f64, f64) = (0.693_147_180_369_123_8, 1.908_214_929_270_587_7e-10);
    /// 1 / k! from 13 down to 0.
    const COEFFICIENTS: [f64; 14] = [
        1.0 / 6_227_020_800.0,
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    let near = if x < -700.0 { -700.0 } else { x };
    let shifted = near * std::f64::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = near - n * LN2.0 - n * LN2.1;
    let mut p = 0.0;
    for c in COEFFICIENTS {
        p = p * r + c;
    }
    // What is no number stays none.
    f64::from_bits(p.to_bits().wrapping_add(shifted.to_bits() << 52)) + near * 0.0
}

#[cfg(test)]
mod tests {
    use super::{Triangle, best, exp, inside, marginals};
    use crate::hiercrf::binary::tests::is_binary;
    use pericope_segment::random::SplitMix64;

    fn random(sentences: usize, seed: u64) -> Triangle {
        let mut random = SplitMix64::new(seed);
        Triangle::of(sentences, |_, _| (random.next() >> 11) as f64 / (1u64 << 52) as f64 * 6.0 - 3.0)
    }

    /// Every binary tree over `start..end`, as its spans.
    fn all(start: usize, end: usize) -> Vec<Vec<(usize, usize)>> {
        if end - start < 2 {
            return vec![Vec::new()];
        }
        let mut found = Vec::new();
        for middle in start + 1..end {
            for left in all(start, middle) {
                for right in all(middle, end) {
                    found.push([&[(start, end)], &left[..], &right[..]].concat());
                }
            }
        }
        found
    }

    #[test]
    fn sums_marginals_and_the_best_are_those_of_all_trees() {
        for (n, trees) in [(1, 1), (2, 1), (3, 2), (4, 5), (5, 14), (6, 42), (7, 132)] {
            let all = all(0, n);
            assert_eq!(all.len(), trees);
            for seed in 0..4 {
                let scores = random(n, seed);
                let weight = |tree: &Vec<(usize, usize)>| -> f64 {
                    let firsts = (0..n).filter(|&i| tree.iter().any(|span| span.0 == i));
                    let leaves: f64 = firsts.map(|i| scores.at(i, i + 1)).sum();
                    leaves + tree.iter().map(|&(i, j)| scores.at(i, j)).sum::<f64>()
                };
                let total: f64 = all.iter().map(|tree| weight(tree).exp()).sum();
                let sums = inside(&scores);
                assert!((sums.at(0, n) - total.ln()).abs() < 1e-12, "{n}: {} {}", sums.at(0, n), total.ln());
                let found = marginals(&scores, &sums);
                for start in 0..n {
                    for end in start + 1..=n {
                        let with = all.iter().filter(|tree| end == start + 1 || tree.contains(&(start, end)));
                        let expected = with.map(|tree| weight(tree).exp()).sum::<f64>() / total;
                        assert!((found.spans.at(start, end) - expected).abs() < 1e-12);
                    }
                    // A sentence that some wider span begins with is the first of its two parts.
                    let first = all.iter().filter(|tree| tree.iter().any(|span| span.0 == start));
                    let expected = first.map(|tree| weight(tree).exp()).sum::<f64>() / total;
                    assert!((found.firsts[start] - expected).abs() < 1e-12);
                }
                let highest = all.iter().map(weight).fold(f64::NEG_INFINITY, f64::max);
                let tree = best(&scores);
                assert!((weight(&tree) - highest).abs() < 1e-12 && is_binary(n, &tree));
                assert!(all.contains(&tree));
            }
        }
    }

    #[test]
    fn marginals_are_the_derivatives_of_the_total() {
        let n = 12;
        let scores = random(n, 9);
        let found = marginals(&scores, &inside(&scores));
        for start in 0..n {
            for end in start + 1..=n {
                let at = |step: f64| {
                    let moved = |i, j| scores.at(i, j) + if (i, j) == (start, end) { step } else { 0.0 };
                    inside(&Triangle::of(n, moved)).at(0, n)
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                let expected = if end == start + 1 { found.firsts[start] } else { found.spans.at(start, end) };
                assert!((expected - slope).abs() < 1e-8, "{start}..{end}");
            }
        }
    }

    #[test]
    fn a_long_sequence_has_as_many_nodes_as_it_should() {
        for scale in [1.0, 200.0] {
            let wild = random(90, 2);
            let scores = Triangle::of(90, |i, j| scale * wild.at(i, j));
            let found = marginals(&scores, &inside(&scores));
            let sum: f64 =
                (0..90).flat_map(|i| (i + 2..=90).map(move |j| (i, j))).map(|(i, j)| found.spans.at(i, j)).sum();
            assert!((sum - 89.0).abs() < 1e-8, "{sum} nodes");
            assert!(found.firsts.iter().all(|p| (-1e-9..=1.0 + 1e-9).contains(p)) && found.firsts[89] == 0.0);
            assert!(is_binary(90, &best(&scores)));
        }
    }

    #[test]
    fn empty_and_single_sequences_have_no_spans() {
        for n in [0, 1] {
            let scores = random(n, 1);
            let found = marginals(&scores, &inside(&scores));
            assert!(best(&scores).is_empty() && found.firsts == vec![0.0; n]);
        }
    }

    #[test]
    fn exp_is_as_exact_as_promised() {
        for i in 0..=70_000 {
            let x = -f64::from(i) / 100.0;
            assert!((exp(x) / x.exp() - 1.0).abs() < 1e-14, "exp({x}) = {}", exp(x));
        }
        assert!(exp(f64::NEG_INFINITY) > 0.0 && exp(-1e300) < 1e-300);
        assert!(exp(f64::NAN).is_nan());
    }
}
