use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;

use pericope_bf16::PART;
use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::aligned::Aligned;
use super::precision::Precision;
use super::rows::ROW_TILE;

/// Columns that weights are packed for: a whole number of panels on every machine. Those beyond the outputs are zeros.
const COLUMNS: usize = pericope_bf16::COLUMNS;

/// Vectors side by side in a panel of weights. With eight rows (four where there are 16 registers) this fills the
/// register file with sums, and each loaded weight is used for eight (four) multiplications.
const PANEL: usize = 3;

/// The last step on sums. The bias is always added.
#[derive(Debug, Clone, Copy)]
pub enum Finish<'a> {
    /// Nothing more.
    Bias,
    /// GELU with the error function.
    Gelu,
    /// The matrix of the same shape as the output is added (the residual connection).
    Add(&'a [f32]),
}

/// A fully connected layer, `y = x Wᵀ + b`, whose weights lie packed for this machine's vectors.
#[derive(Debug)]
pub struct Linear {
    inputs: usize,
    outputs: usize,
    weights: Weights,
    /// With zeros up to a whole number of [`COLUMNS`].
    bias: Aligned,
}

#[derive(Debug)]
enum Weights {
    Single {
        /// Columns of a panel: lanes of a vector times [`PANEL`].
        width: usize,
        /// Panels that together have as many columns as the bias; each holds, for every input, the weights of its `width` outputs.
        panels: Aligned,
    },
    Bf16(pericope_bf16::Weights),
}

/// Rows of sums that are finished together: those of two tiles of rows.
const BLOCK_ROWS: usize = 32;

/// Weights of a block of columns in bfloat16, 288 KiB of them: a block has as many columns as that gives, and at least [`PART`].
const BLOCK_WEIGHTS: usize = 384 * 384;

/// Rows that go through both products of [`feed_forward`] together, in bfloat16 and in single precision: enough that weights, which are
/// too many for the second-level cache, are read seldom, and few enough that in a model like MiniLM most of the rows between the products
/// stay in 1 or 2 MB of it.
const FEED_ROWS: (usize, usize) = (256, 128);

// Blocks of the feed-forward part must not write over the rows of the next one.
const _: () = assert!(FEED_ROWS.0.is_multiple_of(ROW_TILE) && FEED_ROWS.1.is_multiple_of(ROW_TILE));
const _: () = assert!(BLOCK_ROWS.is_multiple_of(ROW_TILE));

thread_local! {
    /// Rows that were rounded for a product, and those between the products of [`feed_forward`], kept from one to the next.
    static ROUNDED: RefCell<(Vec<u32>, Vec<u32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
    /// Rows between the products of [`feed_forward`] in single precision.
    static WIDE: RefCell<Aligned> = RefCell::default();
    /// Sums of a block of rows and columns.
    static SUMS: RefCell<Aligned> = RefCell::default();
}

/// Rows of results: numbers, or pairs of numbers of bfloat16.
enum Rows<'a> {
    Single(&'a mut [f32]),
    Bf16(&'a mut [u32]),
}

impl Rows<'_> {
    /// The numbers of a range.
    fn part(&mut self, numbers: Range<usize>) -> Rows<'_> {
        match self {
            Rows::Single(rows) => Rows::Single(&mut rows[numbers]),
            Rows::Bf16(rows) => Rows::Bf16(&mut rows[numbers.start / 2..numbers.end / 2]),
        }
    }
}

impl Linear {
    /// Outputs are a multiple of this: a whole number of vectors on every machine.
    pub const MULTIPLE: usize = 16;

    /// True where `outputs` is a whole number of vectors on every machine.
    #[must_use]
    pub fn fits(outputs: usize) -> bool {
        outputs.is_multiple_of(Self::MULTIPLE)
    }

