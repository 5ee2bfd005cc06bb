use crate::Span;

/// Counts tokens, and finds their ends.
pub trait TokenCounter: Send + Sync {
    /// Name, as in `--tokenizer`: `minilm`, `words`.
    fn name(&self) -> &str;

    /// Appends the byte offset at which each token of `text` ends, in order (offsets may repeat where several tokens
    /// end at the same byte).
    ///
    /// A counter must be additive over pieces cut at white space: the tokens of `"a b"` are those of `"a"` and of `"b"`.
    fn token_ends(&self, text: &str, ends: &mut Vec<usize>);

    /// Tokens that the model adds to every text (`[CLS]`, `[SEP]`): part of every chunk's count.
    fn special_tokens(&self) -> usize {
        0
    }

    /// The number of tokens of `text`, without special tokens.
    fn count(&self, text: &str) -> usize {
        let mut ends = Vec::new();
        self.token_ends(text, &mut ends);
        ends.len()
    }
}

/// The tokens of one document, found once, so that any range is counted in O(log n).
#[derive(Debug, Clone, Default)]
pub struct TokenMap {
    ends: Vec<usize>,
}

impl TokenMap {
    /// Tokenises `source` piece by piece (cut at line ends, or at white space where a line is very long), so that
    /// memory stays within a small multiple of the token count.
    #[must_use]
    pub fn new(source: &str, counter: &dyn TokenCounter) -> Self {
        const PIECE: usize = 16 * 1024;
        let mut ends = Vec::new();
        let mut start = 0;
        while start < source.len() {
            let end = piece_end(source, start, PIECE);
            let from = ends.len();
            counter.token_ends(&source[start..end], &mut ends);
            for offset in &mut ends[from..] {
                *offset += start;
            }
            start = end;
        }
        Self { ends }
    }

    /// The number of tokens that end inside `span` (special tokens not counted). Exact where the span begins and ends
    /// between words.
    #[must_use]
    pub fn count(&self, span: Span) -> usize {
        self.index_after(span.end) - self.index_after(span.start)
    }

    /// The number of tokens that end at or before byte `offset`.
    #[must_use]
    pub fn index_after(&self, offset: usize) -> usize {
        self.ends.partition_point(|&end| end <= offset)
    }

    /// The byte offset of the end of each token, in order.
    #[must_use]
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }
}

/// End of a piece of about `size` bytes that starts at `start`: after a white-space character, or, where `size` bytes
/// hold none, after the next one (a single word is never cut).
fn piece_end(source: &str, start: usize, size: usize) -> usize {
    if source.len() - start <= size {
        return source.len();
    }
    let mut middle = start + size;
    while !source.is_char_boundary(middle) {
        middle += 1;
    }
    let head = &source[start..middle];
    if let Some(at) = head.rfind('\n').or_else(|| head.rfind(char::is_whitespace)).filter(|&at| at > 0) {
        let width = head[at..].chars().next().map_or(1, char::len_utf8);
        return start + at + width;
    }
    source[middle..].find(char::is_whitespace).map_or(source.len(), |at| middle + at)
}

#[cfg(test)]
mod tests {
    use super::{TokenCounter, TokenMap};
    use crate::Span;

    struct Words;

    impl TokenCounter for Words {
        fn name(&self) -> &str {
            "test-words"
        }

        fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
            let mut at = 0;
            for word in text.split(' ') {
                at += word.len();
                if !word.is_empty() {
                    ends.push(at);
                }
                at += 1;
            }
        }
    }

    #[test]
    fn counts_ranges_without_tokenising_again() {
        let source = "a bb ccc ".repeat(5_000);
        let map = TokenMap::new(&source, &Words);
        assert_eq!(map.count(Span::new(0, source.len())), 15_000);
        assert_eq!(map.count(Span::new(2, 9)), 2);
        assert_eq!(map.count(Span::new(9, 9)), 0);
    }

    #[test]
    fn a_word_longer_than_a_piece_is_one_token() {
        let source = format!("{} {}", "x".repeat(100_000), "é".repeat(30_000));
        assert_eq!(TokenMap::new(&source, &Words).ends().len(), 2);
    }
}
