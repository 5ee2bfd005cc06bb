use std::sync::Arc;

use pericope_api::TokenCounter;

use super::wordpiece::WordPiece;
use crate::models::{ModelDir, ModelError};

/// Counts the tokens of all-MiniLM-L6-v2.
///
/// The count is that of the `tokenizers` crate, with two exceptions. A word of more than 100 characters, which the model
/// reads as one unknown token, counts as one token for every four bytes, so that no chunk grows without bound. Form
/// feed, vertical tab and U+0085 separate words as other white space does (BERT drops them from inside words), so that
/// the tokens of `"a b"` are always those of `"a"` and `"b"`.
#[derive(Debug, Clone)]
pub struct WordPieceCounter {
    tokens: Arc<WordPiece>,
}

impl WordPieceCounter {
    /// Reads the `tokenizer.json` of an installed model; no other file is needed.
    ///
    /// # Errors
    /// As [`WordPiece::load`].
    pub fn load(model: &ModelDir) -> Result<Self, ModelError> {
        Ok(Self::new(Arc::new(WordPiece::load(&model.file("tokenizer.json"))?)))
    }

    /// Counts with a tokenizer that is there already.
    #[must_use]
    pub fn new(tokens: Arc<WordPiece>) -> Self {
        Self { tokens }
    }
}

impl TokenCounter for WordPieceCounter {
    fn name(&self) -> &str {
        "minilm"
    }

    fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
        self.tokens.ends(text, |end| ends.push(end));
    }

    fn special_tokens(&self) -> usize {
        2
    }

    fn count(&self, text: &str) -> usize {
        let mut count = 0;
        self.tokens.ends(text, |_| count += 1);
        count
    }
}
