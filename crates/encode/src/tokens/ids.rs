use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use tokenizers::{ModelWrapper, Tokenizer};

use super::file::{read, vocabulary};
use super::wordpiece::WordPiece;
use crate::models::ModelError;

/// The ids of a text's tokens by any `tokenizer.json`, without special tokens before or after them: fast where that is a
/// lower-casing BERT tokenizer, else by the `tokenizers` crate.
#[derive(Debug)]
pub(crate) struct TokenIds {
    way: Way,
    vocabulary: usize,
    unknown: Option<u32>,
    special: Vec<u32>,
}

#[derive(Debug)]
enum Way {
    Fast(Arc<WordPiece>),
    General(Box<Tokenizer>),
}

/// A character that no vocabulary has: private use, the last there is.
const STRANGE: &str = "\u{10fffd}";

impl TokenIds {
    /// Reads a `tokenizer.json`. Its truncation and padding are ignored.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Unusable`] where the file is cut off or no tokenizer, or fails on characters that it
    /// does not know.
    pub(crate) fn load(path: &Path) -> Result<Self, ModelError> {
        Self::new(read(path)?, path)
    }

    pub(super) fn new(tokenizer: Tokenizer, path: &Path) -> Result<Self, ModelError> {
        let vocabulary = vocabulary(&tokenizer);
        let unknown = unknown(&tokenizer);
        let added = tokenizer.get_added_tokens_decoder();
        let mut special: Vec<u32> = added.iter().filter(|(_, token)| token.special).map(|(&id, _)| id).collect();
        special.extend(unknown);
        special.sort_unstable();
        let way = match WordPiece::new(tokenizer) {
            Ok(fast) => Way::Fast(Arc::new(fast)),
            Err(other) => {
                other.tokenizer.encode_fast(STRANGE, false).map_err(|e| ModelError::unusable(path, e))?;
                Way::General(Box::new(other.tokenizer))
            }
        };
        Ok(Self { way, vocabulary, unknown, special })
    }

    /// The ids of `text`, at most `limit`. White space at its ends is not read. Names of special tokens that stand in the text are
    /// read as those tokens.
    pub(crate) fn ids(&self, text: &str, limit: usize) -> Vec<u32> {
        self.ids_with_ends(text.trim(), limit)
    }

    /// The ids of `text`, at most `limit`, the white space at its ends included.
    pub(super) fn ids_with_ends(&self, text: &str, limit: usize) -> Vec<u32> {
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

    /// The tokens of `text` with the bytes of each, at most `limit`; their ids are those of [`ids`](Self::ids). Ranges lie on
    /// character boundaries and do not go back; one may be empty, where several tokens stand for one character.
    pub(crate) fn located(&self, text: &str, limit: usize) -> Vec<(u32, Range<usize>)> {
        let before = text.len() - text.trim_start().len();
        let mut found = self.located_with_ends(text.trim(), limit);
        for (_, range) in &mut found {
            *range = before + range.start..before + range.end;
        }
        found
    }

    /// The same, the white space at the ends of `text` included: the ids are those of [`ids_with_ends`](Self::ids_with_ends).
    pub(super) fn located_with_ends(&self, text: &str, limit: usize) -> Vec<(u32, Range<usize>)> {
        let mut found = match &self.way {
            Way::Fast(tokens) => tokens.located(text, limit),
            Way::General(tokens) => {
                let made = tokens.encode(text, false);
                made.map_or_else(
                    |_| Vec::new(),
                    |made| {
                        let places = made.get_offsets().iter().map(|&(start, end)| start..end);
                        made.get_ids().iter().copied().zip(places).take(limit).collect()
                    },
                )
            }
        };
        let mut last = 0;
        for (_, range) in &mut found {
            // Tokens of parts of a character are given all of it, or nothing.
            let end = text.ceil_char_boundary(range.end.min(text.len())).max(last);
            let start = text.floor_char_boundary(range.start.min(end)).clamp(last, end);
            last = end;
            *range = start..end;
        }
        found
    }

    /// The fast tokenizer, where it is one.
    pub(crate) fn words(&self) -> Option<&Arc<WordPiece>> {
        match &self.way {
            Way::Fast(words) => Some(words),
            Way::General(_) => None,
        }
    }

    /// Ids are below this number.
    pub(crate) fn vocabulary(&self) -> usize {
        self.vocabulary
    }

    /// The token of what is not known, where there is one.
    pub(crate) fn unknown(&self) -> Option<u32> {
        self.unknown
    }

    /// True for the tokens that are added to texts, and for that of what is not known.
    pub(crate) fn is_special(&self, id: u32) -> bool {
        self.special.binary_search(&id).is_ok()
    }
}

fn unknown(tokenizer: &Tokenizer) -> Option<u32> {
    match tokenizer.get_model() {
        ModelWrapper::WordPiece(model) => tokenizer.token_to_id(&model.unk_token),
        ModelWrapper::WordLevel(model) => tokenizer.token_to_id(&model.unk_token),
        ModelWrapper::BPE(model) => tokenizer.token_to_id(model.unk_token.as_ref()?),
        ModelWrapper::Unigram(_) => tokenizer.token_to_id("<unk>"),
    }
}
