//! Products of matrices in integers of 16 bits, for processors that multiply these twice as quickly as single precision (AVX2) and have
//! no bfloat16.
//!
//! Each [`GROUP`] of numbers in a row of the input is divided by a step of its own, a row of weights by one step, and rounded; the products
//! of a group are summed in 32 bits, which are never too few: the steps are chosen by what the weights can add up to. A group's sum is
//! exact, so it does not depend on its order, nor on the instructions that worked it out. One very large number in a row, as language
//! models have them, makes the step of its own group alone coarser.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256i;
use std::ops::Range;

use pulp::Arch;
#[cfg(target_arch = "x86_64")]
use pulp::{NullaryFnOnce, Simd, x86::V3};

/// Columns of a line of weights.
const SIDE: usize = 16;

/// Rows of the input that a step works on: with two vectors of columns their sums take half of AVX2's registers.
#[cfg(target_arch = "x86_64")]
const ROWS: usize = 4;

/// Pairs of inputs that share a step.
const GROUP: usize = 64;

/// The greatest whole number of 16 bits.
const MOST: f64 = i16::MAX as f64;

/// How many times finer the inputs are divided than the weights: the greatest of a row is further from the rest of it.
const FINER: f64 = 4.0;

/// Rows whose numbers are all below it are zeros: their step would be no number.
const LEAST: f32 = 1e-30;

/// The weights of a pair of inputs in [`SIDE`] columns: the first in the lower half of an element.
#[derive(Debug, Clone, Copy)]
#[repr(C, align(64))]
struct Line([u32; SIDE]);

/// A matrix of weights, packed for [`product`].
#[derive(Debug)]
pub(super) struct Weights {
    pairs: usize,
    /// For each [`SIDE`] columns a line for every pair of inputs.
    lines: Vec<Line>,
    /// What a step of each column is worth.
    steps: Vec<f32>,
    /// The greatest whole number of an input, by which no sum leaves 32 bits.
    range: f32,
}

/// True where products in these integers are the quickest that the processor has, bfloat16 aside: with AVX-512 it multiplies single
/// precision as quickly.
pub(super) fn quickest() -> bool {
    #[cfg(target_arch = "x86_64")]
    {
        matches!(Arch::new(), Arch::V3(_))
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        false
    }
}

/// The greatest size in a row; no number where one of them is none.
#[inline(always)]
fn greatest(row: &[f32]) -> f32 {
    // The order of sizes is that of their bits, and numbers that are none come last.
    f32::from_bits(row.iter().map(|x| x.to_bits() & 0x7fff_ffff).fold(0, u32::max))
}

impl Weights {
    /// Packs `weight`: rows of `inputs` numbers, one for each output.
    ///
    /// # Panics
    /// Where `inputs` is odd or zero, or the number of outputs is no multiple of [`SIDE`].
    pub(super) fn new(weight: &[f32], inputs: usize) -> Self {
        assert!(inputs > 0 && inputs.is_multiple_of(2), "{inputs} inputs are no pairs");
        let (pairs, outputs) = (inputs / 2, weight.len() / inputs);
        assert!(weight.len() == inputs * outputs && outputs.is_multiple_of(SIDE), "a weight matrix of another shape");
        let rows = || weight.chunks_exact(inputs);
        // How many times the greatest number of its row a group adds up to: the products of a sum may be worth 2³¹ together.
        let sizes = |group: &[f32]| group.iter().map(|&w| f64::from(w).abs()).sum::<f64>();
        let worth = |row: &[f32]| {
            let most = row.chunks(2 * GROUP).map(sizes).fold(0.0, f64::max);
            most / f64::from(greatest(row)).max(f64::from(LEAST))
        };
        let worth = rows().map(worth).fold(1.0, f64::max);
        let finest = (f64::from(i32::MAX) / worth / FINER).sqrt().clamp(1.0, MOST).floor();
        let mut lines = vec![Line([0; SIDE]); outputs / SIDE * pairs];
        let mut steps = vec![0.0; outputs];
        let mut most = 1;
        for (column, row) in rows().enumerate() {
            let (by, step) = step(greatest(row), finest as f32);
            steps[column] = step;
            let mut sum = 0;
            for (pair, numbers) in row.chunks_exact(2).enumerate() {
                if pair.is_multiple_of(GROUP) {
                    sum = 0;
                }
                let [low, high] = [numbers[0], numbers[1]].map(|w| nearest(w * by));
                sum += i64::from(low).abs() + i64::from(high).abs();
                most = most.max(sum);
                lines[column / SIDE * pairs + pair].0[column % SIDE] = both(low, high);
            }
        }
        let range = (i64::from(i32::MAX) / most).min(i64::from(i16::MAX)) as f32;
        Self { pairs, lines, steps, range }
    }

