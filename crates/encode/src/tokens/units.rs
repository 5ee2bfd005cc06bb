use std::ops::Range;

use super::chars::{Class, Classes};

/// A stretch of text that is tokenised by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Byte range.
    pub range: Range<usize>,
    /// The kind of its text.
    pub kind: Kind,
}

/// The kinds of units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A special token that stands in the text (`[SEP]`), by its id.
    Special(u32),
    /// A word of ASCII letters and digits.
    Plain,
    /// Any other word or character that stands alone.
    Other,
    /// A word of more characters than the model reads.
    Long,
}

/// Splits text into units, in order, in one pass and without allocating.
pub struct Units<'a> {
    text: &'a str,
    at: usize,
    classes: &'a Classes,
    special: &'a [(Box<str>, u32)],
    /// Characters of the longest word that is not [`Kind::Long`].
    longest: usize,
    /// Whether all Unicode white space separates words; BERT drops form feeds and the like from inside words.
    all_white: bool,
}

impl<'a> Units<'a> {
    /// The units of `text`. `special` tokens begin with ASCII punctuation.
    pub fn new(
        text: &'a str,
        classes: &'a Classes,
        special: &'a [(Box<str>, u32)],
        longest: usize,
        all_white: bool,
    ) -> Self {
        Self { text, at: 0, classes, special, longest, all_white }
    }

    /// The character at byte `at`, its length and class; `None` at the end.
    #[inline]
    fn class_at(&self, at: usize) -> Option<(char, Class)> {
        let c = self.text.get(at..)?.chars().next()?;
        let class = if self.all_white && c.is_whitespace() { Class::Space } else { self.classes.of(c) };
        Some((c, class))
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
        while let Some(b' ' | b'\n') = self.text.as_bytes().get(self.at) {
            self.at += 1;
        }
        let start = loop {
            let (c, class) = self.class_at(self.at)?;
            match class {
                Class::Space => self.at += c.len_utf8(),
                Class::Word => break self.at,
                Class::Alone => {
                    let start = self.at;
                    let rest = self.text.get(start..).unwrap_or("");
                    let special = if c == '[' || c == '<' || c.is_ascii_punctuation() {
                        let first = rest.as_bytes().first();
                        self.special.iter().find(|(t, _)| t.as_bytes().first() == first && rest.starts_with(&**t))
                    } else {
                        None
                    };
                    let (len, kind) =
                        special.map_or((c.len_utf8(), Kind::Other), |(token, id)| (token.len(), Kind::Special(*id)));
                    self.at = start + len;
                    return Some(Unit { range: start..self.at, kind });
                }
            }
        };
        let bytes = self.text.as_bytes();
        let mut end = start;
        while bytes.get(end).is_some_and(u8::is_ascii_alphanumeric) {
            end += 1;
        }
        let mut characters = end - start;
        let mut plain = true;
        while let Some((c, Class::Word)) = self.class_at(end) {
            plain &= c.is_ascii_alphanumeric();
            characters += 1;
            end += c.len_utf8();
        }
        self.at = end;
        let kind = match plain {
            _ if characters > self.longest => Kind::Long,
            true => Kind::Plain,
            false => Kind::Other,
        };
        Some(Unit { range: start..end, kind })
    }
}
