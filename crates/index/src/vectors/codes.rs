//! Vectors as small whole numbers, with a bound on what that leaves out.

use pulp::{Arch, Simd, WithSimd};

/// The largest code.
const CODE: f32 = 127.0;
/// The largest number of a query's, where the sum of products cannot overflow.
const QUERY: f32 = 8191.0;

/// The codes of a vector: the vector is about `scale` times them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bound {
    pub scale: f32,
    /// The length of the difference between the vector and its codes, or a little more.
    pub error: f32,
}

/// Appends the codes of a finite vector of a length of about 1, or of 0.
pub(super) fn encode(vector: &[f32], codes: &mut Vec<u8>) -> Bound {
    let largest = vector.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
    let scale = largest / CODE;
    if scale < f32::MIN_POSITIVE {
        codes.extend(std::iter::repeat_n(0, vector.len()));
        let left_out: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
        return Bound { scale: 0.0, error: rounded_up(left_out.sqrt()) };
    }
    let mut left_out = 0.0f64;
    for &value in vector {
        let code = (value / scale).round().clamp(-CODE, CODE) as i8;
        left_out += (f64::from(value) - f64::from(scale) * f64::from(code)).powi(2);
        codes.push(code.cast_unsigned());
    }
    Bound { scale, error: rounded_up(left_out.sqrt()) }
}

fn rounded_up(value: f64) -> f32 {
    (value * (1.0 + 1e-6)) as f32
}

/// A query as whole numbers.
pub(super) struct CodedQuery {
    /// The vector instructions that the machine has.
    arch: Arch,
    codes: Vec<i16>,
    scale: f32,
    /// Its length, as the codes have it.
    length: f32,
    /// What a score may be wrong by, whatever the vector's own codes leave out.
    slack: f32,
}

impl CodedQuery {
    /// The codes of a finite vector of length 1, or 0.
    pub fn new(query: &[f32]) -> Self {
        let largest = query.iter().fold(0.0f32, |largest, value| largest.max(value.abs()));
        // So many steps that a sum over all products fits 32 bits.
        let steps = QUERY.min((i32::MAX as f32 / CODE / query.len().max(1) as f32).floor() - 1.0).max(1.0);
        let scale = largest / steps;
        let (mut codes, mut left_out, mut length) = (Vec::with_capacity(query.len()), 0.0f64, 0.0f64);
        for &value in query {
            let code = if scale < f32::MIN_POSITIVE { 0.0 } else { (value / scale).round().clamp(-steps, steps) };
            codes.push(code as i16);
            left_out += (f64::from(value) - f64::from(scale) * f64::from(code)).powi(2);
            length += (f64::from(scale) * f64::from(code)).powi(2);
        }
        // The rounding of sums of floats is far below the last term.
        let slack = rounded_up(left_out.sqrt()) * 1.001 + 1e-5;
        Self { arch: Arch::new(), codes, scale, length: rounded_up(length.sqrt()), slack }
    }

    /// The products with the vectors whose codes follow each other, one for each place in `products`.
    pub fn products(&self, codes: &[u8], products: &mut [i32]) {
        self.arch.dispatch(Products { codes, query: &self.codes, products });
    }

    /// The bounds of the score of a vector that has this product: the least and the most that it can be.
    #[inline(always)]
    pub fn score(&self, product: i32, bound: Bound) -> (f32, f32) {
        let about = product as f32 * (self.scale * bound.scale);
        let wrong = self.length * bound.error + self.slack;
        (about - wrong, about + wrong)
    }
}

struct Products<'a> {
    codes: &'a [u8],
    query: &'a [i16],
    products: &'a mut [i32],
}