    /// The lines of some columns, [`SIDE`] columns at a time, with their steps.
    fn panels(&self, columns: Range<usize>) -> impl Iterator<Item = (&[Line], &[f32])> {
        let lines = &self.lines[columns.start / SIDE * self.pairs..columns.end / SIDE * self.pairs];
        lines.chunks_exact(self.pairs).zip(self.steps[columns].chunks_exact(SIDE))
    }
}

/// What numbers up to `greatest` are multiplied by to be whole numbers up to `range`, and what one of these is worth.
#[inline(always)]
fn step(greatest: f32, range: f32) -> (f32, f32) {
    if greatest < LEAST { (0.0, 0.0) } else { (range / greatest, greatest / range) }
}

/// The nearest whole number, ties to even.
fn nearest(x: f32) -> i16 {
    x.round_ties_even() as i16
}

fn both(low: i16, high: i16) -> u32 {
    u32::from(low.cast_unsigned()) | u32::from(high.cast_unsigned()) << 16
}

/// Rows of whole numbers, two in an element, and what a step of each group of each row is worth.
#[derive(Debug, Default)]
pub(super) struct Rounded {
    pairs: Vec<u32>,
    steps: Vec<f32>,
}

impl Rounded {
    /// Rounds rows of `from` for a product with `weights`.
    pub(super) fn fill(&mut self, from: &[f32], weights: &Weights) {
        let inputs = 2 * weights.pairs;
        let rows = from.len() / inputs;
        self.pairs.resize(self.pairs.len().max(from.len() / 2), 0);
        self.steps.resize(self.steps.len().max(rows * weights.pairs.div_ceil(GROUP)), 0.0);
        let rounding = Rounding { from, inputs, range: weights.range, to: self };
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = V3::try_new() {
            return simd.vectorize(ByV3(simd, rounding));
        }
        rounding.plainly();
    }
}

struct Rounding<'a> {
    from: &'a [f32],
    inputs: usize,
    range: f32,
    to: &'a mut Rounded,
}

impl Rounding<'_> {
    #[inline(always)]
    fn groups(self, round: impl Fn(&[f32], f32, &mut [u32])) {
        let pairs = self.inputs / 2;
        let (rows, steps) =
            (self.to.pairs.chunks_exact_mut(pairs), self.to.steps.chunks_exact_mut(pairs.div_ceil(GROUP)));
        for ((from, to), steps) in self.from.chunks_exact(self.inputs).zip(rows).zip(steps) {
            for ((from, to), worth) in from.chunks(2 * GROUP).zip(to.chunks_mut(GROUP)).zip(steps) {
                let (by, step) = step(greatest(from), self.range);
                *worth = step;
                round(from, by, to);
            }
        }
    }

    fn plainly(self) {
        self.groups(round_group);
    }
}

#[inline(always)]
fn round_group(group: &[f32], by: f32, pairs: &mut [u32]) {
    for (numbers, pair) in group.chunks_exact(2).zip(pairs) {
        *pair = both(nearest(numbers[0] * by), nearest(numbers[1] * by));
    }
}

/// The product of some rows of the input with some columns of the weights: rows of `columns.len()` numbers.
///
/// # Panics
/// Where the number of rows is no multiple of four, `columns` are no whole lines, or there are fewer rows.
pub(super) fn product_of(rows: Range<usize>, x: &Rounded, weights: &Weights, columns: Range<usize>, out: &mut [f32]) {
    assert!(columns.start.is_multiple_of(SIDE) && columns.end.is_multiple_of(SIDE), "columns {columns:?}");
    let (pairs, groups) = (weights.pairs, weights.pairs.div_ceil(GROUP));
    let product = Product {
        x: &x.pairs[rows.start * pairs..rows.end * pairs],
        steps: &x.steps[rows.start * groups..rows.end * groups],
        weights,
        out: &mut out[..rows.len() * columns.len()],
        columns,
    };
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = V3::try_new() {
        assert!(rows.len().is_multiple_of(ROWS), "rows {rows:?} are no multiple of {ROWS}");
        return simd.vectorize(ByV3(simd, product));
    }
    product.plainly();
}

struct Product<'a> {
    x: &'a [u32],
    steps: &'a [f32],
    weights: &'a Weights,
    columns: Range<usize>,
    out: &'a mut [f32],
}

