//! Sequences of a query and blocks.

use std::ops::Range;

/// L: tokens of a sequence at most, where the model reads as many.
pub const TOKENS: usize = 512;
/// B: tokens of a block at most.
pub const BLOCK: usize = 63;
/// Tokens of a query that are read.
pub const QUERY: usize = 64;

/// The ids of `[CLS] Q [SEP] z_0 [SEP] ... z_{n-1} [SEP]`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sequence {
    /// The ids.
    pub ids: Vec<u32>,
    /// The places of each block's tokens, its `[SEP]` not among them.
    pub blocks: Vec<Range<usize>>,
}

impl Sequence {
    /// The places of the query's tokens.
    #[must_use]
    pub fn query(&self) -> Range<usize> {
        // Between [CLS] and [SEP].
        let end = self.blocks.first().map_or(self.ids.len(), |first| first.start);
        1..end.saturating_sub(1).max(1)
    }
}

/// Puts a query and blocks together; `special` are the ids of `[CLS]` and `[SEP]`.
///
/// ```
/// use pericope_learn::cogltx::sequence;
///
/// let made = sequence(&[7, 8], [&[4][..], &[5, 6]], (1, 2));
/// assert_eq!(made.query(), 1..3);
/// assert_eq!((made.ids, made.blocks), (vec![1, 7, 8, 2, 4, 2, 5, 6, 2], vec![4..5, 6..8]));
/// ```
#[must_use]
pub fn sequence<'a>(query: &[u32], blocks: impl IntoIterator<Item = &'a [u32]>, (start, end): (u32, u32)) -> Sequence {
    let mut ids = vec![start];
    ids.extend_from_slice(query);
    ids.push(end);
    let mut places = Vec::new();
    for block in blocks {
        let from = ids.len();
        ids.extend_from_slice(block);
        places.push(from..ids.len());
        ids.push(end);
    }
    Sequence { ids, blocks: places }
}

/// The tokens that a query takes in a sequence, its special ones included.
pub(super) fn query_room(query: &[u32]) -> usize {
    query.len() + 2
}
