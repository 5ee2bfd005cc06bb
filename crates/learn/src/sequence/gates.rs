//! The element-wise half of an LSTM's step, on vectors of this machine.

use pericope_encode::kernels::exp;
use pulp::{Simd, WithSimd};

/// Matrices that a row of gates holds: of the input, forget, cell and output gate, in PyTorch's order.
pub(super) const GATES: usize = 4;

/// Numbers a unit that the gradient needs: the four gates, the cell before, and the hyperbolic tangent of the cell after.
pub(super) const KEPT: usize = 6;

/// A step forward over rows of `width` units: c' = f c + i g, h = o tanh(c').
pub(super) struct Forward<'a> {
    pub(super) width: usize,
    /// Sums before the gates, `[rows, 4, width]`.
    pub(super) sums: &'a [f32],
    /// The cells, `[rows, width]`.
    pub(super) cells: &'a mut [f32],
    /// What the gradient needs, `[rows, KEPT, width]`.
    pub(super) kept: &'a mut [f32],
    /// The states, `[rows, width]`.
    pub(super) states: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { width, sums, cells, kept, states } = self;
        let rows = sums.chunks_exact(GATES * width).zip(cells.chunks_exact_mut(width));
        let rows = rows.zip(kept.chunks_exact_mut(KEPT * width).zip(states.chunks_exact_mut(width)));
        for ((sums, cell), (kept, state)) in rows {
            let [i, f, g, o] = parts::<S, GATES>(sums, width);
            let [ki, kf, kg, ko, kc, kt] = parts_mut::<S, KEPT>(kept, width);
            let (cell, _) = S::as_mut_simd_f32s(cell);
            let (state, _) = S::as_mut_simd_f32s(state);
            for u in 0..cell.len() {
                let (i, f, o) = (sigmoid(simd, i[u]), sigmoid(simd, f[u]), sigmoid(simd, o[u]));
                let (g, before) = (tanh(simd, g[u]), cell[u]);
                let after = simd.mul_add_f32s(f, before, simd.mul_f32s(i, g));
                let bent = tanh(simd, after);
                (ki[u], kf[u], kg[u], ko[u], kc[u], kt[u]) = (i, f, g, o, before, bent);
                cell[u] = after;
                state[u] = simd.mul_f32s(o, bent);
            }
        }
    }
}

/// A step backward over rows of `width` units.
pub(super) struct Backward<'a> {
    pub(super) width: usize,
    /// What the step forward kept.
    pub(super) kept: &'a [f32],
    /// Gradients of the states, `[rows, width]`.
    pub(super) states: &'a [f32],
    /// Gradients of the cells after the step; becomes that of the cells before it.
    pub(super) cells: &'a mut [f32],
    /// Gradients of the sums before the gates, `[rows, 4, width]`.
    pub(super) sums: &'a mut [f32],
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { width, kept, states, cells, sums } = self;
        let one = simd.splat_f32s(1.0);
        let mul = |a, b| simd.mul_f32s(a, b);
        // The derivative of the sigmoid from its value y: y (1 - y); that of the hyperbolic tangent: 1 - y².
        let slope = |y| simd.mul_f32s(y, simd.sub_f32s(one, y));
        let bend = |y| simd.sub_f32s(one, simd.mul_f32s(y, y));
        let rows = sums.chunks_exact_mut(GATES * width).zip(cells.chunks_exact_mut(width));
        let rows = rows.zip(kept.chunks_exact(KEPT * width).zip(states.chunks_exact(width)));
        for ((sums, cell), (kept, state)) in rows {
            let [di, df, dg, d_o] = parts_mut::<S, GATES>(sums, width);
            let [i, f, g, o, c, t] = parts::<S, KEPT>(kept, width);
            let (cell, _) = S::as_mut_simd_f32s(cell);
            let (state, _) = S::as_simd_f32s(state);
            for u in 0..cell.len() {
                let dh = state[u];
                let dc = simd.mul_add_f32s(mul(dh, o[u]), bend(t[u]), cell[u]);
                d_o[u] = mul(mul(dh, t[u]), slope(o[u]));
                di[u] = mul(mul(dc, g[u]), slope(i[u]));
                df[u] = mul(mul(dc, c[u]), slope(f[u]));
                dg[u] = mul(mul(dc, i[u]), bend(g[u]));
                cell[u] = mul(dc, f[u]);
            }
        }
    }
}

