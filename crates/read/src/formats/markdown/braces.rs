//! Where braces, strings and tags of MDX close.
//!
//! Any brace may be asked for, and many may close at one place or nowhere, so the answers for all of them are worked out
//! at once, from the end of the text to its beginning.

use std::collections::HashSet;

use crate::work;

/// The closing places in a text, worked out when they are asked for first.
pub(super) struct Closings<'a> {
    bytes: &'a [u8],
    /// For each place that matters to braces, from the last to the first: the brace that closes what is open there.
    braces: Option<Vec<(usize, Option<usize>)>>,
    /// The places that matter to tags, from the first to the last.
    marks: Option<Vec<usize>>,
    /// Places among them from which no tag closes.
    dead: HashSet<usize>,
}

impl<'a> Closings<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, braces: None, marks: None, dead: HashSet::new() }
    }

    /// The brace that closes the one at byte `at`; strings and comments may hold others.
    pub(super) fn brace(&mut self, at: usize) -> Option<usize> {
        let bytes = self.bytes;
        let braces = self.braces.get_or_insert_with(|| braces(bytes));
        closing(braces, at + 1)
    }

    /// The `>` of a tag whose attributes go on at byte `at`. With `unbalanced`, an expression in braces is no part of one.
    pub(super) fn tag(&mut self, at: usize, unbalanced: bool) -> TagEnd {
        let bytes = self.bytes;
        let marks = self.marks.get_or_insert_with(|| {
            work::looked(bytes.len());
            (0..bytes.len()).filter(|&i| matches!(bytes[i], b'>' | b'<' | b'{' | b'"' | b'\'')).collect()
        });
        let mut next = marks.partition_point(|&mark| mark < at);
        let mut passed = Vec::new();
        let mut braces = false;
        let end = loop {
            let Some(&mark) = marks.get(next) else { break TagEnd::Missing };
            work::looked(1);
            if self.dead.contains(&mark) {
                break TagEnd::None;
            }
            passed.push(mark);
            let after = match bytes[mark] {
                b'>' => return TagEnd::At { end: mark, braces },
                b'<' => break TagEnd::None,
                b'{' if unbalanced => break TagEnd::None,
                b'{' => {
                    braces = true;
                    let known = self.braces.get_or_insert_with(|| self::braces(bytes));
                    match closing(known, mark + 1) {
                        Some(close) => close + 1,
                        None => break TagEnd::Unbalanced,
                    }
                }
                quote => match work::memchr(quote, &bytes[mark + 1..]) {
                    Some(len) => mark + len + 2,
                    None => break TagEnd::None,
                },
            };
            next += marks[next..].partition_point(|&mark| mark < after);
        };
        self.dead.extend(passed);
        end
    }
}

/// The end of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TagEnd {
    /// The byte of its `>`; `braces`: there is an expression before it.
    At { end: usize, braces: bool },
    /// It is no tag.
    None,
    /// It has a brace that nothing closes.
    Unbalanced,
    /// The text is over.
    Missing,
}

/// The first brace at or after byte `at`, outside strings and comments, that closes what was open before `at`.
fn closing(braces: &[(usize, Option<usize>)], at: usize) -> Option<usize> {
    let later = braces.partition_point(|&(place, _)| place >= at);
    braces.get(later.checked_sub(1)?)?.1
}