    /// Packs `weight` (`outputs` rows of `inputs` numbers) and `bias` (`outputs` numbers). In bfloat16 the weights and each row of
    /// the input are rounded to it, and the products summed in single precision; an odd number of inputs is multiplied in single
    /// precision.
    ///
    /// # Panics
    /// Where the lengths do not agree, or `outputs` does not [fit](Self::fits).
    #[must_use]
    pub fn new(weight: &[f32], bias: &[f32], inputs: usize, precision: Precision) -> Self {
        let outputs = bias.len();
        assert_eq!(weight.len(), inputs * outputs, "a weight matrix of another shape");
        assert!(Self::fits(outputs), "{outputs} outputs are no whole number of vectors");
        let padded = outputs.next_multiple_of(COLUMNS);
        let mut weight = Cow::Borrowed(weight);
        if padded > outputs {
            weight.to_mut().resize(padded * inputs, 0.0);
        }
        let weights = match precision {
            Precision::Bf16 if inputs.is_multiple_of(2) => Weights::Bf16(pericope_bf16::Weights::new(&weight, inputs)),
            _ => single(&weight, inputs),
        };
        let mut kept = Aligned::zeros(padded);
        kept[..outputs].copy_from_slice(bias);
        Self { inputs, outputs, weights, bias: kept }
    }

    /// Numbers in an input row.
    #[must_use]
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// Numbers in an output row.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Fills the first `rows` rows of `out` (and, up to the next multiple of [`ROW_TILE`], rows that mean nothing).
    /// Every row is summed in the same order wherever it lies, so its bits do not depend on the rows beside it.
    ///
    /// # Panics
    /// Where `x`, `out` or the matrix to add have fewer rows than `rows` rounded up to a [`ROW_TILE`].
    pub fn apply(&self, rows: usize, x: &[f32], finish: Finish<'_>, out: &mut [f32]) {
        let rows = rows.next_multiple_of(ROW_TILE);
        let (x, out) = (&x[..rows * self.inputs], &mut out[..rows * self.outputs]);
        match &self.weights {
            Weights::Single { width, panels } => {
                Arch::new().dispatch(Apply { layer: self, width: *width, panels, rows, x, finish, out });
            }
            Weights::Bf16(weights) => ROUNDED.with_borrow_mut(|(kept, _)| {
                self.in_blocks(weights, rows, rounded(x, kept), finish, Rows::Single(out));
            }),
        }
    }

    /// [`apply`](Self::apply) to rows that were rounded. A block of columns is worked out for all rows before the next one: its weights
    /// stay in the second-level cache. The sums of a block of rows are finished before the next one's are worked out.
    fn in_blocks(
        &self,
        weights: &pericope_bf16::Weights,
        rows: usize,
        x: &[u32],
        finish: Finish<'_>,
        mut out: Rows<'_>,
    ) {
        let wide = (BLOCK_WEIGHTS / self.inputs / PART * PART).max(PART);
        SUMS.with_borrow_mut(|sums| {
            let packed = self.bias.len();
            sums.reserve(BLOCK_ROWS * wide.min(packed));
            for start in (0..packed).step_by(wide) {
                let columns = start..(start + wide).min(packed);
                for first in (0..rows).step_by(BLOCK_ROWS) {
                    let count = BLOCK_ROWS.min(rows - first);
                    let sums = &mut sums[..count * columns.len()];
                    pericope_bf16::product_of(count, &x[first * self.inputs / 2..], weights, columns.clone(), sums);
                    let out = out.part(first * self.outputs..(first + count) * self.outputs);
                    let finish = match finish {
                        Finish::Add(matrix) => Finish::Add(&matrix[first * self.outputs..]),
                        other => other,
                    };
                    Arch::new().dispatch(End { layer: self, columns: columns.clone(), finish, sums, out });
                }
            }
        });
    }
}

