use pulp::{Arch, Simd, WithSimd};

/// exp(x) for x <= 0, with a relative error below 3e-7; 1.6e-38 below -87.
///
/// x = n ln 2 + r with |r| <= ln 2 / 2; exp(r) is its Taylor polynomial of degree 6, and n is added to the exponent.
#[inline(always)]
pub fn exp<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    /// Adding this to |y| < 2^22 rounds y to an integer, which then lies in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    const COEFFICIENTS: [f32; 6] = [1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];
    let round = simd.splat_f32s(ROUND);
    let x = simd.max_f32s(x, simd.splat_f32s(-87.0));
    let shifted = simd.mul_add_f32s(x, simd.splat_f32s(std::f32::consts::LOG2_E), round);
    let n = simd.sub_f32s(shifted, round);
    // ln 2 in two parts, so that n times the first one is exact.
    let r = simd.mul_add_f32s(n, simd.splat_f32s(-0.693_359_4), x);
    let r = simd.mul_add_f32s(n, simd.splat_f32s(2.121_944_4e-4), r);
    let mut p = simd.splat_f32s(1.0 / 720.0);
    for c in COEFFICIENTS {
        p = simd.mul_add_f32s(p, r, simd.splat_f32s(c));
    }
    let exponent = simd.wrapping_dyn_shl_u32s(simd.transmute_u32s_f32s(shifted), simd.splat_u32s(23));
    simd.transmute_f32s_u32s(simd.add_u32s(simd.transmute_u32s_f32s(p), exponent))
}

/// GELU with the error function: x Φ(x), Φ the normal distribution function, with an absolute error below 3e-7 of
/// max(1, |x|).
///
/// Φ(x) - 1/2 = x P(2 x²/5.3² - 1) on |x| <= 5.3, where it reaches 1/2 to 6e-8; P of degree 13 was fitted by us
/// (iteratively reweighted least squares towards the smallest greatest error, in Chebyshev polynomials).
#[inline(always)]
pub fn gelu<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    simd.mul_f32s(x, normal(simd, x))
}

/// [GELU](gelu) of x, and its slope Φ(x) + x φ(x), φ the normal density, with the same error.
#[inline(always)]
pub fn gelu_and_slope<S: Simd>(simd: S, x: S::f32s) -> (S::f32s, S::f32s) {
    /// 1 / sqrt(2 π)
    const PEAK: f32 = 0.398_942_3;
    let below = normal(simd, x);
    let density = exp(simd, simd.mul_f32s(simd.mul_f32s(x, x), simd.splat_f32s(-0.5)));
    let slope = simd.mul_add_f32s(simd.mul_f32s(x, density), simd.splat_f32s(PEAK), below);
    (simd.mul_f32s(x, below), slope)
}

/// GELU of every number of `x` in `out`: as many, a multiple of 16.
pub fn gelu_all(x: &[f32], out: &mut [f32]) {
    Arch::new().dispatch(GeluAll { x, out });
}

struct GeluAll<'a> {
    x: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for GeluAll<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ((x, _), (out, _)) = (S::as_simd_f32s(self.x), S::as_mut_simd_f32s(self.out));
        out.iter_mut().zip(x).for_each(|(out, &x)| *out = gelu(simd, x));
    }
}

/// Replaces the numbers that GELU was applied to by what it gave, and `d`, the gradient by that, by the gradient by them. As many
/// numbers in both, a multiple of 16.
pub fn gelu_gradient(x: &mut [f32], d: &mut [f32]) {
    Arch::new().dispatch(GeluGradient { x, d });
}

struct GeluGradient<'a> {
    x: &'a mut [f32],
    d: &'a mut [f32],
}

impl WithSimd for GeluGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ((x, _), (d, _)) = (S::as_mut_simd_f32s(self.x), S::as_mut_simd_f32s(self.d));
        for (x, d) in x.iter_mut().zip(d) {
            let (value, slope) = gelu_and_slope(simd, *x);
            (*x, *d) = (value, simd.mul_f32s(*d, slope));
        }
    }
}

