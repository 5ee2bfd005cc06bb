use pulp::{Arch, Simd, WithSimd};

use super::math::{exp, gelu};

/// What opens a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// GELU with the error function.
    Gelu,
    /// x times its logistic function.
    Silu,
}

/// Gated rows (Shazeer 2020, arXiv:2002.05202): of each row of `x` the first half goes through `gate`, and is multiplied with the second
/// half. `out` has as many rows, of `width` numbers: a multiple of 16.
///
/// # Panics
/// Where `x` is not twice as long as `out`.
pub fn gated(gate: Gate, x: &[f32], width: usize, out: &mut [f32]) {
    assert!(x.len() == 2 * out.len() && width.is_multiple_of(16), "rows of another width");
    Arch::new().dispatch(Gated { gate, x, width, out });
}

struct Gated<'a> {
    gate: Gate,
    x: &'a [f32],
    width: usize,
    out: &'a mut [f32],
}

impl WithSimd for Gated<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { gate, x, width, out } = self;
        if width == 0 {
            return;
        }
        for (x, out) in x.chunks_exact(2 * width).zip(out.chunks_exact_mut(width)) {
            let (opened, values) = x.split_at(width);
            let ((opened, _), (values, _)) = (S::as_simd_f32s(opened), S::as_simd_f32s(values));
            let (out, _) = S::as_mut_simd_f32s(out);
            for ((out, &x), &value) in out.iter_mut().zip(opened).zip(values) {
                let opened = match gate {
                    Gate::Gelu => gelu(simd, x),
                    Gate::Silu => silu(simd, x),
                };
                *out = simd.mul_f32s(opened, value);
            }
        }
    }
}

/// x / (1 + exp(-x)), with a relative error below 1e-6.
#[inline(always)]
fn silu<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    let zero = simd.splat_f32s(0.0);
    // Of numbers up to 0 alone: the logistic function is 1 / (1 + e) above 0 and e / (1 + e) below, e the exponential of -|x|.
    let below = exp(simd, simd.min_f32s(x, zero));
    let away = exp(simd, simd.min_f32s(x, simd.neg_f32s(x)));
    simd.div_f32s(simd.mul_f32s(x, below), simd.add_f32s(simd.splat_f32s(1.0), away))
}

#[cfg(test)]
mod tests {
    use super::super::math::reference_gelu;
    use super::{Gate, gated};

    #[test]
    fn gates_are_as_exact_as_promised() {
        let numbers: Vec<f32> = (0..32_000).map(|i| (i as f32 - 16_000.0) / 400.0).collect();
        let rows: Vec<f32> = numbers.chunks(16).flat_map(|part| [part, &[3.0; 16]]).flatten().copied().collect();
        let mut found = vec![0.0; numbers.len()];
        gated(Gate::Silu, &rows, 16, &mut found);
        for (&x, &y) in numbers.iter().zip(&found) {
            let want = 3.0 * f64::from(x) / (1.0 + (-f64::from(x)).exp());
            assert!((f64::from(y) - want).abs() <= 1e-6 * want.abs() + 1e-30, "silu({x}): {y}, not {want}");
        }
        gated(Gate::Gelu, &rows, 16, &mut found);
        for (&x, &y) in numbers.iter().zip(&found) {
            let want = 3.0 * reference_gelu(f64::from(x));
            assert!((f64::from(y) - want).abs() < 1e-6 * f64::from(x.abs().max(1.0)), "gelu({x}): {y}, not {want}");
        }
    }
}
