//! Vectors as small whole numbers, with a bound on what that leaves out.

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
        Self { codes, scale, length: rounded_up(length.sqrt()), slack }
    }

    /// The bounds of the score of the vector that has these codes: the least and the most that it can be.
    #[inline(always)]
    pub fn score(&self, codes: &[u8], bound: Bound) -> (f32, f32) {
        let about = product(codes, &self.codes) as f32 * (self.scale * bound.scale);
        let wrong = self.length * bound.error + self.slack;
        (about - wrong, about + wrong)
    }
}

/// The sum of products; written so that the compiler makes vector instructions of it.
#[inline(always)]
fn product(codes: &[u8], query: &[i16]) -> i32 {
    codes.iter().zip(query).map(|(&code, &number)| i32::from(code.cast_signed()) * i32::from(number)).sum()
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

    proptest! {
        #[test]
        fn the_score_lies_within_its_bounds(
            a in prop::collection::vec(-1.0f32..1.0, 1..300),
            seed in 0u32..1000,
        ) {
            let b: Vec<f32> = (0..a.len()).map(|i| ((i as f32 + 1.3) * (seed as f32 + 0.7)).sin()).collect();
            let (a, b) = (unit(a), unit(b));
            let mut codes = Vec::new();
            let bound = encode(&a, &mut codes);
            let (low, high) = CodedQuery::new(&b).score(&codes, bound);
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
            let (low, high) = CodedQuery::new(&even).score(&codes, bound);
            assert!(low <= 1.0 && (1.0..1.01).contains(&high), "{dimension}: {low} {high}");
        }
        let mut codes = Vec::new();
        assert_eq!(encode(&[0.0; 4], &mut codes), Bound { scale: 0.0, error: 0.0 });
        assert_eq!(CodedQuery::new(&[0.0; 4]).score(&codes, Bound { scale: 0.0, error: 0.0 }).1, 1e-5);
        let tiny = unit(vec![f32::MIN_POSITIVE / 4.0, 0.0]);
        assert_eq!(tiny, [1.0, 0.0]);
    }
}
