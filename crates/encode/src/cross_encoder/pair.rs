use crate::encoders::Kind;

/// How a family of encoders writes a query and a passage as one sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The token before the query.
    pub start: u32,
    /// The token behind the query, and behind the passage.
    pub end: u32,
    /// How often [`end`](Self::end) stands between the two: twice in RoBERTa.
    pub between: usize,
    /// Whether the passage is of segment type 1.
    pub is_typed: bool,
    /// Tokens of a sequence at most, special tokens included.
    pub window: usize,
}

/// The part of the window, less special tokens, that a passage may always have: a quarter. A query is cut off that leaves less.
const PASSAGE: usize = 4;

impl Layout {
    pub fn new(kind: Kind, (start, end): (u32, u32), window: usize) -> Self {
        let between = if kind == Kind::Roberta { 2 } else { 1 };
        Self { start, end, between, is_typed: kind == Kind::Bert, window }
    }

    /// Tokens that query and passage may have together.
    fn room(&self) -> usize {
        self.window.saturating_sub(2 + self.between)
    }

    /// Tokens of a query that are read, at most.
    pub fn query(&self) -> usize {
        self.room() - self.room() / PASSAGE
    }

    /// Tokens of a passage that are read beside a query of so many, at most.
    pub fn passage(&self, query: usize) -> usize {
        self.room().saturating_sub(query)
    }

    /// The sequence, and the place from which on tokens are of segment type 1. Only the passage is cut off
    /// (`only_second`); the query has been.
    pub fn sequence(&self, query: &[u32], passage: &[u32]) -> (Vec<u32>, usize) {
        let mut ids = Vec::with_capacity(self.window);
        ids.push(self.start);
        ids.extend_from_slice(query);
        ids.extend(std::iter::repeat_n(self.end, self.between));
        let second = ids.len();
        ids.extend(passage.iter().take(self.passage(query.len())));
        ids.push(self.end);
        let second = if self.is_typed { second } else { ids.len() };
        (ids, second)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Layout;
    use crate::encoders::Kind;

    #[test]
    fn sequences_by_hand() {
        let bert = Layout::new(Kind::Bert, (1, 2), 9);
        assert_eq!(bert.sequence(&[7, 8], &[5, 6]), (vec![1, 7, 8, 2, 5, 6, 2], 4));
        // Only the passage is cut off.
        assert_eq!(bert.sequence(&[7, 8], &[5; 20]).0, [1, 7, 8, 2, 5, 5, 5, 5, 2]);
        let roberta = Layout::new(Kind::Roberta, (0, 2), 9);
        assert_eq!(roberta.sequence(&[7, 8], &[5; 20]), (vec![0, 7, 8, 2, 2, 5, 5, 5, 2], 9));
        let distil = Layout::new(Kind::DistilBert, (1, 2), 9);
        assert_eq!(distil.sequence(&[7], &[]), (vec![1, 7, 2, 2], 4));
        assert_eq!((bert.query(), roberta.query()), (5, 4));
    }

    proptest! {
        #[test]
        fn no_sequence_is_longer_than_the_window(
            window in 8usize..64, query in 0usize..80, passage in 0usize..80, roberta in any::<bool>(),
        ) {
            let layout = Layout::new(if roberta { Kind::Roberta } else { Kind::Bert }, (1, 2), window);
            let (query, passage) = (vec![7; query.min(layout.query())], vec![5; passage]);
            let (ids, second) = layout.sequence(&query, &passage);
            prop_assert!(ids.len() <= window && second <= ids.len());
            let read = ids.iter().filter(|id| **id == 5).count();
            prop_assert_eq!(read, passage.len().min(layout.passage(query.len())));
            prop_assert!(layout.passage(query.len()) > 0);
        }
    }
}
