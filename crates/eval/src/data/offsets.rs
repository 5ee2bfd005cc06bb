/// Byte offsets of code points, in O(1) after one pass: Python's and JSON's offsets count code points, ours bytes.
pub(crate) struct CodePoints<'a> {
    text: &'a str,
    /// Byte offset of every 64th code point.
    every: Vec<usize>,
    count: usize,
}

const STEP: usize = 64;

impl<'a> CodePoints<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut every = Vec::with_capacity(text.len() / STEP + 1);
        let mut count = 0;
        for (offset, _) in text.char_indices() {
            if count % STEP == 0 {
                every.push(offset);
            }
            count += 1;
        }
        Self { text, every, count }
    }

    /// Byte offset of code point `index` (the text's length for the index one past the last); `None` beyond.
    pub(crate) fn byte(&self, index: usize) -> Option<usize> {
        if index >= self.count {
            return (index == self.count).then_some(self.text.len());
        }
        let base = *self.every.get(index / STEP)?;
        self.text[base..].char_indices().nth(index % STEP).map(|(offset, _)| base + offset)
    }

    /// Number of code points before byte `offset` (the text's length at most).
    pub(crate) fn index(&self, offset: usize) -> usize {
        let block = self.every.partition_point(|&at| at <= offset).saturating_sub(1);
        let base = self.every.get(block).copied().unwrap_or(0);
        let within = self.text.get(base..offset.min(self.text.len())).unwrap_or("");
        block * STEP + within.chars().count()
    }
}

#[cfg(test)]
mod tests {
    use super::CodePoints;

    #[test]
    fn agrees_with_a_walk() {
        let text: String = "aé漢😀".chars().cycle().take(500).collect();
        let points = CodePoints::new(&text);
        for (index, (offset, _)) in text.char_indices().enumerate() {
            assert_eq!(points.byte(index), Some(offset));
            assert_eq!(points.index(offset), index);
        }
        assert_eq!(points.byte(500), Some(text.len()));
        assert_eq!(points.index(text.len()), 500);
        assert_eq!(points.byte(501), None);
        assert_eq!(CodePoints::new("").byte(0), Some(0));
    }
}
