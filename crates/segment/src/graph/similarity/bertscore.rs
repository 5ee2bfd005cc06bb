use std::sync::Arc;

use pericope_api::{Embeddings, EncodeError, SegmentError, SentenceEncoder};
use rayon::prelude::*;

use super::Similarity;
use super::repeats::Repeats;
use super::token_vectors::TokenVectors;
use crate::embedding::bytes_read;

/// Bytes of the token vectors that are kept of sentences that come again: some 6,000 sentences of 33 tokens and 384 numbers
/// a token.
const KEPT: usize = 384 << 20;

/// BERTScore (Zhang et al. 2020, section 3; no idf weights, no rescaling): each token is matched with the token of the
/// other sentence whose contextual vector is nearest. Precision is the mean over the later sentence's tokens of their
/// best cosine, recall the mean over the earlier one's, and the similarity is their F1: 0 where a sentence has no token
/// or precision and recall do not sum to more than 0.
///
/// The encoder must give token vectors: [`SentenceEncoder::encode_tokens`]. To compare two sentences of s and t tokens
/// takes s * t products of vectors: with 5 neighbours about 1 % of the multiplications that MiniLM takes to encode them.
/// So what costs is to encode a sentence twice. The token vectors of sentences that come again are kept, up to 384 MB,
/// and [`Remembered`](super::Remembered) keeps the similarities of documents that are cut again.
pub struct BertScore {
    encoder: Arc<dyn SentenceEncoder>,
    repeats: Repeats<TokenVectors>,
}

impl BertScore {
    /// Compares sentences by the tokens of this encoder.
    #[must_use]
    pub fn new(encoder: Arc<dyn SentenceEncoder>) -> Self {
        Self { encoder, repeats: Repeats::new(KEPT) }
    }
}

impl Similarity for BertScore {
    type Prepared = Arc<TokenVectors>;

    fn name(&self) -> &'static str {
        "bertscore"
    }

    fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    fn prepare(&self, texts: &[&str]) -> Result<Vec<Arc<TokenVectors>>, SegmentError> {
        let pack = |vectors: Embeddings| TokenVectors::new(&vectors);
        self.repeats.get(texts, TokenVectors::bytes, |new| {
            let found = self.encoder.encode_tokens(new)?.into_iter().map(|one| one.finite(self.encoder.name()));
            Ok(found.collect::<Result<Vec<Embeddings>, EncodeError>>()?.into_par_iter().map(pack).collect())
        })
    }

    fn compare(&self, left: &Arc<TokenVectors>, right: &Arc<TokenVectors>) -> f64 {
        let (recall, precision) = left.mean_best(right);
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Document, Embeddings, EncodeError, SentenceEncoder};

    use super::BertScore;
    use crate::graph::similarity::{PairWeights, Similarity};
    use crate::testing::Circle;

    fn score(a: &str, b: &str) -> f64 {
        let similarity = BertScore::new(Arc::new(Circle));
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
        let error = BertScore::new(Arc::new(Plain)).similarities(&document, &[0, 1], 1).unwrap_err();
        assert_eq!(error.to_string(), "this encoder gives no token vectors");
    }
}
