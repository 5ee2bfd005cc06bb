use std::path::Path;

use tokenizers::Tokenizer;

use crate::models::ModelError;

/// Reads a `tokenizer.json`, without the truncation and padding that it was saved with.
pub(super) fn read(path: &Path) -> Result<Tokenizer, ModelError> {
    let bytes = std::fs::read(path).map_err(ModelError::io(path))?;
    let mut tokenizer = Tokenizer::from_bytes(&bytes).map_err(|e| ModelError::unusable(path, e))?;
    tokenizer.with_padding(None);
    tokenizer.with_truncation(None).map_err(|e| ModelError::unusable(path, e))?;
    Ok(tokenizer)
}

/// The highest id and one: the number of tokens, where ids have no gaps.
pub(super) fn vocabulary(tokenizer: &Tokenizer) -> usize {
    tokenizer.get_vocab(true).values().max().map_or(0, |&id| id as usize + 1)
}
