//! The lines of a source, and how far they are indented.

use pericope_api::Span;

/// A line without the blanks at its ends. A list takes the marker off its first line by moving `start`.
#[derive(Debug, Clone, Copy)]
pub(in crate::formats) struct Line {
    pub(in crate::formats) start: usize,
    pub(in crate::formats) end: usize,
    /// Column of `start`, from 0; tabs reach to the next multiple of 8.
    pub(in crate::formats) indent: usize,
}

impl Line {
    pub(in crate::formats) fn is_blank(&self) -> bool {
        self.start >= self.end
    }

    pub(in crate::formats) fn of<'s>(&self, source: &'s str) -> &'s str {
        Span::new(self.start, self.end.max(self.start)).of(source)
    }
}

/// All lines of `source` from byte `from` on.
pub(in crate::formats) fn lines(source: &str, from: usize) -> Vec<Line> {
    let mut at = from;
    source[from..]
        .split_inclusive('\n')
        .map(|line| {
            let start = at + line.len() - line.trim_start().len();
            let line_end = at + line.trim_end().len();
            let indent = if start < line_end { columns(&source[at..start], 0) } else { 0 };
            at += line.len();
            Line { start, end: line_end.max(start), indent }
        })
        .collect()
}

/// The column after `text`, which begins in column `from`.
pub(in crate::formats) fn columns(text: &str, from: usize) -> usize {
    text.chars().fold(from, |column, c| if c == '\t' { column / 8 * 8 + 8 } else { column + 1 })
}

/// The character that a line of nothing else is made of, as those over and under titles are.
pub(in crate::formats) fn adornment(text: &str) -> Option<u8> {
    let first = *text.as_bytes().first()?;
    (first.is_ascii_punctuation() && text.bytes().all(|b| b == first)).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{adornment, lines};

    #[test]
    fn lines_know_their_indentation() {
        let source = "a\r\n  b \n\tc\n\n \u{2003}";
        let found: Vec<_> = lines(source, 0).iter().map(|line| (line.of(source), line.indent)).collect();
        assert_eq!(found[..4], [("a", 0), ("b", 2), ("c", 8), ("", 0)]);
        assert!(lines(source, 0).iter().skip(3).all(super::Line::is_blank));
        assert_eq!(
            (adornment("==="), adornment("=-="), adornment("aaa"), adornment("")),
            (Some(b'='), None, None, None)
        );
    }
}
