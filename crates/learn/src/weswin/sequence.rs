//! Sequences of token ids.

use super::partition::{Partition, Window};
use crate::sentences::Sentences;

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

/// A document and a question about it, in sequences `[CLS] s_a [SNT] ... s_b [SNT] [SEP] question [EOS]`, parted as `cr-1`.
///
/// The question is cut off at [`QUESTION`] tokens, and at half of what a sequence holds; a sentence at what is left.
#[derive(Debug, Clone)]
pub(crate) struct Asking {
    sentences: Sentences,
    question: Vec<u32>,
    budget: usize,
}

impl Asking {
    /// In sequences of at most `tokens` tokens (at least 16), special tokens included.
    pub(crate) fn new(sentences: &Sentences, question: &[u32], tokens: usize) -> Self {
        let all = tokens.saturating_sub(2);
        let question: Vec<u32> = question.iter().copied().take(QUESTION.min(all / 2)).collect();
        let budget = all.saturating_sub(question.len() + 1).max(1);
        let sentences = Sentences::new((0..sentences.len()).map(|i| sentences.of(i)), budget - 1);
        Self { sentences, question, budget }
    }

    pub(crate) fn windows(&self) -> Vec<Window> {
        Partition::Right(1).windows(&self.sentences.tokens(), self.budget)
    }

    /// As [`sequence`].
    pub(crate) fn sequence(&self, window: &Window, special: Special) -> (Vec<u32>, Vec<usize>) {
        let (mut ids, places) = sequence(&self.sentences, window, special);
        ids.extend_from_slice(&self.question);
        ids.push(special.end);
        (ids, places)
    }
}

/// The number of tokens of a question that are read.
pub const QUESTION: usize = 64;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Asking, Special, sequence};
    use crate::Sentences;
    use crate::weswin::{Partition, Window};

    proptest! {
        /// Whatever the sentences, the partition and the question are.
        #[test]
        fn no_sequence_is_longer_than_asked_for(
            lengths in proptest::collection::vec(0usize..90, 1..40), asked in 0usize..120,
            tokens in 16usize..140, k in 1usize..9, kind in 0usize..4,
        ) {
            let ids: Vec<Vec<u32>> = lengths.iter().map(|&n| vec![7; n]).collect();
            let sentences = Sentences::new(ids.iter().map(Vec::as_slice), tokens - 3);
            let special = Special { start: 1, end: 2, sentence: 3 };
            let partition = match kind {
                0 => Partition::Right(k),
                1 => Partition::Both(k),
                2 => Partition::Stride(k),
                _ => Partition::Intersection(k),
            };
            for window in partition.windows(&sentences.tokens(), tokens - 2) {
                let (ids, places) = sequence(&sentences, &window, special);
                prop_assert!(ids.len() <= tokens, "{} of {}", ids.len(), tokens);
                prop_assert!(places.len() == window.active.len() && places.iter().all(|&at| ids[at] == 3));
            }
            let asking = Asking::new(&sentences, &vec![9; asked], tokens);
            let mut labelled = 0;
            for window in asking.windows() {
                let (ids, places) = asking.sequence(&window, special);
                prop_assert!(ids.len() <= tokens, "{} of {}", ids.len(), tokens);
                prop_assert_eq!(ids.iter().filter(|&&id| id == 9).count(), asked.min(64).min((tokens - 2) / 2));
                labelled += places.len();
            }
            prop_assert_eq!(labelled, lengths.len());
        }
    }

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