impl Product<'_> {
    fn plainly(self) {
        let (pairs, outputs) = (self.weights.pairs, self.columns.len());
        let halves = |pair: u32| [pair as u16, (pair >> 16) as u16].map(|half| i32::from(half.cast_signed()));
        for (p, (lines, steps)) in self.weights.panels(self.columns).enumerate() {
            let rows = self.x.chunks_exact(pairs).zip(self.steps.chunks_exact(pairs.div_ceil(GROUP)));
            for (r, (x, groups)) in rows.enumerate() {
                for (c, worth) in steps.iter().enumerate() {
                    let mut all = 0.0_f32;
                    for ((x, lines), step) in x.chunks(GROUP).zip(lines.chunks(GROUP)).zip(groups) {
                        let products = x.iter().zip(lines).map(|(&x, line)| {
                            let ([a, b], [v, w]) = (halves(x), halves(line.0[c]));
                            a * v + b * w
                        });
                        all = (products.sum::<i32>() as f32).mul_add(*step, all);
                    }
                    self.out[r * outputs + p * SIDE + c] = all * worth;
                }
            }
        }
    }
}

/// Work with the instructions of AVX2.
#[cfg(target_arch = "x86_64")]
struct ByV3<T>(V3, T);

#[cfg(target_arch = "x86_64")]
impl NullaryFnOnce for ByV3<Rounding<'_>> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self(simd, rounding) = self;
        rounding.groups(|group, by, pairs| {
            let (numbers, rest) = V3::as_simd_f32s(group);
            let (vectors, last) = numbers.as_chunks::<2>();
            let by_all = simd.splat_f32s(by);
            let (to, last_to) = pairs.as_chunks_mut::<8>();
            for (two, to) in vectors.iter().zip(to) {
                let [low, high] = two.map(|x| simd.avx._mm256_cvtps_epi32(pulp::cast(simd.mul_f32s(x, by_all))));
                // Packed half by half: the quarters in the middle change places.
                let packed = simd.avx2._mm256_packs_epi32(low, high);
                *to = pulp::cast(simd.avx2._mm256_permute4x64_epi64::<0b1101_1000>(packed));
            }
            let done = group.len() - rest.len() - 8 * last.len();
            round_group(&group[done..], by, last_to);
        });
    }
}

#[cfg(target_arch = "x86_64")]
impl NullaryFnOnce for ByV3<Product<'_>> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self(simd, product) = self;
        let Product { x, steps, weights, columns, out } = product;
        let (pairs, outputs) = (weights.pairs, columns.len());
        let groups = pairs.div_ceil(GROUP);
        for (p, (lines, worth)) in weights.panels(columns).enumerate() {
            let (worth, _) = V3::as_simd_f32s(worth);
            let tiles = x.chunks_exact(ROWS * pairs).zip(steps.chunks_exact(ROWS * groups));
            for (tile, (x, steps)) in tiles.enumerate() {
                let mut all = [[simd.splat_f32s(0.0); 2]; ROWS];
                for (g, lines) in lines.chunks(GROUP).enumerate() {
                    let sums = group(simd, x, pairs, g * GROUP, lines);
                    for (r, (all, sums)) in all.iter_mut().zip(sums).enumerate() {
                        let step = simd.splat_f32s(steps[r * groups + g]);
                        for (all, sum) in all.iter_mut().zip(sums) {
                            let sum = pulp::cast(simd.avx._mm256_cvtepi32_ps(sum));
                            *all = simd.mul_add_f32s(sum, step, *all);
                        }
                    }
                }
                for (r, all) in all.iter().enumerate() {
                    let (out, _) = V3::as_mut_simd_f32s(&mut out[(tile * ROWS + r) * outputs + p * SIDE..][..SIDE]);
                    for ((out, all), worth) in out.iter_mut().zip(all).zip(worth) {
                        *out = simd.mul_f32s(*all, *worth);
                    }
                }
            }
        }
    }
}

