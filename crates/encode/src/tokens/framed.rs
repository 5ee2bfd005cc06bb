use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use tokenizers::Tokenizer;

use super::file::read;
use super::ids::TokenIds;
use super::wordpiece::WordPiece;
use crate::models::ModelError;

/// The ids of whole texts as a model reads them: those of the text between the special tokens that its `tokenizer.json` puts
/// around one (`[CLS]` and `[SEP]`, `<s>` and `</s>`, or one at the end alone).
#[derive(Debug)]
pub(crate) struct Framed {
    ids: TokenIds,
    before: Vec<u32>,
    after: Vec<u32>,
}

/// A text that every tokenizer makes something of.
const PROBE: &str = "a";

impl Framed {
    /// Reads a `tokenizer.json`. Its truncation and padding are ignored.
    ///
    /// # Errors
    /// [`ModelError::Io`]; [`ModelError::Unusable`] where the file is cut off or no tokenizer, or writes special tokens inside
    /// a text.
    pub(crate) fn load(path: &Path) -> Result<Self, ModelError> {
        let tokenizer = read(path)?;
        let (before, after) = frame(&tokenizer).map_err(|reason| ModelError::unusable(path, reason))?;
        Ok(Self { ids: TokenIds::new(tokenizer, path)?, before, after })
    }

    /// The ids of `text` between its special tokens, together at most `limit`; what lies beyond is not read. White space at
    /// the ends of a text is read, as sentence-transformers 6 does: an empty text behind a prompt ends with the prompt's blank.
    pub(crate) fn encode(&self, text: &str, limit: usize) -> Vec<u32> {
        let room = limit.saturating_sub(self.around());
        self.framed(self.ids.ids_with_ends(text, room))
    }

    /// The ids of a text between its special tokens.
    pub(crate) fn framed(&self, own: impl IntoIterator<Item = u32>) -> Vec<u32> {
        let mut ids = self.before.clone();
        ids.extend(own);
        ids.extend_from_slice(&self.after);
        ids
    }

    /// The tokens of `text` with the bytes of each, as [`encode`](Self::encode) has them between the special ones. Ranges lie on
    /// character boundaries and do not go back.
    pub(crate) fn located(&self, text: &str) -> Vec<(u32, Range<usize>)> {
        self.ids.located_with_ends(text, usize::MAX)
    }

    /// The number of special tokens before a text.
    pub(crate) fn before(&self) -> usize {
        self.before.len()
    }

    /// The number of special tokens around a text.
    pub(crate) fn around(&self) -> usize {
        self.before.len() + self.after.len()
    }

    /// Ids are below this number.
    pub(crate) fn vocabulary(&self) -> usize {
        self.ids.vocabulary()
    }

    /// The fast tokenizer, where it is one.
    pub(crate) fn words(&self) -> Option<&Arc<WordPiece>> {
        self.ids.words()
    }
}

/// The special tokens before and behind a text.
fn frame(tokenizer: &Tokenizer) -> Result<(Vec<u32>, Vec<u32>), String> {
    let made = |special| tokenizer.encode(PROBE, special).map_err(|e| e.to_string());
    let (bare, whole) = (made(false)?, made(true)?);
    let (bare, whole) = (bare.get_ids(), whole.get_ids());
    let at = whole.windows(bare.len().max(1)).position(|window| window == bare);
    let start = if bare.is_empty() { Some(0) } else { at };
    let start = start.ok_or("its special tokens do not stand around a text")?;
    let (before, rest) = whole.split_at(start);
    Ok((before.to_vec(), rest.get(bare.len()..).unwrap_or_default().to_vec()))
}
