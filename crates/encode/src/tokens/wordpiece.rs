use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use tokenizers::normalizers::BertNormalizer;
use tokenizers::{ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

use super::cache::{Cache, Piece};
use super::chars::Classes;
use super::file::{read, vocabulary};
use super::trie::{Root, Trie};
use super::units::{Kind, Units};
use crate::models::ModelError;

/// A lower-casing WordPiece tokenizer (BERT's), read from a `tokenizer.json`.
///
/// Words of ASCII letters and digits are cut with a trie; everything else goes through the `tokenizers` crate, word by
/// word, with a cache. The tokens are those of the `tokenizers` crate on the whole text: a word's tokens depend on
/// nothing outside the word.
#[derive(Debug)]
pub struct WordPiece {
    tokenizer: Tokenizer,
    classes: Classes,
    trie: Trie,
    special: Vec<(Box<str>, u32)>,
    longest: usize,
    unknown: u32,
    first: u32,
    last: u32,
    /// The pieces of each ASCII character as a word of its own, as punctuation is.
    alone: Vec<Arc<[Piece]>>,
    cache: Cache,
}

/// Characters of a word beyond which it is not even normalised before it is given up as unknown: accents could make a
/// word that long of a hundred letters, but no text does.
const HOPELESS: usize = 4_096;

impl WordPiece {
    /// Reads a `tokenizer.json`. Its truncation and padding are ignored.
    ///
    /// # Errors
    /// [`ModelError::Unusable`] where the file is no lower-casing BERT tokenizer.
    pub fn load(path: &Path) -> Result<Self, ModelError> {
        let not_bert = |what: String| ModelError::unusable(path, format!("not a lower-casing BERT tokenizer: {what}"));
        Self::new(read(path)?).map_err(|refused| not_bert(refused.reason))
    }

    /// Takes a tokenizer if it is a lower-casing BERT tokenizer, and else gives it back with the reason.
    pub(super) fn new(tokenizer: Tokenizer) -> Result<Self, Box<Refused>> {
        let parts = match Parts::of(&tokenizer) {
            Ok(parts) => parts,
            Err(reason) => return Err(Box::new(Refused { tokenizer, reason })),
        };
        let Parts { prefix, longest, normalizer, unknown, first, last, special } = parts;
        let vocabulary = tokenizer.get_vocab(false);
        let trie = Trie::new(vocabulary.iter().map(|(token, &id)| (token.as_str(), id)), &prefix);
        let classes = Classes::new(normalizer);
        let cache = Cache::default();
        let mut made =
            Self { classes, trie, special, longest, unknown, first, last, tokenizer, alone: Vec::new(), cache };
        made.alone = (0..128_u8).map(|byte| made.ask(char::from(byte).encode_utf8(&mut [0; 4]))).collect();
        Ok(made)
    }

    /// The ids that a model reads: `[CLS]`, the tokens of `text`, `[SEP]`, together at most `limit` (at least 2); what
    /// lies beyond is not read.
    #[must_use]
    pub fn encode(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = vec![self.first];
        self.extend(text, limit.saturating_sub(1).max(1), &mut ids);
        ids.push(self.last);
        ids
    }

    /// The ids of `text` alone, without special tokens before or after them, at most `limit`.
    #[must_use]
    pub fn ids(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = Vec::new();
        self.extend(text, limit, &mut ids);
        ids
    }

    /// The tokens of `text` alone with the bytes of each, at most `limit`: the ids are those of [`ids`](Self::ids).
    #[must_use]
    pub fn located(&self, text: &str, limit: usize) -> Vec<(u32, Range<usize>)> {
        let mut found: Vec<(u32, Range<usize>)> = Vec::new();
        let mut pieces = Vec::new();
        for unit in Units::new(text, &self.classes, &self.special, self.longest, false) {
            if found.len() >= limit {
                break;
            }
            let Range { start, end } = unit.range;
            let word = text.get(start..end).unwrap_or("");
            match unit.kind {
                Kind::Special(id) => found.push((id, start..end)),
                Kind::Long if word.is_ascii() || word.chars().nth(HOPELESS).is_some() => {
                    found.push((self.unknown, start..end));
                }
                kind => {
                    if kind == Kind::Long {
                        pieces.clear();
                        pieces.extend_from_slice(&self.ask(word));
                    } else {
                        self.pieces(word, kind, &mut pieces);
                    }
                    let mut from = start;
                    for &(id, offset) in &pieces {
                        let to = start + offset as usize;
                        found.push((id, from.min(to)..to));
                        from = to;
                    }
                }
            }
        }
        found.truncate(limit);
        found
    }

    /// Ids are below this number.
    #[must_use]
    pub fn vocabulary(&self) -> usize {
        vocabulary(&self.tokenizer)
    }

    /// Appends the tokens of `text` until there are `room` ids.
    fn extend(&self, text: &str, room: usize, ids: &mut Vec<u32>) {
        let mut pieces = Vec::new();
        for unit in Units::new(text, &self.classes, &self.special, self.longest, false) {
            if ids.len() >= room {
                break;
            }
            let word = text.get(unit.range).unwrap_or("");
            match unit.kind {
                Kind::Special(id) => ids.push(id),
                Kind::Long if word.is_ascii() || word.chars().nth(HOPELESS).is_some() => ids.push(self.unknown),
                Kind::Long => ids.extend(self.ask(word).iter().map(|&(id, _)| id)),
                kind => {
                    self.pieces(word, kind, &mut pieces);
                    ids.extend(pieces.iter().map(|&(id, _)| id));
                }
            }
        }
        ids.truncate(room);
    }

    /// Calls `token` with the end of every token of `text`, in bytes; a word that is too long for the model counts as
    /// one token for every four bytes begun. Cuts at all white space, so that counting is additive over pieces.
    pub(super) fn ends(&self, text: &str, mut token: impl FnMut(usize)) {
        let mut pieces = Vec::new();
        for unit in Units::new(text, &self.classes, &self.special, self.longest, true) {
            let (start, end) = (unit.range.start, unit.range.end);
            match unit.kind {
                Kind::Special(_) => token(end),
                Kind::Long => {
                    for at in (start + 4..end).step_by(4) {
                        token(text.ceil_char_boundary(at));
                    }
                    token(end);
                }
                kind => {
                    self.pieces(text.get(unit.range).unwrap_or(""), kind, &mut pieces);
                    for &(_, offset) in &pieces {
                        token(start + offset as usize);
                    }
                }
            }
        }
    }

    /// Replaces `pieces` by those of a word that is not too long.
    fn pieces(&self, word: &str, kind: Kind, pieces: &mut Vec<Piece>) {
        pieces.clear();
        if kind == Kind::Plain {
            self.plain(word.as_bytes(), pieces);
        } else if let [byte] = word.as_bytes()
            && let Some(alone) = self.alone.get(usize::from(*byte))
        {
            pieces.extend_from_slice(alone);
        } else {
            pieces.extend_from_slice(&self.cache.get_or(word, || self.ask(word)));
        }
    }

    /// The longest piece first, then the longest that continues it, and so on; one unknown token where that fails.
    fn plain(&self, word: &[u8], pieces: &mut Vec<Piece>) {
        let mut at = 0;
        while let Some(rest) = word.get(at..).filter(|rest| !rest.is_empty()) {
            let root = if at == 0 { Root::Start } else { Root::Inside };
            let Some((id, len)) = self.trie.longest(root, rest) else {
                pieces.clear();
                pieces.push((self.unknown, word.len() as u32));
                return;
            };
            at += len;
            pieces.push((id, at as u32));
        }
    }

    /// The tokens of a word by the `tokenizers` crate.
    fn ask(&self, word: &str) -> Arc<[Piece]> {
        // An error is only possible for a vocabulary without the unknown token, which loading rules out.
        self.tokenizer.encode(word, false).map_or_else(
            |_| Arc::from([(self.unknown, word.len() as u32)]),
            |encoding| {
                encoding.get_ids().iter().zip(encoding.get_offsets()).map(|(&id, &(_, end))| (id, end as u32)).collect()
            },
        )
    }

    #[cfg(test)]
    pub(super) fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }
}

