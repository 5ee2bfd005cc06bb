use pulp::{Arch, Simd, WithSimd};

use super::linear::{store, vectors};
use super::rows::ROW_TILE;

/// Vectors side by side in a tile of sums.
const PANEL: usize = 3;

/// Columns of [`outer_sums`] are a multiple of this: a whole number of tiles on every machine.
pub const OUTER_COLUMNS: usize = 48;

/// Sums of outer products: row i of `out` is the sum over t of number t of row i of `a` times row t of `x`. `a` has rows of `count` numbers,
/// a multiple of [`ROW_TILE`] of them; `x` has `count` rows, and `out` as many as `a`, of `columns` numbers: a
/// multiple of [`OUTER_COLUMNS`].
///
/// # Panics
/// Where the shapes do not agree.
pub fn outer_sums(a: &[f32], count: usize, x: &[f32], columns: usize, out: &mut [f32]) {
    let rows = a.len().checked_div(count).unwrap_or(0);
    assert!(rows.is_multiple_of(ROW_TILE) && columns.is_multiple_of(OUTER_COLUMNS), "{rows} rows of {columns}");
    assert_eq!((a.len(), x.len(), out.len()), (rows * count, count * columns, rows * columns), "other shapes");
    Arch::new().dispatch(Outer { a, count, x, columns, out });
}

struct Outer<'a> {
    a: &'a [f32],
    count: usize,
    x: &'a [f32],
    columns: usize,
    out: &'a mut [f32],
}

impl WithSimd for Outer<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 { self.run::<S, 8>(simd) } else { self.run::<S, 4>(simd) }
    }
}

impl Outer<'_> {
    #[inline(always)]
    fn run<S: Simd, const ROWS: usize>(self, simd: S) {
        let Self { a, count, x, columns, out } = self;
        let width = PANEL * S::F32_LANES;
        for (first, a) in a.chunks_exact(ROWS * count).enumerate() {
            let mut rows = [a; ROWS];
            for (r, row) in rows.iter_mut().enumerate() {
                *row = &a[r * count..][..count];
            }
            for column in (0..columns).step_by(width) {
                let mut sums = [[simd.splat_f32s(0.0); PANEL]; ROWS];
                for (t, x) in x.chunks_exact(columns).enumerate() {
                    let x = vectors::<S, PANEL>(&x[column..]);
                    for r in 0..ROWS {
                        let value = simd.splat_f32s(rows[r][t]);
                        for v in 0..PANEL {
                            sums[r][v] = simd.mul_add_f32s(value, x[v], sums[r][v]);
                        }
                    }
                }
                for (r, sums) in sums.iter().enumerate() {
                    store::<S, PANEL>(&mut out[(first * ROWS + r) * columns + column..], *sums);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::outer_sums;

    #[test]
    fn as_by_the_definition() {
        let (rows, count, columns) = (16, 13, 96);
        let numbers = |n: usize, by: f32| (0..n).map(|i| (i as f32 * by).sin()).collect::<Vec<f32>>();
        let (a, x) = (numbers(rows * count, 0.7), numbers(count * columns, 1.3));
        let mut out = vec![f32::NAN; rows * columns];
        outer_sums(&a, count, &x, columns, &mut out);
        for (at, &found) in out.iter().enumerate() {
            let (i, j) = (at / columns, at % columns);
            let want: f32 = (0..count).map(|t| a[i * count + t] * x[t * columns + j]).sum();
            assert!((found - want).abs() < 1e-5, "{i}, {j}: {found} against {want}");
        }
    }
}
