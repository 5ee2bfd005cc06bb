use std::sync::Arc;

use pericope_api::{SegmentError, SentenceEncoder};

use super::Similarity;
use crate::embedding::bytes_read;

/// Cosine of sentence embeddings.
pub struct Cosine {
    /// Embeds the sentences.
    pub encoder: Arc<dyn SentenceEncoder>,
}

impl Similarity for Cosine {
    type Prepared = Box<[f32]>;

    fn name(&self) -> &'static str {
        "embedding"
    }

    fn prepare(&self, texts: &[&str]) -> Result<Vec<Box<[f32]>>, SegmentError> {
        Ok(self.encoder.encode(texts)?.rows().map(Box::from).collect())
    }

    fn compare(&self, left: &Box<[f32]>, right: &Box<[f32]>) -> f64 {
        f64::from(dot(left, right))
    }

    fn most_bytes(&self) -> usize {
        bytes_read(self.encoder.as_ref())
    }
}

/// The dot product of two vectors of the same length. Summed in eight lanes, always the same ones: the compiler
/// vectorises it, and the result does not depend on the machine.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 8;
    let mut sums = [0f32; LANES];
    let (whole_a, whole_b) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let rest: f32 = whole_a.remainder().iter().zip(whole_b.remainder()).map(|(x, y)| x * y).sum();
    for (x, y) in whole_a.zip(whole_b) {
        for lane in 0..LANES {
            sums[lane] += x[lane] * y[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::{Cosine, dot};
    use crate::graph::similarity::Similarity;
    use crate::graph::similarity::tests::Circle;

    #[test]
    fn cosines_of_angles() {
        let cosine = Cosine { encoder: Arc::new(Circle) };
        let vectors = cosine.prepare(&["0", "1", "3"]).unwrap();
        assert!((cosine.compare(&vectors[0], &vectors[1]) - 1f64.cos()).abs() < 1e-6);
        assert!(cosine.compare(&vectors[0], &vectors[2]) < -0.98);
    }

    #[test]
    fn dot_products_of_any_length() {
        for n in [0, 1, 7, 8, 9, 384, 387] {
            let a: Vec<f32> = (0..n).map(|i| (i % 7) as f32 - 3.0).collect();
            let b: Vec<f32> = (0..n).map(|i| (i % 5) as f32).collect();
            let expected: f32 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&a, &b), expected);
        }
    }
}
