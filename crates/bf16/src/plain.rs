//! The same number by number, for processors without the instructions and for tests.

use std::ops::Range;

use super::weights::{LINES, SIDE, Weights};

pub(crate) fn round(from: &[f32], to: &mut [u32]) {
    for (pair, to) in from.chunks_exact(2).zip(to) {
        *to = nearest(pair[0]) | nearest(pair[1]) << 16;
    }
}

/// The bits of the nearest number of bfloat16, ties to even.
fn nearest(x: f32) -> u32 {
    let bits = x.to_bits();
    if x.is_nan() {
        // A quiet one, whatever the lower half held.
        return bits >> 16 | 0x40;
    }
    if x.is_subnormal() {
        return bits >> 16 & 0x8000;
    }
    (bits + 0x7fff + (bits >> 16 & 1)) >> 16
}

pub(crate) fn product(x: &[u32], weights: &Weights, columns: Range<usize>, out: &mut [f32]) {
    let low = |pair: u32| f32::from_bits(pair << 16);
    let high = |pair: u32| f32::from_bits(pair & 0xffff_0000);
    for (x, out) in x.chunks_exact(weights.pairs()).zip(out.chunks_exact_mut(columns.len())) {
        for (panel, out) in weights.panels(columns.clone()).zip(out.chunks_exact_mut(super::COLUMNS)) {
            for (column, out) in out.iter_mut().enumerate() {
                let mut sum = 0.0;
                for (lines, &x) in panel.chunks_exact(LINES).zip(x) {
                    let w = lines[column / SIDE].0[column % SIDE];
                    sum += low(x) * low(w) + high(x) * high(w);
                }
                *out = sum;
            }
        }
    }
}
