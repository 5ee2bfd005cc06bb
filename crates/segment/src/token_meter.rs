use std::cell::OnceCell;

use pericope_api::{Span, TokenCounter, TokenMap};

use crate::chars::{floor, is_clean};

/// Measures spans of one text in tokens (special tokens not counted). The text is tokenised once, when first asked.
pub(crate) struct TokenMeter<'a> {
    pub source: &'a str,
    counter: &'a dyn TokenCounter,
    map: OnceCell<TokenMap>,
}

impl<'a> TokenMeter<'a> {
    pub fn new(source: &'a str, counter: &'a dyn TokenCounter) -> Self {
        Self { source, counter, map: OnceCell::new() }
    }

    fn map(&self) -> &TokenMap {
        self.map.get_or_init(|| TokenMap::new(self.source, self.counter))
    }

    /// Tokens that are added to every chunk.
    pub fn special(&self) -> usize {
        self.counter.special_tokens()
    }

    /// Tokens of the whole text that end inside the span: what the span alone gives, save where it cuts a word.
    pub fn estimate(&self, span: Span) -> usize {
        self.map().count(span)
    }

    /// Tokens of the whole text that end at or before `at`.
    pub fn index(&self, at: usize) -> usize {
        self.map().index_after(at)
    }

    /// Tokens of the span's text.
    pub fn exact(&self, span: Span) -> usize {
        if is_clean(self.source, span.start) && is_clean(self.source, span.end) {
            return self.estimate(span);
        }
        self.counter.count(span.of(self.source))
    }

    /// True where the span's text has at most `tokens` tokens.
    pub fn fits(&self, span: Span, tokens: usize) -> bool {
        self.estimate(span) <= tokens && self.exact(span) <= tokens
    }

    /// Where the next `tokens` tokens (at least one) after `from` end, at a character boundary; the end of the text
    /// where no more than these follow.
    pub fn ahead(&self, from: usize, tokens: usize) -> usize {
        let last = self.index(from).saturating_add(tokens.max(1));
        if last >= self.map().ends().len() {
            return self.source.len();
        }
        floor(self.source, self.map().ends().get(last - 1).copied().unwrap_or(from))
    }

    /// Where the last `tokens` tokens before `to` begin (white space before the first included).
    pub fn back(&self, to: usize, tokens: usize) -> usize {
        let first = self.index(to).saturating_sub(tokens);
        first.checked_sub(1).and_then(|i| self.map().ends().get(i)).map_or(0, |&end| floor(self.source, end))
    }
}
