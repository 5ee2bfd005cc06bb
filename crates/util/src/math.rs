/// The dot product of two vectors of the same length; of the shorter length where they differ.
///
/// Summed in eight lanes, always the same ones: the compiler uses vector instructions, and the result does not depend on
/// the machine.
#[must_use]
pub fn dot(a: &[f32], b: &[f32]) -> f32 {
    let length = a.len().min(b.len());
    let ((a, a_rest), (b, b_rest)) = (a[..length].as_chunks::<8>(), b[..length].as_chunks::<8>());
    let mut sums = [0.0f32; 8];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    sums.iter().sum::<f32>() + a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum::<f32>()
}

/// The cosine of two vectors, -1..=1, summed in double precision, in lanes as [`dot`]; 0 where the lengths differ, where a vector has
/// no length, and where a number is not finite.
#[must_use]
pub fn cosine(a: &[f32], b: &[f32]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [[0.0_f64; 8]; 3];
    let mut add = |lane: usize, x: f32, y: f32| {
        let (x, y) = (f64::from(x), f64::from(y));
        sums.iter_mut().zip([x * y, x * x, y * y]).for_each(|(sum, product)| sum[lane] += product);
    };
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|lane| add(lane, a[lane], b[lane]));
    }
    a_rest.iter().zip(b_rest).enumerate().for_each(|(lane, (&x, &y))| add(lane, x, y));
    let [both, of_a, of_b] = sums.map(|lanes| lanes.iter().sum::<f64>());
    let cosine = both / (of_a * of_b).sqrt();
    if cosine.is_finite() { cosine.clamp(-1.0, 1.0) } else { 0.0 }
}

/// Returns what brings the numbers of a vector to where its length is 1; those of a vector of zeros stay. `None` where a number is not
/// finite.
#[must_use]
pub fn to_length_one<T: Copy + Into<f64>>(vector: &[T]) -> Option<impl Fn(T) -> f32 + use<T>> {
    let numbers = || vector.iter().map(|&number| Into::<f64>::into(number));
    if !numbers().all(f64::is_finite) {
        return None;
    }
    let largest = numbers().fold(0.0, |most: f64, number| most.max(number.abs()));
    // The squares of very large and very small numbers are none: those are divided by the largest first.
    let scale = if largest == 0.0 || (1e-100..=1e100).contains(&largest) { 1.0 } else { largest };
    let length = numbers().map(|number| (number / scale).powi(2)).sum::<f64>().sqrt();
    let length = if length > 0.0 { length } else { 1.0 };
    Some(move |number: T| (Into::<f64>::into(number) / scale / length) as f32)
}

/// The two of some values in ascending order between which their quantile lies, and how far it is from the first, 0..1 of the
/// way. `share` is taken into 0..=1. `None` of no values.
#[must_use]
pub fn neighbours(sorted: &[f64], share: f64) -> Option<(f64, f64, f64)> {
    let last = sorted.len().checked_sub(1)?;
    let place = (last as f64 * share).clamp(0.0, last as f64);
    let below = place.floor() as usize;
    Some((*sorted.get(below)?, *sorted.get((below + 1).min(last))?, place - below as f64))
}

/// The quantile of values in ascending order, linear between neighbours (R's type 7, the default of `numpy.quantile`,
/// to the last bit). `share` is taken into 0..=1. `None` of no values.
#[must_use]
pub fn percentile(sorted: &[f64], share: f64) -> Option<f64> {
    let (a, b, share) = neighbours(sorted, share)?;
    // From the nearer end, as numpy does.
    Some(if share < 0.5 { a + (b - a) * share } else { b - (b - a) * (1.0 - share) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{cosine, dot, percentile, to_length_one};

    #[test]
    fn dot_products_of_any_length() {
        for n in [0, 1, 7, 8, 9, 384, 387] {
            let a: Vec<f32> = (0..n).map(|i| (i % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..n).map(|i| (i % 5) as f32).collect();
            let expected: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&a, &b), expected);
            assert_eq!(dot(&a, &[b, vec![1.0; 5]].concat()), expected);
        }
    }

    #[test]
    fn cosines_of_odd_vectors_are_zero() {
        assert_eq!(cosine(&[3.0, 4.0], &[6.0, 8.0]), 1.0);
        assert_eq!(cosine(&[1.0, 0.0], &[-2.0, 0.0]), -1.0);
        for (a, b) in [
            (&[1.0][..], &[1.0, 2.0][..]),
            (&[0.0], &[1.0]),
            (&[f32::NAN], &[1.0]),
            (&[f32::INFINITY], &[1.0]),
            (&[], &[]),
        ] {
            assert_eq!(cosine(a, b), 0.0);
        }
    }

    #[test]
    fn cosines_of_any_length() {
        for n in [1, 7, 8, 9, 384, 387] {
            let [a, b]: [Vec<f32>; 2] = [0.7, 1.3].map(|step| (0..n).map(|i| (i as f32 * step).cos()).collect());
            let sum = |x: &[f32], y: &[f32]| x.iter().zip(y).map(|(&x, &y)| f64::from(x) * f64::from(y)).sum::<f64>();
            let expected = sum(&a, &b) / (sum(&a, &a) * sum(&b, &b)).sqrt();
            assert!((cosine(&a, &b) - expected).abs() < 1e-12, "{n}");
        }
    }

    #[test]
    fn vectors_of_any_size_have_length_one_and_zeros_stay() {
        let scaled = |vector: &[f64]| -> Option<Vec<f32>> {
            to_length_one(vector).map(|to| vector.iter().map(|&number| to(number)).collect())
        };
        for size in [1e-300, 1e-60, 1.0, 1e25, 1e300, f64::MAX / 4.0] {
            assert_eq!(scaled(&[3.0 * size, -4.0 * size]), Some(vec![0.6, -0.8]), "{size}");
        }
        assert_eq!(scaled(&[0.0, 0.0]), Some(vec![0.0, 0.0]));
        assert_eq!(scaled(&[]), Some(vec![]));
        for none in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(scaled(&[1.0, none]), None);
        }
        assert!(to_length_one(&[f32::MAX, 0.0]).is_some_and(|to| to(f32::MAX) == 1.0));
    }

    #[test]
    fn small_percentiles() {
        // The formula of numpy.quantile([1, 2, 4, 8], q), in Python.
        for (share, expected) in [(0.0, 1.0), (0.5, 3.0), (0.9, 6.800000000000001), (1.0, 8.0), (7.0, 8.0)] {
            assert_eq!(percentile(&[1.0, 2.0, 4.0, 8.0], share), Some(expected));
        }
        assert_eq!(percentile(&[], 0.5), None);
        assert_eq!(percentile(&[3.0], 0.3), Some(3.0));
    }

    proptest! {
        #[test]
        fn percentiles_lie_between_the_ends_and_rise(mut values in prop::collection::vec(-1e6..1e6f64, 1..40), a in 0.0..=1.0f64, b in 0.0..=1.0f64) {
            values.sort_by(f64::total_cmp);
            let at = |share| percentile(&values, share).unwrap_or(f64::NAN);
            prop_assert!(at(0.0) == values[0] && Some(&at(1.0)) == values.last());
            prop_assert!(at(a.min(b)) <= at(a.max(b)));
        }
    }
}
