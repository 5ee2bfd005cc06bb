use pulp::{Arch, Simd, WithSimd};

/// Layer norm of every row of `x` in place: `(x - mean) / sqrt(variance + epsilon) * gain + shift`, the variance over
/// the row's length. `x` holds rows of `gain.len()` numbers, a multiple of 16.
pub fn layer_norm(x: &mut [f32], gain: &[f32], shift: &[f32], epsilon: f32) {
    Arch::new().dispatch(LayerNorm { x, gain, shift, epsilon });
}

struct LayerNorm<'a> {
    x: &'a mut [f32],
    gain: &'a [f32],
    shift: &'a [f32],
    epsilon: f32,
}

impl WithSimd for LayerNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = self.gain.len();
        let (gain, _) = S::as_simd_f32s(self.gain);
        let (shift, _) = S::as_simd_f32s(self.shift);
        for row in self.x.chunks_exact_mut(width) {
            let (row, _) = S::as_mut_simd_f32s(row);
            let mut sum = simd.splat_f32s(0.0);
            for &v in row.iter() {
                sum = simd.add_f32s(sum, v);
            }
            let mean = simd.splat_f32s(simd.reduce_sum_f32s(sum) / width as f32);
            let mut squares = simd.splat_f32s(0.0);
            for &v in row.iter() {
                let off = simd.sub_f32s(v, mean);
                squares = simd.mul_add_f32s(off, off, squares);
            }
            let variance = simd.reduce_sum_f32s(squares) / width as f32;
            let scale = simd.splat_f32s((variance + self.epsilon).sqrt().recip());
            for ((v, &g), &b) in row.iter_mut().zip(gain).zip(shift) {
                let unit = simd.mul_f32s(simd.sub_f32s(*v, mean), scale);
                *v = simd.mul_add_f32s(unit, g, b);
            }
        }
    }
}

/// Scales every row of `x` in place by the root of its mean square (Zhang and Sennrich 2019, arXiv:1910.07467): `x / sqrt(mean of x² +
/// epsilon) * gain`. `x` holds rows of `gain.len()` numbers, a multiple of 16.
pub fn rms_norm(x: &mut [f32], gain: &[f32], epsilon: f32) {
    Arch::new().dispatch(RmsNorm { x, gain, epsilon });
}

struct RmsNorm<'a> {
    x: &'a mut [f32],
    gain: &'a [f32],
    epsilon: f32,
}

impl WithSimd for RmsNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = self.gain.len();
        let (gain, _) = S::as_simd_f32s(self.gain);
        for row in self.x.chunks_exact_mut(width) {
            let (row, _) = S::as_mut_simd_f32s(row);
            let mut squares = simd.splat_f32s(0.0);
            for &v in row.iter() {
                squares = simd.mul_add_f32s(v, v, squares);
            }
            let mean = simd.reduce_sum_f32s(squares) / width as f32;
            let scale = simd.splat_f32s((mean + self.epsilon).sqrt().recip());
            for (v, &g) in row.iter_mut().zip(gain) {
                *v = simd.mul_f32s(simd.mul_f32s(*v, scale), g);
            }
        }
    }
}

/// The gradient of [`layer_norm`] by what it is applied to, `x`: replaces `d`, the gradient by what it gives. Both hold rows of
/// `gain.len()` numbers.
pub fn layer_norm_gradient(x: &[f32], gain: &[f32], epsilon: f32, d: &mut [f32]) {
    Arch::new().dispatch(LayerNormGradient { x, gain, epsilon, d });
}

struct LayerNormGradient<'a> {
    x: &'a [f32],
    gain: &'a [f32],
    epsilon: f32,
    d: &'a mut [f32],
}

