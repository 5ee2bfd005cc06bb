//! Vectors of this machine, and the product of a few rows with a few of them.

use pulp::{Arch, Simd, WithSimd};

struct Lanes;

impl WithSimd for Lanes {
    type Output = usize;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> usize {
        S::F32_LANES
    }
}

/// Floats in a vector of this machine.
pub(in super::super) fn lanes() -> usize {
    Arch::new().dispatch(Lanes)
}

/// The first `N` vectors of `from`.
#[inline(always)]
pub(in super::super) fn vectors<S: Simd, const N: usize>(from: &[f32]) -> [S::f32s; N] {
    let (vectors, _) = S::as_simd_f32s(&from[..N * S::F32_LANES]);
    let mut first = [vectors[0]; N];
    first.copy_from_slice(vectors);
    first
}

/// Writes `N` vectors to the start of `to`.
#[inline(always)]
pub(in super::super) fn store<S: Simd, const N: usize>(to: &mut [f32], values: [S::f32s; N]) {
    let (vectors, _) = S::as_mut_simd_f32s(&mut to[..N * S::F32_LANES]);
    vectors[..N].copy_from_slice(&values);
}

/// The product of `ROWS` rows of `x` (`stride` floats apart, `depth` long) with a panel of `depth` times `N` vectors.
#[inline(always)]
pub(in super::super) fn tile<S: Simd, const ROWS: usize, const N: usize>(
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
