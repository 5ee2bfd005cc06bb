/// A set of rows. Empty, it takes no memory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Bits {
    words: Vec<u64>,
}

impl Bits {
    /// The set of these words, 64 rows a word, lowest bit first.
    pub fn of_words(words: Vec<u64>) -> Self {
        Self { words }
    }

    pub fn words(&self) -> &[u64] {
        &self.words
    }

    pub fn holds(&self, row: usize) -> bool {
        self.words.get(row / 64).is_some_and(|word| word >> (row % 64) & 1 == 1)
    }

    /// Adds a row; `rows` is how many there can be.
    pub fn add(&mut self, row: usize, rows: usize) {
        if self.words.is_empty() {
            self.words = vec![0; rows.div_ceil(64)];
        }
        if let Some(word) = self.words.get_mut(row / 64) {
            *word |= 1 << (row % 64);
        }
    }

    pub fn count(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }
}
