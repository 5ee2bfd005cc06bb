use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::aligned::Aligned;
use super::attention::{Attention, PANEL, exponentials, pack_keys, pack_values, products};
use super::linear::{lanes, store, tile, vectors};
use super::rows::ROW_TILE;

/// Memory of [`attend_gradient`], kept from call to call.
#[derive(Debug, Default)]
pub struct AttendGradientScratch {
    keys: Aligned,
    values: Aligned,
    rows: Aligned,
    shares: Aligned,
    slopes: Aligned,
    by_keys: Aligned,
    by_values: Aligned,
}

/// The gradient of [`attend`](super::attend) by queries, keys and values, rows side by side as in `qkv`: fills the rows of `sequences`
/// in `out`. `context` is what `attend` gave and `d` the gradient by it, both rows of the hidden size.
///
/// The shares are worked out again, some rows at a time: what is kept does not grow with the square of the length.
///
/// # Panics
/// Where `qkv` or `d` has no [`ROW_TILE`] rows beyond the last sequence; their content must be finite and does not matter otherwise.
pub fn attend_gradient(
    shape: Attention,
    sequences: &[Range<usize>],
    qkv: &[f32],
    (context, d): (&[f32], &[f32]),
    scratch: &mut AttendGradientScratch,
    out: &mut [f32],
) {
    let longest = sequences.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    let padded = longest.next_multiple_of(lanes() * PANEL);
    let AttendGradientScratch { keys, values, rows, shares, slopes, by_keys, by_values } = scratch;
    [keys, values, rows, by_keys, by_values].into_iter().for_each(|buffer| buffer.reserve(padded * shape.head));
    [shares, slopes].into_iter().for_each(|buffer| buffer.reserve(padded * ROW_TILE));
    Arch::new().dispatch(AttendGradient { shape, sequences, qkv, context, d, scratch, out });
}

struct AttendGradient<'a> {
    shape: Attention,
    sequences: &'a [Range<usize>],
    qkv: &'a [f32],
    context: &'a [f32],
    d: &'a [f32],
    scratch: &'a mut AttendGradientScratch,
    out: &'a mut [f32],
}

impl WithSimd for AttendGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 { self.run::<S, 8>(simd) } else { self.run::<S, 4>(simd) }
    }
}

impl AttendGradient<'_> {
    #[inline(always)]
    fn run<S: Simd, const ROWS: usize>(self, simd: S) {
        let Self { shape, sequences, qkv, context, d, scratch, out } = self;
        let width = PANEL * S::F32_LANES;
        let (hidden, head) = (shape.hidden(), shape.head);
        let stride = 3 * hidden;
        let scale = simd.splat_f32s((head as f32).sqrt().recip());
        for rows in sequences {
            let len = rows.len();
            let padded = len.next_multiple_of(width);
            let (own, from) = (&qkv[rows.start * stride..], rows.start * hidden);
            let (context, d) = (&context[from..], &d[from..]);
            for column in (0..hidden).step_by(head) {
                let keys = &mut scratch.keys[..padded * head];
                pack_keys(&own[hidden + column..], stride, len, head, width, keys);
                let values = &mut scratch.values[..padded * head];
                pack_keys(&own[2 * hidden + column..], stride, len, head, width, values);
                let key_rows = &mut scratch.rows[..len * head];
                pack_values(&own[hidden + column..], stride, len, head, width, key_rows);
                let (by_keys, by_values) = (&mut scratch.by_keys[..len * head], &mut scratch.by_values[..len * head]);
                by_keys.fill(0.0);
                by_values.fill(0.0);
                for first in (0..len).step_by(ROWS) {
                    let (queries, d_rows) = (&own[first * stride + column..], &d[first * hidden + column..]);
                    let context = &context[first * hidden + column..];
                    let shares = &mut scratch.shares[..ROWS * padded];
                    let slopes = &mut scratch.slopes[..ROWS * padded];
                    products::<S, ROWS>(simd, queries, (stride, head), keys, shares);
                    products::<S, ROWS>(simd, d_rows, (hidden, head), values, slopes);
                    let live = ROWS.min(len - first);
                    for (r, (shares, slopes)) in
                        shares.chunks_exact_mut(padded).zip(slopes.chunks_exact_mut(padded)).enumerate()
                    {
                        if r >= live {
                            // Another sequence's rows, or none.
                            shares.fill(0.0);
                            slopes.fill(0.0);
                            continue;
                        }
                        shares[len..].fill(f32::NEG_INFINITY);
                        let share = simd.splat_f32s(exponentials(simd, shares, scale).recip());
                        let (d, context) = (&d_rows[r * hidden..][..head], &context[r * hidden..][..head]);
                        let mean = simd.splat_f32s(d.iter().zip(context).map(|(d, c)| d * c).sum());
                        let ((shares, _), (slopes, _)) = (S::as_mut_simd_f32s(shares), S::as_mut_simd_f32s(slopes));
                        for (p, slope) in shares.iter_mut().zip(slopes) {
                            *p = simd.mul_f32s(*p, share);
                            *slope = simd.mul_f32s(simd.mul_f32s(*p, scale), simd.sub_f32s(*slope, mean));
                        }
                    }
                    for (p, panel) in key_rows.chunks_exact(len * width).enumerate() {
                        let (panel, _) = S::as_simd_f32s(panel);
                        let (panel, _) = panel.as_chunks::<PANEL>();
                        let sums = tile::<S, ROWS, PANEL>(simd, slopes, padded, len, panel);
                        for (r, sums) in sums.iter().enumerate().take(live) {
                            let at = (rows.start + first + r) * stride + column + p * width;
                            store::<S, PANEL>(&mut out[at..], *sums);
                        }
                    }
                    for (p, by_keys) in by_keys.chunks_exact_mut(len * width).enumerate() {
                        spread::<S, ROWS>(simd, slopes, (&queries[p * width..], stride), by_keys);
                    }
                    for (p, by_values) in by_values.chunks_exact_mut(len * width).enumerate() {
                        spread::<S, ROWS>(simd, shares, (&d_rows[p * width..], hidden), by_values);
                    }
                }
                for (part, sums) in [by_keys, by_values].into_iter().enumerate() {
                    for (p, panel) in sums.chunks_exact(len * width).enumerate() {
                        for (j, row) in panel.chunks_exact(width).enumerate() {
                            let at = (rows.start + j) * stride + (1 + part) * hidden + column + p * width;
                            out[at..at + width].copy_from_slice(row);
                        }
                    }
                }
            }
        }
    }
}

/// Adds to each row of `sums` (a panel wide) `ROWS` rows of `x`, `stride` floats apart, times its column of `shares`.
#[inline(always)]
fn spread<S: Simd, const ROWS: usize>(simd: S, shares: &[f32], (x, stride): (&[f32], usize), sums: &mut [f32]) {
    let (sums, _) = S::as_mut_simd_f32s(sums);
    let (sums, _) = sums.as_chunks_mut::<PANEL>();
    let padded = shares.len() / ROWS;
    let mut values = [[simd.splat_f32s(0.0); PANEL]; ROWS];
    let mut rows = [shares; ROWS];
    for (r, (value, row)) in values.iter_mut().zip(&mut rows).enumerate() {
        *value = vectors::<S, PANEL>(&x[r * stride..]);
        *row = &shares[r * padded..][..sums.len()];
    }
    for (j, sum) in sums.iter_mut().enumerate() {
        for r in 0..ROWS {
            let share = simd.splat_f32s(rows[r][j]);
            for v in 0..PANEL {
                sum[v] = simd.mul_add_f32s(share, values[r][v], sum[v]);
            }
        }
    }
}
