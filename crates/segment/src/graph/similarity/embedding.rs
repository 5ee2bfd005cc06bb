use std::sync::Arc;

use pericope_api::{SegmentError, SentenceEncoder};
use pericope_util::dot;

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

    fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    fn prepare(&self, texts: &[&str]) -> Result<Vec<Box<[f32]>>, SegmentError> {
        Ok(self.encoder.encode(texts)?.finite(self.encoder.name())?.rows().map(Box::from).collect())
    }

    fn compare(&self, left: &Box<[f32]>, right: &Box<[f32]>) -> f64 {
        f64::from(dot(left, right))
    }

    fn most_bytes(&self) -> usize {
        bytes_read(self.encoder.as_ref())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use super::Cosine;
    use crate::graph::similarity::Similarity;
    use crate::testing::Circle;

    #[test]
    fn cosines_of_angles() {
        let cosine = Cosine { encoder: Arc::new(Circle) };
        let vectors = cosine.prepare(&["0", "1", "3"]).unwrap();
        assert!((cosine.compare(&vectors[0], &vectors[1]) - 1f64.cos()).abs() < 1e-6);
        assert!(cosine.compare(&vectors[0], &vectors[2]) < -0.98);
    }
}
