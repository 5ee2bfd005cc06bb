//! Products whose factors have 16 bits: columns are worked out in blocks, and sums finished in cache.

use std::cell::RefCell;
use std::ops::Range;

use pericope_bf16::PART;
use pulp::{Arch, Simd, WithSimd};

use super::super::aligned::Aligned;
use super::super::int16::{self, Rounded};
use super::super::rows::ROW_TILE;
use super::{Finish, Linear};

/// Weights of 16 bits.
#[derive(Debug)]
pub(super) enum Narrow {
    Bf16(pericope_bf16::Weights),
    Int16(int16::Weights),
}

/// Rows of sums that are finished together: those of two tiles of rows.
const BLOCK_ROWS: usize = 32;

/// Weights of a block of columns, 288 KiB of them: a block has as many columns as that gives, and at least [`PART`].
const BLOCK_WEIGHTS: usize = 384 * 384;

const _: () = assert!(BLOCK_ROWS.is_multiple_of(ROW_TILE));

thread_local! {
    /// Rows that were rounded for a product in bfloat16, and those between two products, kept from one to the next.
    static ROUNDED: RefCell<(Vec<u32>, Vec<u32>)> = const { RefCell::new((Vec::new(), Vec::new())) };
    /// Rows that were rounded for a product in integers.
    static WHOLE: RefCell<Rounded> = RefCell::default();
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

/// A whole product; `x` and `out` have `rows` rows, a multiple of [`ROW_TILE`].
pub(super) fn apply((layer, weights): (&Linear, &Narrow), rows: usize, x: &[f32], finish: Finish<'_>, out: &mut [f32]) {
    let out = Rows::Single(out);
    match weights {
        Narrow::Bf16(weights) => ROUNDED.with_borrow_mut(|(kept, _)| {
            let product = bf16(weights, rounded(x, kept));
            in_blocks(layer, rows, product, finish, out);
        }),
        Narrow::Int16(weights) => WHOLE.with_borrow_mut(|x_whole| {
            x_whole.fill(x, weights);
            let product = |rows: Range<usize>, columns, sums: &mut [f32]| {
                int16::product_of(rows, x_whole, weights, columns, sums);
            };
            in_blocks(layer, rows, product, finish, out);
        }),
    }
}

/// The feed-forward part of a layer on a block of rows, both products in bfloat16, and so is what lies between them.
pub(super) fn feed_forward(
    (up, up_weights): (&Linear, &pericope_bf16::Weights),
    (down, down_weights): (&Linear, &pericope_bf16::Weights),
    rows: usize,
    x: &[f32],
    out: &mut [f32],
) {
    ROUNDED.with_borrow_mut(|(kept, wide)| {
        wide.resize(wide.len().max(rows * up.outputs / 2), 0);
        in_blocks(up, rows, bf16(up_weights, rounded(x, kept)), Finish::Gelu, Rows::Bf16(wide));
        in_blocks(down, rows, bf16(down_weights, wide), Finish::Add(x), Rows::Single(out));
    });
}

fn bf16(weights: &pericope_bf16::Weights, x: &[u32]) -> impl Fn(Range<usize>, Range<usize>, &mut [f32]) {
    let pairs = weights.inputs() / 2;
    move |rows, columns, sums| {
        pericope_bf16::product_of(rows.len(), &x[rows.start * pairs..], weights, columns, sums);
    }
}

/// `from` rounded to bfloat16, in a buffer that grows where it must.
fn rounded<'a>(from: &[f32], kept: &'a mut Vec<u32>) -> &'a [u32] {
    kept.resize(kept.len().max(from.len() / 2), 0);
    let rounded = &mut kept[..from.len() / 2];
    pericope_bf16::round(from, rounded);
    rounded
}

/// A product that gives the sums of some rows and columns. A block of columns is worked out for all rows before the next one: its
/// weights stay in the second-level cache. The sums of a block of rows are finished before the next one's are worked out.
fn in_blocks(
    layer: &Linear,
    rows: usize,
    product: impl Fn(Range<usize>, Range<usize>, &mut [f32]),
    finish: Finish<'_>,
    mut out: Rows<'_>,
) {
    let wide = (BLOCK_WEIGHTS / layer.inputs / PART * PART).max(PART);
    let (packed, outputs) = (layer.bias.len(), layer.outputs);
    SUMS.with_borrow_mut(|sums| {
        sums.reserve(BLOCK_ROWS * wide.min(packed));
        for start in (0..packed).step_by(wide) {
            let columns = start..(start + wide).min(packed);
            for first in (0..rows).step_by(BLOCK_ROWS) {
                let last = (first + BLOCK_ROWS).min(rows);
                let sums = &mut sums[..(last - first) * columns.len()];
                product(first..last, columns.clone(), sums);
                let out = out.part(first * outputs..last * outputs);
                let finish = match finish {
                    Finish::Add(matrix) => Finish::Add(&matrix[first * outputs..]),
                    other => other,
                };
                Arch::new().dispatch(End { layer, columns: columns.clone(), finish, sums, out });
            }
        }
    });
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
                    both.for_each(|(sum, bias)| *sum = super::super::math::gelu(simd, simd.add_f32s(*sum, *bias)));
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
