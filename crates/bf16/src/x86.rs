//! AVX-512 with BF16: all `unsafe` of the product by vectors is here.

use std::arch::x86_64::{
    __m512, __m512bh, __m512i, _mm512_cvtne2ps_pbh, _mm512_dpbf16_ps, _mm512_loadu_ps, _mm512_loadu_si512,
    _mm512_set1_epi32, _mm512_setzero_ps, _mm512_storeu_ps, _mm512_storeu_si512,
};

use std::ops::Range;

use super::weights::{LINES, Line, Weights};
use super::{COLUMNS, ROWS};

pub(crate) fn available() -> bool {
    // The standard library keeps what it found: this is a load and a test.
    is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bf16")
}

/// The same bits as numbers of bfloat16.
#[inline(always)]
fn halves(bits: __m512i) -> __m512bh {
    // SAFETY: both are 512 bits without any meaning of their own.
    unsafe { std::mem::transmute(bits) }
}

/// # Safety
/// The processor must have the instructions ([`available`]), and `from` be twice as long as `to`.
#[target_feature(enable = "avx512f,avx512bf16")]
pub(crate) unsafe fn round(from: &[f32], to: &mut [u32]) {
    let whole = to.len() / 16 * 16;
    for i in (0..whole).step_by(16) {
        // SAFETY: 32 numbers from 2 i on are in `from`, 16 elements from i on in `to`.
        unsafe {
            let (low, high) =
                (_mm512_loadu_ps(from.as_ptr().add(2 * i)), _mm512_loadu_ps(from.as_ptr().add(2 * i + 16)));
            let both: __m512i = std::mem::transmute(_mm512_cvtne2ps_pbh(high, low));
            _mm512_storeu_si512(to.as_mut_ptr().add(i).cast(), both);
        }
    }
    super::plain::round(&from[2 * whole..], &mut to[whole..]);
}

/// # Safety
/// The processor must have the instructions ([`available`]); `rows` be a multiple of [`ROWS`], `x` and `out` hold just as many rows, and
/// `columns` be whole panels.
#[target_feature(enable = "avx512f,avx512bf16")]
pub(crate) unsafe fn product(rows: usize, x: &[u32], weights: &Weights, columns: Range<usize>, out: &mut [f32]) {
    let (pairs, outputs) = (weights.pairs(), columns.len());
    for (p, panel) in weights.panels(columns).enumerate() {
        for first in (0..rows).step_by(ROWS) {
            let x = &x[first * pairs..(first + ROWS) * pairs];
            let out = &mut out[first * outputs..(first + ROWS) * outputs];
            // SAFETY: the slices hold eight rows each, the panel all its lines, and a panel's columns end within a row.
            unsafe { tile(x, pairs, panel, &mut out[p * COLUMNS..], outputs) };
        }
    }
}

/// Eight rows times a panel: 24 sums stay in registers, and each loaded vector of weights is used for eight products.
///
/// # Safety
/// `x` holds [`ROWS`] rows of `pairs` elements; `panel` [`LINES`] lines a pair; `out` reaches the end of the panel's columns in the last
/// of [`ROWS`] rows that begin `stride` apart.
#[target_feature(enable = "avx512f,avx512bf16")]
#[inline]
unsafe fn tile(x: &[u32], pairs: usize, panel: &[Line], out: &mut [f32], stride: usize) {
    debug_assert!(x.len() == ROWS * pairs && panel.len() == LINES * pairs);
    debug_assert!(out.len() >= (ROWS - 1) * stride + COLUMNS);
    let mut sums: [[__m512; LINES]; ROWS] = [[_mm512_setzero_ps(); LINES]; ROWS];
    let (x, lines) = (x.as_ptr(), panel.as_ptr());
    for k in 0..pairs {
        let mut weights = [halves(_mm512_set1_epi32(0)); LINES];
        for (v, weights) in weights.iter_mut().enumerate() {
            // SAFETY: line k * LINES + v is in the panel.
            *weights = halves(unsafe { _mm512_loadu_si512(lines.add(k * LINES + v).cast()) });
        }
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: element k of row r is in `x`.
            let x = halves(_mm512_set1_epi32(unsafe { *x.add(r * pairs + k) }.cast_signed()));
            for (sum, weights) in sums.iter_mut().zip(weights) {
                *sum = _mm512_dpbf16_ps(*sum, x, weights);
            }
        }
    }
    for (r, sums) in sums.iter().enumerate() {
        for (v, sum) in sums.iter().enumerate() {
            // SAFETY: 16 numbers from there on are within `out`, as the caller says.
            unsafe { _mm512_storeu_ps(out.as_mut_ptr().add(r * stride + 16 * v), *sum) };
        }
    }
}