impl WithSimd for Products<'_> {
    type Output = ();

    /// Compiled once for each family of vector instructions. Sums of whole numbers are the same on all of them.
    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let rows = self.codes.chunks_exact(self.query.len().max(1));
        for (product, codes) in self.products.iter_mut().zip(rows) {
            // No sum of products leaves 32 bits (see `CodedQuery::new`); a check for it would cost the vector instructions.
            *product = codes.iter().zip(self.query).fold(0i32, |sum, (&code, &number)| {
                sum.wrapping_add(i32::from(code.cast_signed()).wrapping_mul(i32::from(number)))
            });
        }
    }
}

/// Scales a finite vector to length 1, unless its length is 0 or 1 (but for rounding) already.
pub(super) fn normalize(vector: &mut [f32]) {
    let square: f64 = vector.iter().map(|value| f64::from(*value).powi(2)).sum();
    if square > 0.0 && (square - 1.0).abs() > 1e-6 {
        let length = square.sqrt();
        vector.iter_mut().for_each(|value| *value = (f64::from(*value) / length) as f32);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_util::dot;
    use proptest::prelude::*;

    use super::*;

    fn unit(values: Vec<f32>) -> Vec<f32> {
        let mut vector = values;
        normalize(&mut vector);
        vector
    }

    fn bounds_of(query: &CodedQuery, codes: &[u8], bound: Bound) -> (f32, f32) {
        let mut product = [0];
        query.products(codes, &mut product);
        query.score(product[0], bound)
    }

    proptest! {
        #[test]
        fn products_do_not_depend_on_the_instructions(
            rows in prop::collection::vec(prop::collection::vec(-127i8..=127, 77), 1..20),
            seed in 0u32..1000,
        ) {
            let query: Vec<f32> = (0..77).map(|i| ((i as f32 + 1.3) * (seed as f32 + 0.7)).sin()).collect();
            let query = CodedQuery::new(&unit(query));
            let codes: Vec<u8> = rows.concat().iter().map(|code| code.cast_unsigned()).collect();
            let mut products = vec![0; rows.len()];
            query.products(&codes, &mut products);
            let one_by_one = |row: &Vec<i8>| -> i64 {
                row.iter().zip(&query.codes).map(|(code, number)| i64::from(*code) * i64::from(*number)).sum()
            };
            let expected: Vec<i64> = rows.iter().map(one_by_one).collect();
            prop_assert_eq!(products.into_iter().map(i64::from).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn the_score_lies_within_its_bounds(
            a in prop::collection::vec(-1.0f32..1.0, 1..300),
            seed in 0u32..1000,
        ) {
            let b: Vec<f32> = (0..a.len()).map(|i| ((i as f32 + 1.3) * (seed as f32 + 0.7)).sin()).collect();
            let (a, b) = (unit(a), unit(b));
            let mut codes = Vec::new();
            let bound = encode(&a, &mut codes);
            let (low, high) = bounds_of(&CodedQuery::new(&b), &codes, bound);
            let exact = dot(&a, &b);
            prop_assert!(low <= exact && exact <= high, "{low} {exact} {high}");
            prop_assert!(high - low < 0.1, "{low} {high}");
        }
    }

    #[test]
    fn extremes_do_not_overflow() {
        for dimension in [1, 384, 5000] {
            let even = unit(vec![1.0; dimension]);
            let mut codes = Vec::new();
            let bound = encode(&even, &mut codes);
            let (low, high) = bounds_of(&CodedQuery::new(&even), &codes, bound);
            assert!(low <= 1.0 && (1.0..1.01).contains(&high), "{dimension}: {low} {high}");
        }
        let mut codes = Vec::new();
        assert_eq!(encode(&[0.0; 4], &mut codes), Bound { scale: 0.0, error: 0.0 });
        assert_eq!(bounds_of(&CodedQuery::new(&[0.0; 4]), &codes, Bound { scale: 0.0, error: 0.0 }).1, 1e-5);
        let tiny = unit(vec![f32::MIN_POSITIVE / 4.0, 0.0]);
        assert_eq!(tiny, [1.0, 0.0]);
    }
}
