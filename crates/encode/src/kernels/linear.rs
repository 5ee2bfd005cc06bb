use std::cell::RefCell;

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::aligned::Aligned;
use super::precision::Precision;
use super::rows::ROW_TILE;

/// Vectors side by side in a panel of weights. With eight rows (four where there are 16 registers) this fills the
/// register file with sums, and each loaded weight is used for eight (four) multiplications.
const PANEL: usize = 3;

/// The last step on a tile of sums before it is stored. The bias is always added.
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
    bias: Aligned,
}

#[derive(Debug)]
enum Weights {
    Single {
        /// Columns of a panel: lanes of a vector times [`PANEL`].
        width: usize,
        /// `outputs / width` panels; each holds, for every input, the weights of its `width` outputs.
        panels: Aligned,
    },
    Bf16(pericope_bf16::Weights),
}

thread_local! {
    /// Rows that were rounded for a product, kept from one to the next.
    static ROUNDED: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

impl Linear {
    /// Outputs are a multiple of this: a whole number of panels on every machine.
    pub const MULTIPLE: usize = 48;

    /// True where `outputs` is a whole number of panels on every machine.
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
        assert!(Self::fits(outputs), "{outputs} outputs are no whole number of panels");
        let weights = match precision {
            Precision::Bf16 if inputs.is_multiple_of(2) => Weights::Bf16(pericope_bf16::Weights::new(weight, inputs)),
            _ => single(weight, inputs),
        };
        let mut kept = Aligned::zeros(outputs);
        kept.copy_from_slice(bias);
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
            Weights::Bf16(weights) => {
                ROUNDED.with_borrow_mut(|rounded| {
                    rounded.resize(rounded.len().max(x.len() / 2), 0);
                    pericope_bf16::round(x, &mut rounded[..x.len() / 2]);
                    pericope_bf16::product(rows, rounded, weights, out);
                });
                Arch::new().dispatch(End { bias: &self.bias, finish, out });
            }
        }
    }
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

/// Adds the bias to rows of sums, and does the last step.
struct End<'a> {
    bias: &'a [f32],
    finish: Finish<'a>,
    out: &'a mut [f32],
}

impl WithSimd for End<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { bias, finish, out } = self;
        let outputs = bias.len();
        let (bias, _) = S::as_simd_f32s(bias);
        for (r, row) in out.chunks_exact_mut(outputs).enumerate() {
            let (row, _) = S::as_mut_simd_f32s(row);
            let sums = row.iter_mut().zip(bias);
            match finish {
                Finish::Bias => sums.for_each(|(sum, bias)| *sum = simd.add_f32s(*sum, *bias)),
                Finish::Gelu => {
                    sums.for_each(|(sum, bias)| *sum = super::math::gelu(simd, simd.add_f32s(*sum, *bias)));
                }
                Finish::Add(matrix) => {
                    let (other, _) = S::as_simd_f32s(&matrix[r * outputs..][..outputs]);
                    for ((sum, bias), other) in sums.zip(other) {
                        *sum = simd.add_f32s(simd.add_f32s(*sum, *bias), *other);
                    }
                }
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
        for (p, panel) in panels.chunks_exact(inputs * width).enumerate() {
            let (panel, _) = S::as_simd_f32s(panel);
            let (panel, _) = panel.as_chunks::<PANEL>();
            let column = p * width;
            let bias = vectors::<S, PANEL>(&layer.bias[column..]);
            for first in (0..rows).step_by(ROWS) {
                let mut sums = tile::<S, ROWS, PANEL>(simd, &x[first * inputs..], inputs, inputs, panel);
                for (r, sums) in sums.iter_mut().enumerate() {
                    let at = (first + r) * outputs + column;
                    for v in 0..PANEL {
                        sums[v] = simd.add_f32s(sums[v], bias[v]);
                    }
                    match finish {
                        Finish::Bias => {}
                        Finish::Gelu => {
                            for sum in sums.iter_mut() {
                                *sum = super::math::gelu(simd, *sum);
                            }
                        }
                        Finish::Add(matrix) => {
                            let other = vectors::<S, PANEL>(&matrix[at..]);
                            for v in 0..PANEL {
                                sums[v] = simd.add_f32s(sums[v], other[v]);
                            }
                        }
                    }
                    store::<S, PANEL>(&mut out[at..], *sums);
                }
            }
        }
    }
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
    use super::{Finish, Linear, Precision, ROW_TILE};

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
        agrees(37, Precision::Single, 1e-5);
        agrees(37, Precision::Bf16, 1e-5);
        agrees(38, Precision::Single, 1e-5);
        // A number loses up to 1/512 of itself: far more than that is wrong, far less is not bfloat16.
        let off = agrees(38, Precision::Bf16, 0.06);
        assert!(off > 1e-4, "{off}");
    }

    /// The greatest difference, which is below `most`.
    fn agrees(inputs: usize, precision: Precision, most: f64) -> f64 {
        let (rows, outputs) = (13usize, 96);
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
    fn a_row_does_not_depend_on_its_place() {
        let (inputs, outputs) = (64, 48);
        let (w, b, row) = (numbers(inputs * outputs, 5), numbers(outputs, 6), numbers(inputs, 7));
        for precision in [Precision::Single, Precision::Bf16] {
            let layer = Linear::new(&w, &b, inputs, precision);
            let mut x = numbers(16 * inputs, 8);
            let mut found = Vec::new();
            for place in [0, 3, 7, 11, 15] {
                x[place * inputs..][..inputs].copy_from_slice(&row);
                let mut out = vec![0.0; 16 * outputs];
                layer.apply(16, &x, Finish::Gelu, &mut out);
                found.push(out[place * outputs..][..outputs].to_vec());
            }
            assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
}
