use nalgebra::{DMatrix, SymmetricEigen};

/// The first `keep` principal components of rows of `width` numbers, centred: one row of `keep` numbers a row, in order of the
/// variance along them. Signs are such that the largest number of each axis is positive, so that the result does not depend on
/// the order in which eigenvectors are found.
///
/// `fitted` says which rows the axes are fitted to; all are projected.
pub(super) fn principal_components(
    rows: &[f32],
    width: usize,
    keep: usize,
    fitted: impl Fn(usize) -> bool,
) -> Vec<f32> {
    let keep = keep.min(width);
    let mut mean = vec![0.0_f64; width];
    let mut count = 0.0_f64;
    let chosen = || rows.chunks_exact(width.max(1)).enumerate().filter(|(i, _)| fitted(*i)).map(|(_, row)| row);
    for row in chosen() {
        mean.iter_mut().zip(row).for_each(|(sum, x)| *sum += f64::from(*x));
        count += 1.0;
    }
    mean.iter_mut().for_each(|sum| *sum /= count.max(1.0));
    let axes = axes(chosen(), &mean, keep);
    let mut projected = Vec::with_capacity(rows.len() / width.max(1) * keep);
    for row in rows.chunks_exact(width.max(1)) {
        let centred: Vec<f64> = row.iter().zip(&mean).map(|(x, mean)| f64::from(*x) - mean).collect();
        let along = |axis: &Vec<f64>| axis.iter().zip(&centred).map(|(a, x)| a * x).sum::<f64>() as f32;
        projected.extend(axes.iter().map(along));
    }
    projected
}

/// The axes of greatest variance of rows around `mean`, each of length 1.
fn axes<'a>(rows: impl Iterator<Item = &'a [f32]>, mean: &[f64], keep: usize) -> Vec<Vec<f64>> {
    let width = mean.len();
    let mut covariance = DMatrix::<f64>::zeros(width, width);
    let mut centred = vec![0.0; width];
    for row in rows {
        centred.iter_mut().zip(row.iter().zip(mean)).for_each(|(to, (x, mean))| *to = f64::from(*x) - mean);
        for (column, &x) in centred.iter().enumerate() {
            covariance.column_mut(column).iter_mut().zip(&centred).for_each(|(sum, y)| *sum += x * y);
        }
    }
    let found = SymmetricEigen::new(covariance);
    let mut order: Vec<usize> = (0..width).collect();
    order.sort_by(|&a, &b| found.eigenvalues[b].total_cmp(&found.eigenvalues[a]).then(a.cmp(&b)));
    let axis = |&place: &usize| {
        let axis: Vec<f64> = found.eigenvectors.column(place).iter().copied().collect();
        let largest = axis.iter().copied().fold(0.0, |most: f64, x| if x.abs() > most.abs() { x } else { most });
        if largest < 0.0 { axis.into_iter().map(|x| -x).collect() } else { axis }
    };
    order.iter().take(keep).map(axis).collect()
}

#[cfg(test)]
mod tests {
    use super::principal_components;

    /// Points on a line in three dimensions, one far off it that is not fitted.
    #[test]
    fn the_first_axis_is_that_of_the_greatest_variance() {
        let mut rows = Vec::new();
        for i in -4_i16..=4 {
            let t = f32::from(i);
            let off = if i % 2 == 0 { 0.1 } else { -0.1 };
            rows.extend([3.0 + 2.0 * t, 1.0 + t, off]);
        }
        rows.extend([3.0, 1.0, 50.0]);
        let found = principal_components(&rows, 3, 2, |i| i < 9);
        assert_eq!(found.len(), 20);
        for (i, point) in found.chunks_exact(2).take(9).enumerate() {
            let t = i as f32 - 4.0;
            assert!((point[0] - t * 5.0_f32.sqrt()).abs() < 0.02, "{i}: {point:?}");
            assert!((point[1].abs() - 0.1).abs() < 0.02, "{i}: {point:?}");
        }
        // No more axes than columns.
        assert_eq!(principal_components(&rows, 3, 9, |_| true).len(), 30);
    }
}
