use std::path::Path;

use tokenizers::Tokenizer;

use super::file::{read, vocabulary};
use super::wordpiece::WordPiece;
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
    way: Way,
    start: u32,
    end: u32,
    pad: u32,
    vocabulary: usize,
}

#[derive(Debug)]
enum Way {
    Fast(Box<WordPiece>),
    General(Box<Tokenizer>),
}

/// A character that no vocabulary has: private use, the last there is.
const STRANGE: &str = "\u{10fffd}";

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
        let vocabulary = vocabulary(&tokenizer);
        let way = match WordPiece::new(tokenizer) {
            Ok(fast) => Way::Fast(Box::new(fast)),
            Err(other) => {
                other.tokenizer.encode_fast(STRANGE, false).map_err(|e| ModelError::unusable(path, e))?;
                Way::General(Box::new(other.tokenizer))
            }
        };
        Ok(Self { way, start, end, pad, vocabulary })
    }

    /// The ids of `text`, without special tokens before or after them, at most `limit`. Names of special tokens that stand
    /// in the text are read as those tokens.
    #[must_use]
    pub fn ids(&self, text: &str, limit: usize) -> Vec<u32> {
        let text = text.trim();
        match &self.way {
            Way::Fast(tokens) => tokens.ids(text, limit),
            Way::General(tokens) => {
                // Characters that are not known are the only thing that fails, and loading has tried one.
                let mut ids =
                    tokens.encode_fast(text, false).map_or_else(|_| Vec::new(), |made| made.get_ids().to_vec());
                ids.truncate(limit);
                ids
            }
        }
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
        self.vocabulary
    }
}