/// The feed-forward part of a layer, `down(GELU(up(x))) + x`: fills the first `rows` rows of `out`, as [`Linear::apply`] does. What lies
/// between the two products is kept in a buffer of the thread, in bfloat16 where both are in it.
///
/// # Panics
/// As [`Linear::apply`], and where the shapes of `up` and `down` do not agree.
pub fn feed_forward(up: &Linear, down: &Linear, rows: usize, x: &[f32], out: &mut [f32]) {
    let (hidden, between) = (up.inputs, up.outputs);
    assert!(down.inputs == between && down.outputs == hidden, "two products of other shapes");
    let both = match (&up.weights, &down.weights) {
        (Weights::Bf16(up), Weights::Bf16(down)) => Some((up, down)),
        _ => None,
    };
    let together = if both.is_some() { FEED_ROWS.0 } else { FEED_ROWS.1 };
    for first in (0..rows).step_by(together) {
        let count = together.min(rows - first);
        let padded = count.next_multiple_of(ROW_TILE);
        let (block, out) = (&x[first * hidden..][..padded * hidden], &mut out[first * hidden..][..padded * hidden]);
        if let Some((up_weights, down_weights)) = both {
            ROUNDED.with_borrow_mut(|(kept, wide)| {
                wide.resize(wide.len().max(padded * between / 2), 0);
                up.in_blocks(up_weights, padded, rounded(block, kept), Finish::Gelu, Rows::Bf16(wide));
                down.in_blocks(down_weights, padded, wide, Finish::Add(block), Rows::Single(out));
            });
        } else {
            WIDE.with_borrow_mut(|wide| {
                wide.reserve(padded * between);
                up.apply(count, block, Finish::Gelu, wide);
                down.apply(count, wide, Finish::Add(block), out);
            });
        }
    }
}

/// `from` rounded to bfloat16, in a buffer that grows where it must.
fn rounded<'a>(from: &[f32], kept: &'a mut Vec<u32>) -> &'a [u32] {
    kept.resize(kept.len().max(from.len() / 2), 0);
    let rounded = &mut kept[..from.len() / 2];
    pericope_bf16::round(from, rounded);
    rounded
}

fn single(weight: &[f32], inputs: usize) -> Weights {
    let width = lanes() * PANEL;
    let mut panels = Aligned::zeros(weight.len());
    panels.par_chunks_exact_mut(inputs * width).enumerate().for_each(|(p, panel)| {
        for (c, row) in weight[p * width * inputs..][..width * inputs].chunks_exact(inputs).enumerate() {
            for (k, &w) in row.iter().enumerate() {
                panel[k * width + c] = w;
            }
        }
    });
    Weights::Single { width, panels }
}

/// Adds the bias to rows of sums of some columns, does the last step, and puts them where they belong in rows of all columns.
struct End<'a> {
    layer: &'a Linear,
    columns: Range<usize>,
    finish: Finish<'a>,
    sums: &'a mut [f32],
    out: Rows<'a>,
}

impl WithSimd for End<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { layer, columns, finish, sums, mut out } = self;
        let outputs = layer.outputs;
        let own = columns.start..columns.end.min(outputs);
        let (bias, _) = S::as_simd_f32s(&layer.bias[columns.clone()]);
        for (r, row) in sums.chunks_exact_mut(columns.len()).enumerate() {
            let place = r * outputs + own.start..r * outputs + own.end;
            let row = &mut row[..own.len()];
            let (sums, _) = S::as_mut_simd_f32s(row);
            let both = sums.iter_mut().zip(bias);
            match finish {
                Finish::Bias => both.for_each(|(sum, bias)| *sum = simd.add_f32s(*sum, *bias)),
                Finish::Gelu => {
                    both.for_each(|(sum, bias)| *sum = super::math::gelu(simd, simd.add_f32s(*sum, *bias)));
                }
                Finish::Add(matrix) => {
                    let (other, _) = S::as_simd_f32s(&matrix[place.clone()]);
                    for ((sum, bias), other) in both.zip(other) {
                        *sum = simd.add_f32s(simd.add_f32s(*sum, *bias), *other);
                    }
                }
            }
            match &mut out {
                Rows::Single(out) => out[place].copy_from_slice(row),
                Rows::Bf16(out) => pericope_bf16::round(row, &mut out[place.start / 2..place.end / 2]),
            }
        }
    }
}

struct Apply<'a> {
    layer: &'a Linear,
    width: usize,
    panels: &'a [f32],
    rows: usize,
    x: &'a [f32],
    finish: Finish<'a>,
    out: &'a mut [f32],
}

impl WithSimd for Apply<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 { self.run::<S, 8>(simd) } else { self.run::<S, 4>(simd) }
    }
}

