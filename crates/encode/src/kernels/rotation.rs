use pulp::{Arch, Simd, WithSimd};

/// Cosines and sines of the angles by which places turn the numbers of a head (Su et al. 2021, arXiv:2104.09864): place times `base` to the
/// power of minus twice the index over the head's size.
#[derive(Debug)]
pub struct Angles {
    half: usize,
    cosines: Vec<f32>,
    sines: Vec<f32>,
}

impl Angles {
    /// Those of the first `places`, for heads of `head` numbers: a multiple of 32.
    #[must_use]
    pub fn new(places: usize, head: usize, base: f64) -> Self {
        let half = head / 2;
        // In single precision, as the models were trained.
        let steps: Vec<f32> = (0..half).map(|i| 1.0 / (base as f32).powf(2.0 * i as f32 / head as f32)).collect();
        let angles = (0..places).flat_map(|place| steps.iter().map(move |step| place as f32 * step));
        let (cosines, sines) = angles.map(|angle| (angle.cos(), angle.sin())).unzip();
        Self { half, cosines, sines }
    }
}

/// Turns the halves of the first `heads` heads of each row against each other, in place. `rows` are those of one sequence from its first
/// token on, `stride` numbers each.
///
/// # Panics
/// Where there are more rows than places, or heads than fit a row.
pub fn turn(angles: &Angles, heads: usize, rows: &mut [f32], stride: usize) {
    Arch::new().dispatch(Turn { angles, heads, rows, stride });
}

struct Turn<'a> {
    angles: &'a Angles,
    heads: usize,
    rows: &'a mut [f32],
    stride: usize,
}

impl WithSimd for Turn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { angles, heads, rows, stride } = self;
        let half = angles.half;
        for (place, row) in rows.chunks_exact_mut(stride).enumerate() {
            let own = place * half..(place + 1) * half;
            let (cosines, _) = S::as_simd_f32s(&angles.cosines[own.clone()]);
            let (sines, _) = S::as_simd_f32s(&angles.sines[own]);
            for head in row[..heads * 2 * half].chunks_exact_mut(2 * half) {
                let (first, second) = head.split_at_mut(half);
                let ((first, _), (second, _)) = (S::as_mut_simd_f32s(first), S::as_mut_simd_f32s(second));
                for ((a, b), (&cos, &sin)) in first.iter_mut().zip(second).zip(cosines.iter().zip(sines)) {
                    let turned = simd.sub_f32s(simd.mul_f32s(*a, cos), simd.mul_f32s(*b, sin));
                    *b = simd.mul_add_f32s(*a, sin, simd.mul_f32s(*b, cos));
                    *a = turned;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Angles, turn};

    #[test]
    fn halves_are_turned_by_their_places() {
        let (head, heads, stride, places) = (32, 2, 80, 5);
        let before: Vec<f32> = (0..places * stride).map(|i| (i as f32 * 0.37).sin()).collect();
        let mut rows = before.clone();
        turn(&Angles::new(places, head, 1_000.0), heads, &mut rows, stride);
        for place in 0..places {
            let (row, was) = (&rows[place * stride..][..stride], &before[place * stride..][..stride]);
            for (h, i) in (0..heads).flat_map(|h| (0..head / 2).map(move |i| (h * head + i, i))) {
                let angle = place as f64 / 1_000f64.powf(2.0 * i as f64 / head as f64);
                let (a, b) = (f64::from(was[h]), f64::from(was[h + head / 2]));
                let want = (a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin());
                assert!(
                    (f64::from(row[h]) - want.0).abs() < 1e-6 && (f64::from(row[h + head / 2]) - want.1).abs() < 1e-6
                );
            }
            // What lies behind the heads stays.
            assert_eq!(row[heads * head..], was[heads * head..]);
        }
    }
}
