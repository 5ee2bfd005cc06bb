use std::sync::Arc;

use pericope_api::{Embeddings, SegmentError, SentenceEncoder};

use super::Similarity;
use crate::embedding::{bytes_read, dot};

/// BERTScore (Zhang et al. 2020, section 3; no idf weights, no rescaling): each token is matched with the token of the
/// other sentence whose contextual vector is nearest. Precision is the mean over the later sentence's tokens of their
/// best cosine, recall the mean over the earlier one's, and the similarity is their F1: 0 where a sentence has no token
/// or precision and recall do not sum to more than 0.
///
/// The encoder must give token vectors: [`SentenceEncoder::encode_tokens`]. Comparing two sentences of t tokens takes
/// t^2 products of vectors, some hundred times the work of [`Cosine`](super::Cosine).
pub struct BertScore {
    /// Embeds the tokens.
    pub encoder: Arc<dyn SentenceEncoder>,
}

impl Similarity for BertScore {
    type Prepared = Embeddings;

    fn name(&self) -> &'static str {
        "bertscore"
    }

    fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    fn prepare(&self, texts: &[&str]) -> Result<Vec<Embeddings>, SegmentError> {
        Ok(self.encoder.encode_tokens(texts)?)
    }

    fn compare(&self, left: &Embeddings, right: &Embeddings) -> f64 {
        let (precision, recall) = (best(right, left), best(left, right));
        let sum = precision + recall;
        if sum > 0.0 { 2.0 * precision * recall / sum } else { 0.0 }
    }

    /// At 256 tokens a sentence and 384 numbers a token a batch takes 100 MB.
    fn batch(&self) -> usize {
        256
    }

    fn most_bytes(&self) -> usize {
        bytes_read(self.encoder.as_ref())
    }
}

/// The mean over the rows of `of` of the greatest cosine with a row of `with`; 0 where either has none.
fn best(of: &Embeddings, with: &Embeddings) -> f64 {
    if of.is_empty() || with.is_empty() {
        return 0.0;
    }
    let greatest = |row: &[f32]| with.rows().map(|other| dot(row, other)).fold(f32::NEG_INFINITY, f32::max);
    of.rows().map(|row| f64::from(greatest(row))).sum::<f64>() / of.len() as f64
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Document, Embeddings, EncodeError, SentenceEncoder};

    use super::BertScore;
    use crate::graph::similarity::{PairWeights, Similarity};
    use crate::testing::Circle;

    fn score(a: &str, b: &str) -> f64 {
        let similarity = BertScore { encoder: Arc::new(Circle) };
        let tokens = similarity.prepare(&[a, b]).unwrap();
        similarity.compare(&tokens[0], &tokens[1])
    }

    #[test]
    fn greedy_matching_by_hand() {
        assert!((score("0 1", "1 0") - 1.0).abs() < 1e-6, "the order of the tokens carries no weight");
        // The later sentence's token 0.5 is nearest to 0.2; of the earlier ones, 0.2 and 2 have only 0.5.
        let (precision, recall) = (0.3f64.cos(), (0.3f64.cos() + 1.5f64.cos()) / 2.0);
        let expected = 2.0 * precision * recall / (precision + recall);
        assert!((score("0.2 2", "0.5") - expected).abs() < 1e-6);
        assert_eq!(score("", "1"), 0.0);
        assert_eq!(score("0", "3"), 0.0, "cosines that sum to less than 0");
    }

    #[test]
    fn encoders_without_token_vectors_say_so() {
        struct Plain;
        impl SentenceEncoder for Plain {
            fn name(&self) -> &str {
                "plain"
            }
            fn fingerprint(&self) -> String {
                "plain".into()
            }
            fn dimension(&self) -> usize {
                1
            }
            fn max_tokens(&self) -> usize {
                8
            }
            fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
                Ok(Embeddings::new(1, vec![1.0; texts.len()]))
            }
        }
        let document = Document::from_sentences("d", &["a", "b"]);
        let error = BertScore { encoder: Arc::new(Plain) }.similarities(&document, &[0, 1], 1).unwrap_err();
        assert_eq!(error.to_string(), "this encoder gives no token vectors");
    }
}
