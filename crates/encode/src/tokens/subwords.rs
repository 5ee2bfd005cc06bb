use std::ops::Range;
use std::path::Path;

use super::file::read;
use super::ids::TokenIds;
use crate::models::ModelError;

/// The tokenizer of any model that has a `tokenizer.json`: fast where that is a lower-casing BERT tokenizer, else by the
/// `tokenizers` crate.
///
/// Texts are sentences, and a sequence is made of the [ids](Self::ids) of several between special tokens. White space at
/// the ends of a text is not read. Byte-level tokenizers (RoBERTa, Longformer) write a space into the word that follows
/// it, so the first word of a sentence gets the token of a word that starts a text, wherever the sentence stands; for
/// others nothing depends on what stands before.
#[derive(Debug)]
pub struct Subwords {
    ids: TokenIds,
    start: u32,
    end: u32,
    pad: u32,
}

impl Subwords {
    /// Reads a `tokenizer.json`. Its truncation and padding are ignored.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Unusable`] where the file is cut off or no tokenizer, lacks a special token, or
    /// fails on characters that it does not know.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let tokenizer = read(path)?;
        let special = |bert: &str, roberta: &str| {
            let missing = || ModelError::unusable(path, format!("there is neither {bert} nor {roberta}"));
            let found = tokenizer.token_to_id(bert).or_else(|| tokenizer.token_to_id(roberta));
            found.ok_or_else(missing)
        };
        let (start, end, pad) = (special("[CLS]", "<s>")?, special("[SEP]", "</s>")?, special("[PAD]", "<pad>")?);
        Ok(Self { ids: TokenIds::new(tokenizer, path)?, start, end, pad })
    }

    /// The ids of `text`, without special tokens before or after them, at most `limit`. Names of special tokens that stand
    /// in the text are read as those tokens.
    #[must_use]
    pub fn ids(&self, text: &str, limit: usize) -> Vec<u32> {
        self.ids.ids(text, limit)
    }

    /// True for the tokens that are added to texts, and for that of what is not known.
    #[must_use]
    pub fn is_special(&self, id: u32) -> bool {
        self.ids.is_special(id)
    }

    /// The tokens of `text` with the bytes of each, at most `limit`; their ids are those of [`ids`](Self::ids). Ranges lie on
    /// character boundaries and do not go back; one may be empty, where several tokens stand for one character.
    #[must_use]
    pub fn located(&self, text: &str, limit: usize) -> Vec<(u32, Range<usize>)> {
        self.ids.located(text, limit)
    }

    /// The token before the first text: `[CLS]` or `<s>`.
    #[must_use]
    pub fn start(&self) -> u32 {
        self.start
    }

    /// The token after a text: `[SEP]` or `</s>`.
    #[must_use]
    pub fn end(&self) -> u32 {
        self.end
    }

    /// The token of padding.
    #[must_use]
    pub fn pad(&self) -> u32 {
        self.pad
    }

    /// Ids are below this number.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        self.ids.vocabulary()
    }
}
