//! Products in single precision: the bias is added and the last step done while the sums of a tile are in registers.

use pulp::{Simd, WithSimd};
use rayon::prelude::*;

use super::super::aligned::Aligned;
use super::tile::{lanes, store, tile, vectors};
use super::{Finish, Linear};

/// Vectors side by side in a panel of weights. With eight rows (four where there are 16 registers) this fills the
/// register file with sums, and each loaded weight is used for eight (four) multiplications.
const PANEL: usize = 3;

/// Weights in panels.
#[derive(Debug)]
pub(super) struct Panels {
    /// Columns of a panel: lanes of a vector times [`PANEL`].
    width: usize,
    /// Panels that together have as many columns as the bias; each holds, for every input, the weights of its `width` outputs.
    panels: Aligned,
}

impl Panels {
    pub(super) fn new(weight: &[f32], inputs: usize) -> Self {
        let width = lanes() * PANEL;
        let mut panels = Aligned::zeros(weight.len());
        panels.par_chunks_exact_mut(inputs * width).enumerate().for_each(|(p, panel)| {
            for (c, row) in weight[p * width * inputs..][..width * inputs].chunks_exact(inputs).enumerate() {
                for (k, &w) in row.iter().enumerate() {
                    panel[k * width + c] = w;
                }
            }
        });
        Self { width, panels }
    }
}

/// A whole product; `x` and `out` have `rows` rows, a multiple of eight.
pub(super) struct Apply<'a> {
    pub(super) layer: &'a Linear,
    pub(super) panels: &'a Panels,
    pub(super) rows: usize,
    pub(super) x: &'a [f32],
    pub(super) finish: Finish<'a>,
    pub(super) out: &'a mut [f32],
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
        let Self { layer, panels: &Panels { width, ref panels }, rows, x, finish, out } = self;
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
        Finish::Gelu => own.iter_mut().for_each(|sum| *sum = super::super::math::gelu(simd, *sum)),
        Finish::Add(matrix) => {
            let other = vectors::<S, N>(&matrix[at..]);
            for v in 0..N {
                own[v] = simd.add_f32s(own[v], other[v]);
            }
        }
    }
    store::<S, N>(&mut out[at..], own);
}
