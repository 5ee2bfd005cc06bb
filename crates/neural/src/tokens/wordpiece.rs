use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use tokenizers::{ModelWrapper, NormalizerWrapper, PreTokenizerWrapper, Tokenizer};

use super::chars::Classes;
use super::trie::{Root, Trie};
use super::units::{Kind, Units};
use crate::models::ModelError;

/// A token: its id, and where it ends, in bytes from the start of its word.
type Piece = (u32, u32);

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
        let bytes = std::fs::read(path).map_err(ModelError::io(path))?;
        let mut tokenizer = Tokenizer::from_bytes(&bytes).map_err(|e| ModelError::unusable(path, e))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| ModelError::unusable(path, e))?;

        let not_bert = |what: &str| ModelError::unusable(path, format!("not a lower-casing BERT tokenizer: {what}"));
        let ModelWrapper::WordPiece(model) = tokenizer.get_model() else {
            return Err(not_bert("the model is not WordPiece"));
        };
        let (prefix, longest) = (model.continuing_subword_prefix.clone(), model.max_input_chars_per_word);
        let unknown = model.unk_token.clone();
        let normalizer = match tokenizer.get_normalizer() {
            Some(NormalizerWrapper::BertNormalizer(normalizer)) if normalizer.lowercase => *normalizer,
            _ => return Err(not_bert("the normalizer is another one")),
        };
        if !matches!(tokenizer.get_pre_tokenizer(), Some(PreTokenizerWrapper::BertPreTokenizer(_))) {
            return Err(not_bert("the pre-tokenizer is another one"));
        }
        let id = |token: &str| tokenizer.token_to_id(token).ok_or_else(|| not_bert(&format!("there is no {token}")));
        let (unknown, first, last) = (id(&unknown)?, id("[CLS]")?, id("[SEP]")?);
        let mut special = Vec::new();
        for (id, token) in tokenizer.get_added_tokens_decoder() {
            if !token.content.starts_with(|c: char| c.is_ascii_punctuation()) || token.normalized {
                return Err(not_bert(&format!("unexpected added token {:?}", token.content)));
            }
            special.push((token.content.into_boxed_str(), id));
        }
        // Of two tokens that start alike, the longer one wins.
        special.sort_by_key(|(token, _)| std::cmp::Reverse(token.len()));
        let vocabulary = tokenizer.get_vocab(false);
        let trie = Trie::new(vocabulary.iter().map(|(token, &id)| (token.as_str(), id)), &prefix);
        let classes = Classes::new(normalizer);
        Ok(Self { classes, trie, special, longest, unknown, first, last, tokenizer, cache: Cache::default() })
    }

    /// The ids that a model reads: `[CLS]`, the tokens of `text`, `[SEP]`, together at most `limit` (at least 2); what
    /// lies beyond is not read.
    #[must_use]
    pub fn encode(&self, text: &str, limit: usize) -> Vec<u32> {
        let room = limit.saturating_sub(1).max(1);
        let mut ids = vec![self.first];
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
        ids.push(self.last);
        ids
    }

    /// The ids of `text` alone, at most `limit` of them.
    #[must_use]
    pub fn pieces_of(&self, text: &str, limit: usize) -> Vec<u32> {
        let mut ids = self.encode(text, limit.saturating_add(2));
        ids.pop();
        ids.drain(..ids.len().min(1));
        ids
    }

    /// The ids of `[CLS]` and `[SEP]`.
    #[must_use]
    pub fn ends_of_sequences(&self) -> (u32, u32) {
        (self.first, self.last)
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

/// Words that were tokenised before. Bounded: a part that is full is emptied.
#[derive(Debug, Default)]
struct Cache {
    hasher: RandomState,
    parts: [Mutex<Part>; 16],
}

type Part = HashMap<Box<str>, Arc<[Piece]>>;

/// Words in a part of the cache: with 16 parts, some 30 MB at most.
const PART: usize = 8_192;

impl Cache {
    fn get_or(&self, word: &str, make: impl FnOnce() -> Arc<[Piece]>) -> Arc<[Piece]> {
        let part = &self.parts[(self.hasher.hash_one(word) >> 60) as usize];
        // A thread that panicked while it held the lock cannot have left a half-made entry.
        if let Some(found) = part.lock().unwrap_or_else(PoisonError::into_inner).get(word) {
            return Arc::clone(found);
        }
        let made = make();
        let mut part = part.lock().unwrap_or_else(PoisonError::into_inner);
        if part.len() >= PART {
            part.clear();
        }
        part.insert(word.into(), Arc::clone(&made));
        made
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