impl Apply<'_> {
    #[inline(always)]
    fn run<S: Simd, const ROWS: usize>(self, simd: S) {
        let Self { layer, width, panels, rows, x, finish, out } = self;
        let Linear { inputs, outputs, .. } = *layer;
        for (column, panel) in (0..outputs).step_by(width).zip(panels.chunks_exact(inputs * width)) {
            let (panel, _) = S::as_simd_f32s(panel);
            let (panel, _) = panel.as_chunks::<PANEL>();
            let bias = vectors::<S, PANEL>(&layer.bias[column..]);
            for first in (0..rows).step_by(ROWS) {
                let sums = tile::<S, ROWS, PANEL>(simd, &x[first * inputs..], inputs, inputs, panel);
                for (r, sums) in sums.iter().enumerate() {
                    let at = (first + r) * outputs + column;
                    // The last panel may hold columns that are none.
                    match (outputs - column) / S::F32_LANES {
                        1 => end::<S, 1>(simd, sums, &bias, finish, at, out),
                        2 => end::<S, 2>(simd, sums, &bias, finish, at, out),
                        _ => end::<S, PANEL>(simd, sums, &bias, finish, at, out),
                    }
                }
            }
        }
    }
}

/// Adds the bias to the first `N` vectors of sums, does the last step, and writes them to `out` from `at` on.
#[inline(always)]
fn end<S: Simd, const N: usize>(
    simd: S,
    sums: &[S::f32s; PANEL],
    bias: &[S::f32s; PANEL],
    finish: Finish<'_>,
    at: usize,
    out: &mut [f32],
) {
    let mut own = [sums[0]; N];
    for v in 0..N {
        own[v] = simd.add_f32s(sums[v], bias[v]);
    }
    match finish {
        Finish::Bias => {}
        Finish::Gelu => own.iter_mut().for_each(|sum| *sum = super::math::gelu(simd, *sum)),
        Finish::Add(matrix) => {
            let other = vectors::<S, N>(&matrix[at..]);
            for v in 0..N {
                own[v] = simd.add_f32s(own[v], other[v]);
            }
        }
    }
    store::<S, N>(&mut out[at..], own);
}

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

/// Floats in a vector of this machine.
pub(super) fn lanes() -> usize {
    Arch::new().dispatch(Lanes)
}

/// The first `N` vectors of `from`.
#[inline(always)]
pub(super) fn vectors<S: Simd, const N: usize>(from: &[f32]) -> [S::f32s; N] {
    let (vectors, _) = S::as_simd_f32s(&from[..N * S::F32_LANES]);
    let mut first = [vectors[0]; N];
    first.copy_from_slice(vectors);
    first
}

/// Writes `N` vectors to the start of `to`.
#[inline(always)]
pub(super) fn store<S: Simd, const N: usize>(to: &mut [f32], values: [S::f32s; N]) {
    let (vectors, _) = S::as_mut_simd_f32s(&mut to[..N * S::F32_LANES]);
    vectors[..N].copy_from_slice(&values);
}

