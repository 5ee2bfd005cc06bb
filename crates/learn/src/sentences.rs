/// The token ids of a document's sentences, without special tokens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sentences {
    ids: Vec<u32>,
    ends: Vec<usize>,
}

impl Sentences {
    /// Puts sentences together from the ids of each. Of a longer one than `limit` only the first `limit` are kept: it is cut off inside its
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

    /// The number of sentences.
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

    /// The number of tokens that each sentence takes in a sequence of WeSWin: its own, and its `[SNT]`.
    #[must_use]
    pub fn tokens(&self) -> Vec<usize> {
        (0..self.len()).map(|i| self.of(i).len() + 1).collect()
    }
}