/// Φ(x), as [`gelu`] has it.
#[inline(always)]
fn normal<S: Simd>(simd: S, x: S::f32s) -> S::f32s {
    const LIMIT: f32 = 5.3;
    #[allow(clippy::excessive_precision)] // as fitted
    const P: [f32; 14] = [
        -0.000_652_024_87,
        0.001_668_356_7,
        -0.001_433_477_9,
        0.001_925_128_7,
        -0.005_462_922,
        0.009_600_145,
        -0.013_396_281,
        0.018_674_152,
        -0.025_242_99,
        0.032_118_384,
        -0.039_595_07,
        0.049_261_928,
        -0.066_518_314,
        0.133_392_59,
    ];
    let near = simd.min_f32s(simd.max_f32s(x, simd.splat_f32s(-LIMIT)), simd.splat_f32s(LIMIT));
    let u = simd.mul_add_f32s(simd.mul_f32s(near, near), simd.splat_f32s(2.0 / (LIMIT * LIMIT)), simd.splat_f32s(-1.0));
    let mut p = simd.splat_f32s(P[0]);
    for &c in &P[1..] {
        p = simd.mul_add_f32s(p, u, simd.splat_f32s(c));
    }
    simd.mul_add_f32s(p, near, simd.splat_f32s(0.5))
}

/// GELU in double precision by the Taylor series and the continued fraction of the error function.
#[cfg(test)]
pub fn reference_gelu(x: f64) -> f64 {
    let z = (x / std::f64::consts::SQRT_2).abs();
    let erf = if z < 3.0 {
        let (mut term, mut sum) = (z, z);
        for n in 1..100 {
            term *= -z * z / f64::from(n);
            sum += term / f64::from(2 * n + 1);
        }
        sum * std::f64::consts::FRAC_2_SQRT_PI
    } else {
        let mut fraction = z;
        for n in (1..60).rev() {
            fraction = z + f64::from(n) / 2.0 / fraction;
        }
        1.0 - (-z * z).exp() / (std::f64::consts::PI.sqrt() * fraction)
    };
    0.5 * x * (1.0 + erf.copysign(x))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::useless_vec)]
    use pulp::{Arch, Simd, WithSimd};

    use super::{exp, gelu, gelu_gradient, reference_gelu};

    struct Each<'a>(&'a mut [f32], bool);

    impl WithSimd for Each<'_> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) {
            let (vectors, rest) = S::as_mut_simd_f32s(self.0);
            assert!(rest.is_empty());
            for v in vectors {
                *v = if self.1 { gelu(simd, *v) } else { exp(simd, *v) };
            }
        }
    }

    #[test]
    fn gelu_is_as_exact_as_promised() {
        let inputs: Vec<f32> = (0..160_000).map(|i| (i as f32 - 80_000.0) / 8_000.0).collect();
        let mut found = inputs.clone();
        Arch::new().dispatch(Each(&mut found, true));
        for (&x, &y) in inputs.iter().zip(&found) {
            let error = (f64::from(y) - reference_gelu(f64::from(x))).abs();
            assert!(error < 3e-7 * f64::from(x.abs().max(1.0)), "gelu({x}) = {y}, off by {error}");
        }
    }

    #[test]
    fn the_slope_of_gelu_is_that_of_finite_differences() {
        let inputs: Vec<f32> = (0..16_000).map(|i| (i as f32 - 8_000.0) / 800.0).collect();
        let (mut values, mut slopes) = (inputs.clone(), vec![1.0; inputs.len()]);
        gelu_gradient(&mut values, &mut slopes);
        for ((&x, &value), &slope) in inputs.iter().zip(&values).zip(&slopes) {
            let x = f64::from(x);
            assert!((f64::from(value) - reference_gelu(x)).abs() < 3e-7 * x.abs().max(1.0));
            let want = (reference_gelu(x + 1e-4) - reference_gelu(x - 1e-4)) / 2e-4;
            assert!((f64::from(slope) - want).abs() < 2e-6, "{slope} at {x}, not {want}");
        }
    }

    #[test]
    fn exp_is_as_exact_as_promised() {
        let inputs: Vec<f32> = (0..160_000).map(|i| i as f32 * -87.0 / 160_000.0).collect();
        let mut found = inputs.clone();
        Arch::new().dispatch(Each(&mut found, false));
        for (&x, &y) in inputs.iter().zip(&found) {
            let want = f64::from(x).exp();
            assert!((f64::from(y) / want - 1.0).abs() < 3e-7, "exp({x}) = {y}, not {want}");
        }
        let mut far = vec![-1e30, f32::NEG_INFINITY].repeat(16);
        Arch::new().dispatch(Each(&mut far, false));
        assert!(far.iter().all(|&y| (0.0..1e-37).contains(&y)));
    }
}