impl WithSimd for LayerNormGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let width = self.gain.len();
        let (gain, _) = S::as_simd_f32s(self.gain);
        for (x, d) in self.x.chunks_exact(width).zip(self.d.chunks_exact_mut(width)) {
            let ((x, _), (d, _)) = (S::as_simd_f32s(x), S::as_mut_simd_f32s(d));
            let mean_of = |sum| simd.splat_f32s(simd.reduce_sum_f32s(sum) / width as f32);
            let mut sum = simd.splat_f32s(0.0);
            for &v in x {
                sum = simd.add_f32s(sum, v);
            }
            let mean = mean_of(sum);
            let (mut squares, mut slopes, mut turned) =
                (simd.splat_f32s(0.0), simd.splat_f32s(0.0), simd.splat_f32s(0.0));
            for ((&v, d), &g) in x.iter().zip(d.iter_mut()).zip(gain) {
                let off = simd.sub_f32s(v, mean);
                *d = simd.mul_f32s(*d, g);
                squares = simd.mul_add_f32s(off, off, squares);
                slopes = simd.add_f32s(slopes, *d);
                turned = simd.mul_add_f32s(*d, off, turned);
            }
            let variance = simd.reduce_sum_f32s(squares) / width as f32 + self.epsilon;
            let scale = simd.splat_f32s(variance.sqrt().recip());
            let slope = mean_of(slopes);
            let turn = simd.splat_f32s(simd.reduce_sum_f32s(turned) / width as f32 / variance);
            for (&v, d) in x.iter().zip(d.iter_mut()) {
                let off = simd.sub_f32s(v, mean);
                let straight = simd.sub_f32s(*d, slope);
                *d = simd.mul_f32s(simd.sub_f32s(straight, simd.mul_f32s(off, turn)), scale);
            }
        }
    }
}

/// The mean of the rows of `x` (each as long as `out`), scaled to L2 norm 1; zeros stay zeros.
pub fn mean_pool(x: &[f32], out: &mut [f32]) {
    let rows = x.len() / out.len().max(1);
    out.fill(0.0);
    for row in x.chunks_exact(out.len().max(1)) {
        for (sum, &v) in out.iter_mut().zip(row) {
            *sum += v;
        }
    }
    for v in out.iter_mut() {
        *v /= rows.max(1) as f32;
    }
    let norm = out.iter().map(|&v| f64::from(v) * f64::from(v)).sum::<f64>().sqrt();
    let scale = 1.0 / norm.max(1e-12);
    for v in out.iter_mut() {
        *v = (f64::from(*v) * scale) as f32;
    }
}

#[cfg(test)]
mod tests {
    use super::{layer_norm, mean_pool, rms_norm};

    #[test]
    fn rows_get_mean_shift_and_spread_gain() {
        let mut x: Vec<f32> = (0..96).map(|i| (i * i % 37) as f32).collect();
        let (gain, shift) = (vec![2.0; 48], vec![0.5; 48]);
        layer_norm(&mut x, &gain, &shift, 1e-12);
        for row in x.chunks_exact(48) {
            let mean = row.iter().sum::<f32>() / 48.0;
            let variance = row.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / 48.0;
            assert!((mean - 0.5).abs() < 1e-5 && (variance - 4.0).abs() < 1e-4, "{mean}, {variance}");
        }
    }

    #[test]
    fn rows_are_scaled_by_their_root_mean_square() {
        let before: Vec<f32> = (0..96).map(|i| (i * i % 37) as f32).collect();
        let (mut x, gain) = (before.clone(), vec![3.0; 48]);
        rms_norm(&mut x, &gain, 1e-6);
        for (row, before) in x.chunks_exact(48).zip(before.chunks_exact(48)) {
            let root = (before.iter().map(|v| v * v).sum::<f32>() / 48.0).sqrt();
            assert!(row.iter().zip(before).all(|(v, before)| (v - 3.0 * before / root).abs() < 1e-5));
        }
    }

    #[test]
    fn pooled_vectors_have_norm_one() {
        let mut out = [0.0; 2];
        mean_pool(&[3.0, 0.0, 3.0, 8.0], &mut out);
        assert_eq!(out, [0.6, 0.8]);
        mean_pool(&[0.0; 4], &mut out);
        assert_eq!(out, [0.0; 2]);
    }
}
