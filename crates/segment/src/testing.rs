//! What unit tests share.

use pericope_api::{Embeddings, EncodeError, SentenceEncoder};

/// Unit vectors in the plane: a word is the angle that it says (in radians), a text the angle of its first word.
pub(crate) struct Circle;

fn angles(words: impl Iterator<Item = f32>) -> Embeddings {
    Embeddings::new(2, words.flat_map(|angle| [angle.cos(), angle.sin()]).collect())
}

impl SentenceEncoder for Circle {
    fn name(&self) -> &str {
        "circle"
    }

    fn fingerprint(&self) -> String {
        "circle".into()
    }

    fn dimension(&self) -> usize {
        2
    }

    fn max_tokens(&self) -> usize {
        8
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let first = |text: &&str| text.split_whitespace().next().and_then(|w| w.parse().ok()).unwrap_or(0.0);
        Ok(angles(texts.iter().map(first)))
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        let all = |text: &&str| angles(text.split_whitespace().filter_map(|word| word.parse().ok()));
        Ok(texts.iter().map(all).collect())
    }
}
