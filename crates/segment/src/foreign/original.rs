use std::collections::HashMap;
use std::sync::Arc;

use pericope_api::Span;

/// What others know of a document that is another one here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Original {
    /// Its text before words were taken out, of the same length in bytes; `None` where it is the same.
    pub text: Option<Arc<str>>,
    /// Another name: its path as it was typed.
    pub path: Option<String>,
}

/// The documents that others know otherwise, by their ids here.
pub type Originals = HashMap<String, Original>;

/// A range that may begin or end within a character of `source`, widened to whole ones: where words were taken out, a mark
/// of two bytes may stand in the place of two letters.
#[must_use]
pub fn on_characters(source: &str, span: Span) -> Span {
    let start = (0..=span.start).rev().find(|&at| source.is_char_boundary(at));
    let end = (span.end..=source.len()).find(|&at| source.is_char_boundary(at));
    Span::new(start.unwrap_or(0), end.unwrap_or(source.len()))
}

#[cfg(test)]
mod tests {
    use pericope_api::Span;

    use super::on_characters;

    #[test]
    fn ranges_hold_whole_characters() {
        for (span, wide) in [((0, 1), (0, 2)), ((1, 2), (0, 2)), ((2, 3), (2, 3)), ((1, 9), (0, 3))] {
            assert_eq!(on_characters("§a", Span::new(span.0, span.1)), Span::new(wide.0, wide.1));
        }
    }
}