/// The product of `ROWS` rows of `x` (`stride` floats apart, `depth` long) with a panel of `depth` times `N` vectors.
#[inline(always)]
pub(super) fn tile<S: Simd, const ROWS: usize, const N: usize>(
    simd: S,
    x: &[f32],
    stride: usize,
    depth: usize,
    panel: &[[S::f32s; N]],
) -> [[S::f32s; N]; ROWS] {
    assert!(depth > 0, "a product over nothing");
    // Slices of one and the same length let the compiler drop the bounds checks of the loop.
    let mut rows = [x; ROWS];
    for (r, row) in rows.iter_mut().enumerate() {
        *row = &x[r * stride..][..depth];
    }
    let panel = &panel[..depth];
    let mut sums = [[simd.splat_f32s(0.0); N]; ROWS];
    let mut k = 0;
    // Tested at its end, the loop always runs, and the zeros above need not be written to memory first.
    loop {
        let weights = panel[k];
        for r in 0..ROWS {
            let value = simd.splat_f32s(rows[r][k]);
            for v in 0..N {
                sums[r][v] = simd.mul_add_f32s(value, weights[v], sums[r][v]);
            }
        }
        k += 1;
        if k >= depth {
            break;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::super::math::reference_gelu;
    use super::{Finish, Linear, Precision, ROW_TILE, feed_forward};

    fn numbers(len: usize, seed: u32) -> Vec<f32> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) as f32 / (1 << 23) as f32 - 1.0
        };
        (0..len).map(|_| next()).collect()
    }

    #[test]
    fn agrees_with_sums_in_double_precision() {
        // An odd number of inputs cannot be paired.
        agrees((13, 37, 96), Precision::Single, 1e-5);
        agrees((13, 37, 96), Precision::Bf16, 1e-5);
        agrees((13, 38, 96), Precision::Single, 1e-5);
        // A number loses up to 1/512 of itself: far more than that is wrong, far less is not bfloat16.
        let off = agrees((13, 38, 96), Precision::Bf16, 0.06);
        assert!(off > 1e-4, "{off}");
        // So many inputs that the columns are three blocks, the last of them half a part.
        agrees((45, 1536, 240), Precision::Bf16, 0.4);
        // Columns that leave a panel with one vector or two.
        for outputs in [16, 32, 64, 112, 208] {
            agrees((13, 38, outputs), Precision::Single, 1e-5);
            agrees((45, 1536, outputs), Precision::Bf16, 0.4);
        }
    }

    /// The greatest difference, which is below `most`.
    fn agrees((rows, inputs, outputs): (usize, usize, usize), precision: Precision, most: f64) -> f64 {
        let mut greatest = 0.0_f64;
        let padded = rows.next_multiple_of(ROW_TILE);
        let (x, w, b) = (numbers(padded * inputs, 1), numbers(inputs * outputs, 2), numbers(outputs, 3));
        let add = numbers(padded * outputs, 4);
        let layer = Linear::new(&w, &b, inputs, precision);
        for (finish, kind) in [(Finish::Bias, 0), (Finish::Gelu, 1), (Finish::Add(&add), 2)] {
            let mut out = vec![f32::NAN; padded * outputs];
            layer.apply(rows, &x, finish, &mut out);
            for r in 0..rows {
                for c in 0..outputs {
                    let dot: f64 =
                        (0..inputs).map(|k| f64::from(x[r * inputs + k]) * f64::from(w[c * inputs + k])).sum();
                    let plain = dot + f64::from(b[c]);
                    let want = match kind {
                        0 => plain,
                        1 => reference_gelu(plain),
                        _ => plain + f64::from(add[r * outputs + c]),
                    };
                    let got = f64::from(out[r * outputs + c]);
                    greatest = greatest.max((got - want).abs());
                    assert!((got - want).abs() < most, "row {r}, column {c}: {got} against {want}, {precision:?}");
                }
            }
        }
        greatest
    }

    #[test]
    fn a_feed_forward_part_is_its_two_products() {
        let (rows, hidden, between) = (300_usize, 240, 1536);
        let padded = rows.next_multiple_of(ROW_TILE);
        let layer = |inputs: usize, outputs: usize, seed, precision| {
            Linear::new(&numbers(inputs * outputs, seed), &numbers(outputs, seed + 1), inputs, precision)
        };
        for precision in [Precision::Single, Precision::Bf16] {
            let (up, down) = (layer(hidden, between, 1, precision), layer(between, hidden, 3, precision));
            let x = numbers(padded * hidden, 5);
            let (mut wide, mut want) = (vec![0.0; padded * between], vec![0.0; padded * hidden]);
            up.apply(rows, &x, Finish::Gelu, &mut wide);
            down.apply(rows, &wide, Finish::Add(&x), &mut want);
            let mut found = vec![f32::NAN; padded * hidden];
            feed_forward(&up, &down, rows, &x, &mut found);
            assert_eq!(found[..rows * hidden], want[..rows * hidden], "{precision:?}");
        }
    }

    #[test]
    fn a_row_does_not_depend_on_its_place() {
        let (inputs, outputs) = (64, 144);
        let (w, b, row) = (numbers(inputs * outputs, 5), numbers(outputs, 6), numbers(inputs, 7));
        for precision in [Precision::Single, Precision::Bf16] {
            let layer = Linear::new(&w, &b, inputs, precision);
            let mut x = numbers(72 * inputs, 8);
            let mut found = Vec::new();
            for place in [0, 3, 7, 11, 15, 31, 33, 71] {
                x[place * inputs..][..inputs].copy_from_slice(&row);
                let mut out = vec![0.0; 72 * outputs];
                layer.apply(72, &x, Finish::Gelu, &mut out);
                found.push(out[place * outputs..][..outputs].to_vec());
            }
            assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}