/// A tokenizer of another kind.
pub(super) struct Refused {
    pub tokenizer: Tokenizer,
    pub reason: String,
}

/// The parts of a BERT tokenizer.
struct Parts {
    prefix: String,
    longest: usize,
    normalizer: BertNormalizer,
    unknown: u32,
    first: u32,
    last: u32,
    special: Vec<(Box<str>, u32)>,
}

impl Parts {
    /// Fails with the first thing in which the tokenizer is not a lower-casing BERT tokenizer.
    fn of(tokenizer: &Tokenizer) -> Result<Self, String> {
        let ModelWrapper::WordPiece(model) = tokenizer.get_model() else {
            return Err("the model is not WordPiece".into());
        };
        let normalizer = match tokenizer.get_normalizer() {
            Some(NormalizerWrapper::BertNormalizer(normalizer)) if normalizer.lowercase => *normalizer,
            _ => return Err("the normalizer is another one".into()),
        };
        if !matches!(tokenizer.get_pre_tokenizer(), Some(PreTokenizerWrapper::BertPreTokenizer(_))) {
            return Err("the pre-tokenizer is another one".into());
        }
        let id = |token: &str| tokenizer.token_to_id(token).ok_or_else(|| format!("there is no {token}"));
        let mut special = Vec::new();
        for (id, token) in tokenizer.get_added_tokens_decoder() {
            if !token.content.starts_with(|c: char| c.is_ascii_punctuation()) || token.normalized {
                return Err(format!("unexpected added token {:?}", token.content));
            }
            special.push((token.content.into_boxed_str(), id));
        }
        // Of two tokens that start alike, the longer one wins.
        special.sort_by_key(|(token, _)| std::cmp::Reverse(token.len()));
        Ok(Self {
            prefix: model.continuing_subword_prefix.clone(),
            longest: model.max_input_chars_per_word,
            normalizer,
            unknown: id(&model.unk_token)?,
            first: id("[CLS]")?,
            last: id("[SEP]")?,
            special,
        })
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
