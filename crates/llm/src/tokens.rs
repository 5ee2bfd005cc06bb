use std::path::Path;
use std::sync::Arc;

use tokenizers::Tokenizer;

use crate::error::LlmError;
use crate::request::Request;

/// The number of tokens that chat templates add to every message, roughly.
const PER_MESSAGE: usize = 4;

/// Counts tokens before a server has: for estimates, for limits of tokens a minute, and for batches.
#[derive(Clone, Default)]
pub struct Tokens(Option<Arc<Tokenizer>>);

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "Tokens(tokenizer.json)" } else { "Tokens(estimate)" })
    }
}

impl Tokens {
    /// Counts by a model's own `tokenizer.json`.
    ///
    /// # Errors
    /// [`LlmError::Config`] where the file cannot be read or is none.
    pub fn load(path: &Path) -> Result<Self, LlmError> {
        let tokenizer = Tokenizer::from_file(path).map_err(|e| LlmError::Config(format!("{}: {e}", path.display())))?;
        Ok(Self(Some(Arc::new(tokenizer))))
    }

    /// Returns the number of tokens of a text. Without a tokenizer, an estimate that is rather too high than too low for English: a token for
    /// every four ASCII characters begun, and one for every other character.
    pub(crate) fn count(&self, text: &str) -> usize {
        if let Some(tokenizer) = &self.0
            && let Ok(encoding) = tokenizer.encode_fast(text, false)
        {
            return encoding.len();
        }
        let ascii = text.bytes().filter(u8::is_ascii).count();
        ascii.div_ceil(4) + text.chars().filter(|c| !c.is_ascii()).count()
    }

    /// Returns the number of tokens of a request's messages and schema.
    pub(crate) fn of_request(&self, request: &Request) -> usize {
        let schema = request.schema.as_ref().map_or(0, |s| self.count(&s.schema.to_string()));
        request.messages.iter().map(|m| self.count(&m.content) + PER_MESSAGE).sum::<usize>() + schema
    }
}

#[cfg(test)]
mod tests {
    use super::Tokens;

    #[test]
    fn estimates_are_not_far_below_the_truth() {
        let tokens = Tokens::default();
        assert_eq!(tokens.count(""), 0);
        assert_eq!(tokens.count("Nobody kept the letter."), 6);
        assert_eq!(tokens.count("今日は"), 3);
    }
}
