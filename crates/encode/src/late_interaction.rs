//! Late interaction: query and passage are read each for itself, and their tokens are compared.

use std::sync::Arc;

use pericope_api::{EncodeError, RerankError, Reranker, SentenceEncoder};
use pericope_segment::graph::similarity::TokenVectors;
use pericope_segment::registry::SettingKey;
use rayon::prelude::*;

use crate::registry;
use crate::rerankers::{BuiltReranker, RerankerArgs, RerankerEntry};

/// The reranker `maxsim`.
pub const MAXSIM: RerankerEntry = RerankerEntry {
    name: NAME,
    summary: "tokens of the query beside those of a passage, by the vectors of an embedder; needs no training",
    keys: &[SettingKey {
        name: "embedder",
        default: EMBEDDER,
        doc: "an embedder with vectors of tokens: `minilm`, a name of `pericope models list`, or the folder of one",
    }],
    example: "maxsim",
    sends: false,
    weights: |_| None,
    build,
};

const NAME: &str = "maxsim";

const EMBEDDER: &str = "minilm";

/// Bytes that the vectors of the passages that are read together take at most, or those of one.
const TOGETHER: usize = 64 << 20;

fn build(args: &RerankerArgs<'_>) -> BuiltReranker {
    let name = args.get("embedder").unwrap_or(EMBEDDER);
    let unavailable = |e: &dyn std::fmt::Display| args.unavailable(format!("embedder={name}: {e}"));
    if name.starts_with("openai:") {
        return Err(unavailable(&"endpoints give no vectors of tokens"));
    }
    let encoder = registry::embedder(name).map_err(|e| unavailable(&e))?;
    let encoder = encoder.ok_or_else(|| args.bad("embedder", name, "an embedder"))?;
    let reranker = LateInteraction::new(encoder).map_err(|e| unavailable(&e))?;
    Ok(Some(Arc::new(reranker)))
}

/// Scores a passage by the mean, over the tokens of the query, of the greatest cosine with a token of the passage (MaxSim; Khattab and
/// Zaharia 2020, "ColBERT", section 3.3, there as a sum), -1 to 1.
///
/// Any encoder with vectors of tokens will do, one that was trained for whole texts too. What lies beyond its window is not read, and
/// special tokens are left out. A passage without tokens scores -1.
#[derive(Clone)]
pub struct LateInteraction {
    encoder: Arc<dyn SentenceEncoder>,
}

impl LateInteraction {
    /// Reranks by the vectors of an encoder.
    ///
    /// # Errors
    /// Where it gives no vectors of tokens.
    pub fn new(encoder: Arc<dyn SentenceEncoder>) -> Result<Self, EncodeError> {
        encoder.encode_tokens(&[])?;
        Ok(Self { encoder })
    }
}

impl Reranker for LateInteraction {
    fn name(&self) -> &str {
        NAME
    }

    fn fingerprint(&self) -> String {
        format!("{NAME}:{}", self.encoder.fingerprint())
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let tokens = |texts: &[&str]| self.encoder.encode_tokens(texts).map_err(|e| RerankError::Run(Box::new(e)));
        let query = tokens(&[query])?.first().map(TokenVectors::new).unwrap_or_default();
        let score = |passage: &TokenVectors| {
            if passage.is_empty() { -1.0 } else { (query.mean_best(passage).0 as f32).clamp(-1.0, 1.0) }
        };
        let mut scores = Vec::with_capacity(passages.len());
        let bytes = self.encoder.max_tokens().max(1) * self.encoder.dimension().max(1) * size_of::<f32>();
        for group in passages.chunks((TOGETHER / bytes).max(1)) {
            let read = tokens(group)?;
            scores.par_extend(read.par_iter().map(|passage| score(&TokenVectors::new(passage))));
        }
        Ok(scores)
    }
}

impl std::fmt::Debug for LateInteraction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LateInteraction").field("encoder", &self.encoder.name()).finish()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Embeddings, EncodeError, Reranker, SentenceEncoder};

    use super::LateInteraction;
    use crate::cached::tests::Lengths;

    /// A token is an angle, and its vector the point of the unit circle there.
    struct Circle;

    impl SentenceEncoder for Circle {
        fn name(&self) -> &str {
            "circle"
        }

        fn fingerprint(&self) -> String {
            "circle-1".into()
        }

        fn dimension(&self) -> usize {
            2
        }

        fn max_tokens(&self) -> usize {
            512
        }

        fn encode(&self, _: &[&str]) -> Result<Embeddings, EncodeError> {
            Err(EncodeError::Model("whole texts are not read".into()))
        }

        fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
            let angles = |text: &str| {
                text.split_whitespace()
                    .flat_map(|token| {
                        let angle: f32 = token.parse().unwrap();
                        [angle.cos(), angle.sin()]
                    })
                    .collect()
            };
            Ok(texts.iter().map(|text| Embeddings::new(2, angles(text))).collect())
        }
    }

    #[test]
    fn each_token_of_the_query_meets_its_nearest() {
        let reranker = LateInteraction::new(Arc::new(Circle)).unwrap();
        let passages = ["0 1", "1 0 3", "0.5", "3", ""];
        let found = reranker.scores("0 1", &passages).unwrap();
        let expected = [1.0, 1.0, 0.5_f32.cos(), f32::midpoint(3_f32.cos(), 2_f32.cos()), -1.0];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-6), "{found:?} {expected:?}");
        // Of the query each token counts, of the passage its best ones.
        assert_eq!(reranker.scores("0", &["0 2 2 2", "0"]).unwrap(), [1.0, 1.0]);
        // As many as are not read together, each with its own score.
        let many: Vec<String> = (0..40_000).map(|i| format!("{}", f64::from(i) / 20_000.0)).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        let found = reranker.scores("0", &many).unwrap();
        let wrong = found.iter().enumerate().find(|(i, score)| (*score - (*i as f32 / 20_000.0).cos()).abs() > 1e-5);
        assert!(found.len() == many.len() && wrong.is_none(), "{wrong:?}");
        assert!(reranker.scores("", &["1", ""]).unwrap().iter().all(|score| score.is_finite()));
        assert!(reranker.scores("1", &[]).unwrap().is_empty());
        assert_eq!(reranker.fingerprint(), "maxsim:circle-1");
    }

    #[test]
    fn an_encoder_without_vectors_of_tokens_is_refused() {
        let refused = LateInteraction::new(Arc::new(Lengths::default())).unwrap_err();
        assert!(refused.to_string().contains("no token vectors"), "{refused}");
    }
}
