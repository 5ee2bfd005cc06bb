use std::cell::OnceCell;
use std::ops::Range;

use memchr::memmem;
use pericope_api::Span;

/// Looks for texts in a document.
#[derive(Debug)]
pub struct Finder<'a> {
    source: &'a str,
    squeezed: OnceCell<Squeezed>,
}

/// Where a text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence {
    /// It stands there letter for letter: the first of perhaps several places.
    Exact(Span),
    /// It stands there but for its white space, and nowhere else.
    Blanks(Span),
    /// But for its white space it stands at several places.
    Several,
    /// It does not stand there.
    Nowhere,
}

/// A text with one space in the place of every run of white space.
#[derive(Debug)]
struct Squeezed {
    text: String,
    /// For each byte of `text`, where the character that it belongs to begins in the source.
    starts: Vec<usize>,
}

impl Squeezed {
    fn of(source: &str) -> Self {
        let mut squeezed = Self { text: String::with_capacity(source.len()), starts: Vec::with_capacity(source.len()) };
        let mut blank = true;
        for (at, letter) in source.char_indices() {
            let is_blank = letter.is_whitespace();
            if !(is_blank && blank) {
                let shown = if is_blank { ' ' } else { letter };
                squeezed.text.push(shown);
                squeezed.starts.resize(squeezed.text.len(), at);
            }
            blank = is_blank;
        }
        squeezed
    }
}

impl<'a> Finder<'a> {
    /// Returns a finder for one text.
    #[must_use]
    pub fn new(source: &'a str) -> Self {
        Self { source, squeezed: OnceCell::new() }
    }

    /// Looks for a text that begins at byte `after` or later and ends behind byte `beyond`: letter for letter first, then with all white
    /// space alike, where that leaves one place alone. The white space at its ends counts in the first search only.
    #[must_use]
    pub fn find(&self, text: &str, after: usize, beyond: usize) -> Occurrence {
        if text.trim().is_empty() {
            return Occurrence::Nowhere;
        }
        // What begins later, but ends too early, begins before this.
        let from = after.max(beyond.saturating_add(1).saturating_sub(text.len()));
        let from = (from..=self.source.len()).find(|&at| self.source.is_char_boundary(at));
        if let Some(from) = from
            && let Some(found) = memmem::find(&self.source.as_bytes()[from..], text.as_bytes())
        {
            return Occurrence::Exact(Span::new(from + found, from + found + text.len()));
        }
        self.find_squeezed(text, after, beyond)
    }

    fn find_squeezed(&self, text: &str, after: usize, beyond: usize) -> Occurrence {
        let squeezed = self.squeezed.get_or_init(|| Squeezed::of(self.source));
        let wanted = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let from = squeezed.starts.partition_point(|&start| start < after);
        let places = memmem::find_iter(squeezed.text.as_bytes().get(from..).unwrap_or_default(), wanted.as_bytes());
        let mut spans = places
            .map(|at| self.span(squeezed, from + at..from + at + wanted.len()))
            .filter(|span| span.start >= after && span.end > beyond);
        match (spans.next(), spans.next()) {
            (None, _) => Occurrence::Nowhere,
            (Some(span), None) => Occurrence::Blanks(span),
            (Some(_), Some(_)) => Occurrence::Several,
        }
    }

    /// The bytes of the source that a range of the squeezed text was made of.
    fn span(&self, squeezed: &Squeezed, range: Range<usize>) -> Span {
        let start = squeezed.starts.get(range.start).copied().unwrap_or(self.source.len());
        let last = range.end.checked_sub(1).and_then(|last| squeezed.starts.get(last)).copied().unwrap_or(start);
        let length = self.source.get(last..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Span::new(start, last + length)
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::Span;
    use proptest::prelude::*;

    use super::{Finder, Occurrence};

    #[test]
    fn texts_are_found_in_order_and_with_any_white_space() {
        let source = "One  two.\n\nÜber drei. One  two. Vier\tfünf";
        let finder = Finder::new(source);
        assert_eq!(finder.find("One  two.", 0, 0), Occurrence::Exact(Span::new(0, 9)));
        assert_eq!(finder.find("One  two.", 1, 9), Occurrence::Exact(Span::new(23, 32)));
        // Inside the chunk before is no place for the next one.
        assert_eq!(finder.find("two", 1, 9), Occurrence::Exact(Span::new(28, 31)));
        assert_eq!(finder.find("two. Über", 1, 3), Occurrence::Blanks(Span::new(5, 16)));
        assert_eq!(finder.find(" Vier\nfünf\n", 1, 3), Occurrence::Blanks(Span::new(33, source.len())));
        assert_eq!(finder.find("One two.", 0, 0), Occurrence::Several);
        assert_eq!(finder.find("One two.", 1, 9), Occurrence::Blanks(Span::new(23, 32)));
        for gone in ["six", "", " ", "Ones"] {
            assert_eq!(finder.find(gone, 0, 0), Occurrence::Nowhere, "{gone:?}");
        }
        assert_eq!(finder.find("One", source.len() + 9, 0), Occurrence::Nowhere);
    }

    proptest! {
        #[test]
        fn pieces_of_a_text_are_found_in_it(source in "[ab é\\n\u{3000}]{1,40}", cuts in (0usize..40, 1usize..20), from in 0usize..50) {
            let finder = Finder::new(&source);
            let letters: Vec<(usize, char)> = source.char_indices().collect();
            let start = letters[cuts.0 % letters.len()].0;
            let piece: String = source[start..].chars().take(cuts.1).collect();
            if !piece.trim().is_empty() {
                let Occurrence::Exact(span) = finder.find(&piece, 0, 0) else { panic!("{piece:?} in {source:?}") };
                prop_assert!(span.of(&source) == piece && span.start <= start);
                let spaced = piece.replace('\n', " \n ");
                let found = finder.find(&spaced, 0, 0);
                prop_assert!(found != Occurrence::Nowhere, "{spaced:?} in {source:?}");
            }
            // No place is before the one that was asked for, nor off a character.
            match finder.find(&piece, from, from) {
                Occurrence::Exact(span) | Occurrence::Blanks(span) => {
                    prop_assert!(span.start >= from && span.end > from && source.get(span.start..span.end).is_some());
                }
                Occurrence::Several | Occurrence::Nowhere => {}
            }
        }
    }
}