/// For each brace, quote and beginning of a comment, from the last to the first: the brace that closes what is open there,
/// if a scan arrives that is in no string and no comment.
fn braces(bytes: &[u8]) -> Vec<(usize, Option<usize>)> {
    work::looked(bytes.len());
    let mut found: Vec<(usize, Option<usize>)> = Vec::new();
    let mut strings = [b'"', b'\'', b'`'].map(Strings::new);
    // The two next ends of comments.
    let mut comments = (None, None);
    for at in (0..bytes.len()).rev() {
        let byte = bytes[at];
        let close = match byte {
            b'}' => Some(Some(at)),
            b'{' => Some(closing(&found, at + 1).and_then(|close| closing(&found, close + 1))),
            b'/' if bytes.get(at + 1) == Some(&b'*') => {
                let end = [comments.0, comments.1].into_iter().flatten().find(|&end: &usize| end >= at + 2);
                Some(end.and_then(|end| closing(&found, end + 2)))
            }
            b'"' | b'\'' | b'`' => {
                // A quote that its line does not close stands for itself.
                let end = strings.iter().find(|string| string.quote == byte).and_then(|string| string.end_from(at + 1));
                Some(closing(&found, end.unwrap_or(at) + 1))
            }
            _ => None,
        };
        if let Some(close) = close {
            found.push((at, close));
        }
        if byte == b'*' && bytes.get(at + 1) == Some(&b'/') {
            comments = (Some(at), comments.0);
        }
        for string in &mut strings {
            string.step(at, byte);
        }
    }
    found
}

/// The ends of strings in one kind of quotes, seen from two neighbouring bytes.
struct Strings {
    quote: u8,
    /// The closing quote as seen from byte `at`, and as seen from the byte after it.
    ends: [Option<usize>; 2],
    at: usize,
}

impl Strings {
    fn new(quote: u8) -> Self {
        Self { quote, ends: [None; 2], at: usize::MAX }
    }

    /// The closing quote of a string whose text begins at byte `from`, which is the byte of the last step.
    fn end_from(&self, from: usize) -> Option<usize> {
        if self.at == from { self.ends[0] } else { None }
    }

    /// Goes on to `byte` at byte `at`, the one before the last.
    fn step(&mut self, at: usize, byte: u8) {
        let end = match byte {
            b'\\' => self.ends[1],
            b'\n' if self.quote != b'`' => None,
            byte if byte == self.quote => Some(at),
            _ => self.ends[0],
        };
        self.ends = [end, self.ends[0]];
        self.at = at;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Closings, TagEnd, closing};

    /// The brace that closes the one at byte `at`, by a scan from there.
    fn scanned(bytes: &[u8], at: usize) -> Option<usize> {
        let string_end = |at: usize| {
            let mut i = at + 1;
            while let Some(&b) = bytes.get(i) {
                match b {
                    b'\\' => i += 1,
                    b'\n' if bytes[at] != b'`' => return at,
                    b if b == bytes[at] => return i,
                    _ => {}
                }
                i += 1;
            }
            at
        };
        let (mut depth, mut i) = (0usize, at);
        while let Some(&b) = bytes.get(i) {
            match b {
                b'{' => depth += 1,
                b'}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(i);
                    }
                }
                b'/' if bytes.get(i + 1) == Some(&b'*') => {
                    i += memchr::memmem::find(&bytes[i + 2..], b"*/")? + 3;
                }
                b'"' | b'\'' | b'`' => i = string_end(i),
                _ => {}
            }
            i += 1;
        }
        None
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(3_000))]

        #[test]
        fn all_at_once_is_one_by_one(text in "[{}{}'\"`\\\\/*\na]{0,40}") {
            let bytes = text.as_bytes();
            let mut closings = Closings::new(bytes);
            for at in (0..bytes.len()).filter(|&at| bytes[at] == b'{') {
                prop_assert_eq!(closings.brace(at), scanned(bytes, at), "{:?} at {}", text, at);
            }
        }
    }

    #[test]
    fn ends_of_tags() {
        let end = |text: &str| Closings::new(text.as_bytes()).tag(0, false);
        assert_eq!(end(" a b=c>"), TagEnd::At { end: 6, braces: false });
        assert_eq!(end(" a={'>'} b='>' >"), TagEnd::At { end: 15, braces: true });
        assert_eq!(
            (end(" a <"), end(" a='"), end(" a={"), end(" a")),
            (TagEnd::None, TagEnd::None, TagEnd::Unbalanced, TagEnd::Missing)
        );
        assert_eq!(closing(&[], 0), None);
    }
}