/// The vectors of `N` parts of `width` numbers each.
#[inline(always)]
fn parts<S: Simd, const N: usize>(row: &[f32], width: usize) -> [&[S::f32s]; N] {
    std::array::from_fn(|n| S::as_simd_f32s(&row[n * width..][..width]).0)
}

#[inline(always)]
fn parts_mut<S: Simd, const N: usize>(row: &mut [f32], width: usize) -> [&mut [S::f32s]; N] {
    let mut rest = row;
    std::array::from_fn(|_| {
        let (first, others) = std::mem::take(&mut rest).split_at_mut(width);
        rest = others;
        S::as_mut_simd_f32s(first).0
    })
}

/// 1 / (1 + exp(-x)), with an absolute error below 3e-7. What is no number stays none.
#[inline(always)]
fn sigmoid<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
    let e = exp(simd, simd.neg_f32s(simd.abs_f32s(x)));
    let upper = simd.div_f32s(one, simd.add_f32s(one, e));
    let value = simd.select_f32s(simd.less_than_f32s(x, zero), simd.mul_f32s(e, upper), upper);
    simd.mul_add_f32s(x, zero, value)
}

/// The hyperbolic tangent, with an absolute error below 6e-7. What is no number stays none.
#[inline(always)]
fn tanh<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let (zero, one) = (simd.splat_f32s(0.0), simd.splat_f32s(1.0));
    let size = simd.abs_f32s(x);
    let e = exp(simd, simd.neg_f32s(simd.add_f32s(size, size)));
    let value = simd.div_f32s(simd.sub_f32s(one, e), simd.add_f32s(one, e));
    let value = simd.select_f32s(simd.less_than_f32s(x, zero), simd.neg_f32s(value), value);
    simd.mul_add_f32s(x, zero, value)
}

#[cfg(test)]
mod tests {
    use pulp::{Arch, Simd, WithSimd};

    use super::{sigmoid, tanh};

    struct Each<'a>(&'a mut [f32], bool);

    impl WithSimd for Each<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let (vectors, rest) = S::as_mut_simd_f32s(self.0);
            assert!(rest.is_empty());
            for v in vectors {
                *v = if self.1 { tanh(simd, *v) } else { sigmoid(simd, *v) };
            }
        }
    }

    fn each(numbers: &[f32], bent: bool) -> Vec<f32> {
        let mut found = numbers.to_vec();
        Arch::new().dispatch(Each(&mut found, bent));
        found
    }

    #[test]
    fn gates_are_as_exact_as_promised() {
        let numbers: Vec<f32> = (0..160_000).map(|i| (i as f32 - 80_000.0) / 2_000.0).collect();
        for (bent, bound) in [(false, 3e-7), (true, 6e-7)] {
            for (&x, y) in numbers.iter().zip(each(&numbers, bent)) {
                let x = f64::from(x);
                let want = if bent { x.tanh() } else { 1.0 / (1.0 + (-x).exp()) };
                assert!((f64::from(y) - want).abs() < bound, "{x} became {y}, not {want}");
            }
        }
    }

    #[test]
    fn what_is_no_number_stays_none() {
        let numbers = vec![f32::NAN; 64];
        for bent in [false, true] {
            assert!(each(&numbers, bent).iter().all(|y| y.is_nan()));
        }
        let far: Vec<f32> = (0..64).map(|i| if i % 2 == 0 { 1e30 } else { -1e30 }).collect();
        assert!(each(&far, true).chunks_exact(2).all(|pair| pair == [1.0, -1.0]));
        assert!(each(&far, false).chunks_exact(2).all(|pair| pair[0] == 1.0 && pair[1] < 1e-37));
    }
}
