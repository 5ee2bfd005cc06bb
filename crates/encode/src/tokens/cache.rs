use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

/// A token: its id, and where it ends, in bytes from the start of its word.
pub(super) type Piece = (u32, u32);

/// Words that were tokenised before. Bounded: a part that is full is emptied.
#[derive(Debug, Default)]
pub(super) struct Cache {
    hasher: RandomState,
    parts: [Mutex<Part>; 16],
}

type Part = HashMap<Box<str>, Arc<[Piece]>>;

/// Words in a part of the cache: with 16 parts, some 30 MB at most.
const PART: usize = 8_192;

impl Cache {
    /// The pieces of `word`, made where they are not there.
    pub fn get_or(&self, word: &str, make: impl FnOnce() -> Arc<[Piece]>) -> Arc<[Piece]> {
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