/// The sums of a group, from pair `start` on: of [`ROWS`] rows and the columns of its lines.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn group(simd: V3, x: &[u32], pairs: usize, start: usize, lines: &[Line]) -> [[__m256i; 2]; ROWS] {
    // Slices of one and the same length let the compiler drop the bounds checks of the loop.
    let mut rows = [x; ROWS];
    for (r, row) in rows.iter_mut().enumerate() {
        *row = &x[r * pairs + start..][..lines.len()];
    }
    let mut sums = [[simd.avx._mm256_setzero_si256(); 2]; ROWS];
    for (k, line) in lines.iter().enumerate() {
        let line: [__m256i; 2] = pulp::cast(line.0);
        for (sums, row) in sums.iter_mut().zip(rows) {
            let x = simd.avx._mm256_set1_epi32(row[k].cast_signed());
            for (sum, line) in sums.iter_mut().zip(line) {
                *sum = simd.avx2._mm256_add_epi32(*sum, simd.avx2._mm256_madd_epi16(x, line));
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::numbers;
    use super::{GROUP, Product, Rounded, Rounding, SIDE, Weights, product_of};

    /// The product by the way that this machine takes, and number by number.
    fn both_ways(x: &[f32], w: &[f32], inputs: usize) -> [Vec<f32>; 2] {
        let (weights, rows, outputs) = (Weights::new(w, inputs), x.len() / inputs, w.len() / inputs);
        let (mut rounded, mut plainly) = (Rounded::default(), Rounded::default());
        rounded.fill(x, &weights);
        plainly.pairs.resize(x.len() / 2, 0);
        plainly.steps.resize(rows * (inputs / 2).div_ceil(GROUP), 0.0);
        Rounding { from: x, inputs, range: weights.range, to: &mut plainly }.plainly();
        let mut found = [vec![f32::NAN; rows * outputs], vec![f32::NAN; rows * outputs]];
        product_of(0..rows, &rounded, &weights, 0..outputs, &mut found[0]);
        let (x, steps) = (&plainly.pairs[..], &plainly.steps[..]);
        Product { x, steps, weights: &weights, columns: 0..outputs, out: &mut found[1] }.plainly();
        found
    }

    proptest! {
        #[test]
        fn as_in_double_precision_and_the_same_bits_by_every_way(
            tiles in 1..6_usize, pairs in 1..3 * GROUP, panels in 1..5_usize, seed in any::<u64>(),
        ) {
            let (rows, inputs, outputs) = (4 * tiles, 2 * pairs, panels * SIDE);
            let (x, w) = (numbers(rows * inputs, seed), numbers(outputs * inputs, !seed));
            let [found, plainly] = both_ways(&x, &w, inputs);
            prop_assert_eq!(&found, &plainly);
            for r in 0..rows {
                for c in 0..outputs {
                    let want: f64 =
                        (0..inputs).map(|k| f64::from(x[r * inputs + k]) * f64::from(w[c * inputs + k])).sum();
                    let found = f64::from(found[r * outputs + c]);
                    prop_assert!((found - want).abs() < 2e-3 * (inputs as f64).sqrt(), "{found} against {want}");
                }
            }
        }
    }

    #[test]
    fn the_greatest_sums_do_not_leave_32_bits() {
        for inputs in [2, 384, 1_536, 40_000] {
            for (x, w) in [(1.0, 1.0), (-3.0e28, 1.0e-3), (1.0e-20, -7.0)] {
                let [found, plainly] = both_ways(&vec![x; 4 * inputs], &vec![w; SIDE * inputs], inputs);
                assert_eq!(found, plainly);
                let want = f64::from(x) * f64::from(w) * inputs as f64;
                assert!(found.iter().all(|&sum| (f64::from(sum) / want - 1.0).abs() < 1e-2), "{} of {want}", found[0]);
            }
        }
    }

    #[test]
    fn a_very_large_number_spares_the_other_groups() {
        let inputs = 6 * GROUP;
        let (mut x, mut w) = (numbers(4 * inputs, 1), numbers(SIDE * inputs, 2));
        x.chunks_exact_mut(inputs).for_each(|row| row[..2 * GROUP].fill(0.0));
        w.chunks_exact_mut(inputs).for_each(|row| row[5] = 0.0);
        let before = both_ways(&x, &w, inputs);
        x.chunks_exact_mut(inputs).for_each(|row| row[5] = 1e6);
        assert_eq!(both_ways(&x, &w, inputs), before);
    }

    #[test]
    fn rows_of_nothing_are_zeros_and_what_is_no_number_stays_none() {
        let (inputs, w) = (6, numbers(SIDE * 6, 3));
        let mut x = numbers(8 * inputs, 4);
        x[..inputs].fill(0.0);
        x[inputs..2 * inputs].fill(1.0e-38);
        (x[2 * inputs], x[3 * inputs + 5]) = (f32::NAN, f32::INFINITY);
        for found in both_ways(&x, &w, inputs) {
            let rows: Vec<&[f32]> = found.chunks_exact(SIDE).collect();
            assert!(rows[..2].iter().all(|row| row.iter().all(|&sum| sum == 0.0)));
            assert!(rows[2].iter().all(|sum| sum.is_nan()) && rows[3].iter().all(|sum| !sum.is_finite()));
            assert!(rows[4..].iter().all(|row| row.iter().all(|sum| sum.is_finite())));
        }
    }
}
