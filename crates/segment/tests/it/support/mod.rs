//! Resources without a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_api::{Embeddings, EncodeError, SentenceEncoder};
use pericope_segment::random::fnv1a;
use pericope_segment::{Limits, Resources};

/// Resources with a hashing encoder; `same-size` finds a mean of 7.4 words for every reference.
#[derive(Default)]
pub struct Fake {
    pub overrides: Limits,
}

impl Resources for Fake {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        Ok(Arc::new(Hashing::default()))
    }

    fn mean_words(&self, _: &str) -> Result<f64, String> {
        Ok(7.4)
    }

    fn overrides(&self) -> Limits {
        self.overrides
    }
}

/// A unit vector a text: the sum of pseudo-random directions, one a word. Texts that share words are close.
#[derive(Default)]
pub struct Hashing {
    /// Bytes that it was asked to encode.
    pub bytes: AtomicUsize,
}

const DIMENSION: usize = 16;

impl SentenceEncoder for Hashing {
    fn name(&self) -> &str {
        "hashing"
    }

    fn fingerprint(&self) -> String {
        "hashing".into()
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_tokens(&self) -> usize {
        256
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let mut values = Vec::with_capacity(texts.len() * DIMENSION);
        for text in texts {
            self.bytes.fetch_add(text.len(), Ordering::Relaxed);
            let mut row = [0f32; DIMENSION];
            for word in text.split_whitespace().take(256) {
                let mut state = fnv1a(0, word.bytes());
                for value in &mut row {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    *value += (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5;
                }
            }
            let norm = row.iter().map(|v| v * v).sum::<f32>().sqrt();
            values.extend(row.map(|v| if norm > 0.0 { v / norm } else { 1.0 / (DIMENSION as f32).sqrt() }));
        }
        Ok(Embeddings::new(DIMENSION, values))
    }
}
