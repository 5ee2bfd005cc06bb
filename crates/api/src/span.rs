use serde::{Deserialize, Serialize};

/// A half-open range of bytes, `start..end`, into a document's source. Both ends lie on UTF-8 character boundaries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The span `start..end`; an `end` before `start` gives an empty span at `start`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Number of bytes; 0 of a span from a file whose end comes before its start.
    #[must_use]
    pub fn len(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    /// True when no byte is covered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// The bytes that both spans cover, if there is at least one.
    #[must_use]
    pub fn intersection(&self, other: &Span) -> Option<Span> {
        let (start, end) = (self.start.max(other.start), self.end.min(other.end));
        (start < end).then_some(Span { start, end })
    }

    /// The smallest span that covers both.
    #[must_use]
    pub fn hull(&self, other: &Span) -> Span {
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// True when `other` lies inside.
    #[must_use]
    pub fn contains(&self, other: &Span) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The text under the span: empty where the span does not fit `source` (out of range, or inside a character).
    #[must_use]
    pub fn of<'a>(&self, source: &'a str) -> &'a str {
        source.get(self.start..self.end).unwrap_or("")
    }

    /// The span without the white space at its two ends; empty (at its start) where it is all white space.
    #[must_use]
    pub fn trimmed(&self, source: &str) -> Span {
        let text = self.of(source);
        let left = text.len() - text.trim_start().len();
        let body = text.trim();
        if body.is_empty() {
            return Span { start: self.start, end: self.start };
        }
        Span { start: self.start + left, end: self.start + left + body.len() }
    }
}

impl From<std::ops::Range<usize>> for Span {
    fn from(range: std::ops::Range<usize>) -> Self {
        Span::new(range.start, range.end)
    }
}

impl From<Span> for std::ops::Range<usize> {
    fn from(span: Span) -> Self {
        span.start..span.end
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn touching_spans_do_not_intersect() {
        assert_eq!(Span::new(0, 4).intersection(&Span::new(4, 8)), None);
        assert_eq!(Span::new(0, 5).intersection(&Span::new(4, 8)), Some(Span::new(4, 5)));
    }

    #[test]
    fn trimming_keeps_characters_whole() {
        let source = "\u{2003} é! \n";
        let span = Span::new(0, source.len()).trimmed(source);
        assert_eq!(span.of(source), "é!");
        assert!(Span::new(0, 1).trimmed("  ").is_empty());
    }
}
