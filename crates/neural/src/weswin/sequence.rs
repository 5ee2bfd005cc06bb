//! Sequences of token ids.

use super::partition::Window;

/// The token ids of a document's sentences, without special tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sentences {
    ids: Vec<u32>,
    ends: Vec<usize>,
}

impl Sentences {
    /// From each sentence's ids. Of a longer one than `limit` only the first `limit` are kept: it is cut off inside its
    /// sequence, never dropped.
    pub fn new<'a>(sentences: impl IntoIterator<Item = &'a [u32]>, limit: usize) -> Self {
        let mut all = Self::default();
        sentences.into_iter().for_each(|ids| all.push(ids, limit));
        all
    }

    /// Appends a sentence; see [`Sentences::new`].
    pub fn push(&mut self, ids: &[u32], limit: usize) {
        self.ids.extend_from_slice(&ids[..ids.len().min(limit)]);
        self.ends.push(self.ids.len());
    }

    /// Number of sentences.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True where there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The ids of sentence `i`, 0-based.
    #[must_use]
    pub fn of(&self, i: usize) -> &[u32] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.ids[start..self.ends[i]]
    }

    /// Tokens that each sentence takes in a sequence: its own, and its `[SNT]`.
    #[must_use]
    pub fn tokens(&self) -> Vec<usize> {
        (0..self.len()).map(|i| self.of(i).len() + 1).collect()
    }
}

/// The token ids that stand for what is not text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Special {
    /// `[CLS]`, `<s>`.
    pub start: u32,
    /// `[SEP]`, `</s>`: ends a sequence, and stands before a question.
    pub end: u32,
    /// `[SNT]`, behind every sentence.
    pub sentence: u32,
}

/// The ids of a window's sequence, and the place of each `[SNT]` that is labelled.
#[must_use]
pub fn sequence(sentences: &Sentences, window: &Window, special: Special) -> (Vec<u32>, Vec<usize>) {
    let mut ids = vec![special.start];
    let mut places = Vec::with_capacity(window.active.len());
    for i in window.read.clone() {
        ids.extend_from_slice(sentences.of(i));
        if window.active.contains(&i) {
            places.push(ids.len());
        }
        ids.push(special.sentence);
    }
    ids.push(special.end);
    (ids, places)
}

#[cfg(test)]
mod tests {
    use super::{Sentences, Special, sequence};
    use crate::weswin::Window;

    #[test]
    fn a_sequence_by_hand() {
        let sentences = Sentences::new([&[7, 8, 9][..], &[], &[5], &[6]], 2);
        assert_eq!((sentences.len(), sentences.of(0), sentences.tokens()), (4, &[7, 8][..], vec![3, 1, 2, 2]));
        let special = Special { start: 1, end: 2, sentence: 3 };
        let (ids, places) = sequence(&sentences, &Window { read: 0..3, active: 1..3 }, special);
        assert_eq!(ids, [1, 7, 8, 3, 3, 5, 3, 2]);
        assert_eq!(places, [4, 6]);
    }
}
