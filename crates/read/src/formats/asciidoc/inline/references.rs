//! What stands in brackets and braces: references, anchors, index terms, attributes, macros.

use pericope_api::Span;

use super::super::macros::{self, Shows};
use super::Scan;
use crate::work;

/// Longest name of an attribute, and longest thing between double brackets.
const LONGEST: usize = 200;

impl Scan<'_, '_> {
    /// `<<id,text>>`.
    pub(super) fn reference(&mut self, at: usize) -> Option<usize> {
        let inner = self.enclosed(at + 2, ">>")?;
        let text = inner.of(self.source);
        let start = text.find(',').map_or(inner.start, |comma| inner.start + comma + 1);
        let shown = Span::new(start, inner.end);
        self.flush(at);
        self.out.plain(self.source, shown.trimmed(self.source));
        Some(self.close(inner.end + 2))
    }

    /// An anchor, the mark of an entry of a bibliography, or the role of what follows.
    pub(super) fn bracket(&mut self, at: usize) -> Option<usize> {
        if self.follows(at, "[[[")
            && let Some(inner) = self.enclosed(at + 3, "]]]")
        {
            return Some(self.bibliography_entry(at, inner));
        }
        if self.follows(at, "[[") {
            let inner = self.enclosed(at + 2, "]]")?;
            self.flush(at);
            return Some(self.close(inner.end + 2));
        }
        let inner = self.enclosed(at + 1, "]")?;
        let role = inner.of(self.source);
        let formatted = self.after(inner.end + 1).is_some_and(|c| "#*_`".contains(c));
        if !formatted || !role.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '.' | '#')) {
            return None;
        }
        self.flush(at);
        self.text = inner.end + 1;
        Some(inner.end + 1)
    }

    /// `[[[id]]]` shows as `[id]`, and `[[[id,1]]]` as `[1]`.
    fn bibliography_entry(&mut self, at: usize, inner: Span) -> usize {
        let id = inner.of(self.source);
        let start = id.find(',').map_or(inner.start, |comma| inner.start + comma + 1);
        let (mark, end) = (Span::new(start, inner.end).trimmed(self.source), inner.end + 3);
        self.flush(at);
        self.out.shown(Span::new(at, mark.start), "[");
        self.out.plain(self.source, mark);
        self.out.shown(Span::new(mark.end, end), "]");
        self.close(end)
    }

    /// `((term))` is seen, `(((term)))` is not.
    pub(super) fn index_term(&mut self, at: usize) -> Option<usize> {
        if self.follows(at, "(((") {
            let inner = self.enclosed(at + 3, ")))")?;
            self.flush(at);
            return Some(self.close(inner.end + 3));
        }
        let inner = self.enclosed(at + 2, "))")?;
        self.flush(at);
        self.out.plain(self.source, inner);
        Some(self.close(inner.end + 2))
    }

    /// From byte `from` to `end`, on one line and not long.
    fn enclosed(&self, from: usize, end: &str) -> Option<Span> {
        let stop = self.source.floor_char_boundary(self.end.min(from + LONGEST));
        let rest = self.source.get(from..stop)?;
        let len = work::find(rest, end)?;
        (len > 0 && !rest[..len].contains('\n')).then(|| Span::new(from, from + len))
    }

    /// `{name}`: its value, where the document sets it.
    pub(super) fn attribute(&mut self, at: usize) -> Option<usize> {
        let inner = self.enclosed(at + 1, "}")?;
        let value = self.attributes.value(&inner.of(self.source).to_lowercase())?;
        self.flush(at);
        let name = Span::new(at, inner.end + 1);
        // An address with a text behind it, like any other.
        if macros::is_address(&value)
            && let Some(text) = self.bracketed(name.end)
        {
            let shown = macros::link_text(self.source, text);
            if shown.is_empty() {
                self.out.shown(name, value);
                self.out.code(Span::new(name.end, text.start - 1));
            } else {
                self.nested(shown);
            }
            return Some(self.close(text.end + 1));
        }
        self.out.shown(name, value);
        Some(self.close(name.end))
    }

    /// What stands in the brackets behind an address that ends there, or goes on from byte `from`.
    fn bracketed(&self, from: usize) -> Option<Span> {
        let stop = self.source.floor_char_boundary(self.end.min(from + LONGEST));
        let rest = self.source.get(from..stop)?;
        let len = work::find_char(rest, |c| c.is_whitespace() || matches!(c, '[' | '<' | '>' | '"'))?;
        let open = rest.get(len..).filter(|rest| rest.starts_with('['))?;
        let start = from + len + 1;
        if open.starts_with("[]") { Some(Span::new(start, start)) } else { self.enclosed(start, "]") }
    }

    /// Passes over a word, unless a macro begins with it.
    pub(super) fn word(&mut self, at: usize) -> usize {
        let len = self.bytes[at..self.end].iter().take_while(|b| b.is_ascii_alphanumeric()).count();
        let found = (self.bytes.get(at + len) == Some(&b':') && !self.before(at).is_some_and(char::is_alphanumeric))
            .then(|| self.macro_(at))
            .flatten();
        found.unwrap_or(at + len)
    }

    fn macro_(&mut self, at: usize) -> Option<usize> {
        let found = macros::find(self.source, at, self.end, &mut self.targets)?;
        self.flush(at);
        let inner = found.inner.unwrap_or(Span::new(found.end, found.end));
        match found.shows {
            Shows::Link => {
                let text = macros::link_text(self.source, inner);
                if text.is_empty() {
                    let target = found.target.of(self.source);
                    let skip = usize::from(target.starts_with('#'));
                    self.out.code(Span::new(found.target.start + skip, found.target.end));
                } else {
                    self.nested(text);
                }
            }
            Shows::Alternative => self.out.plain(self.source, macros::first_value(self.source, inner)),
            Shows::Note if !inner.is_empty() => {
                self.out.shown(Span::new(at, inner.start), " (");
                self.nested(inner);
                self.out.shown(Span::new(inner.end, inner.end + 1), ")");
            }
            Shows::Inner => self.out.plain(self.source, inner),
            Shows::Menu => {
                self.out.plain(self.source, found.target);
                if !inner.is_empty() {
                    self.out.shown(Span::new(found.target.end, inner.start), " > ");
                    self.out.plain(self.source, inner);
                }
            }
            Shows::Code => self.out.code(inner),
            Shows::Nothing | Shows::Note => {}
        }
        Some(self.close(found.end))
    }

    /// Text in the brackets of a macro: its marks go as well. Macros in it are text.
    fn nested(&mut self, span: Span) {
        let text = span.of(self.source);
        if !text.contains(['*', '_', '`', '#', '\\', '+', '&']) {
            return self.out.plain(self.source, span);
        }
        Scan::new(self.source, span, &mut *self.attributes, &mut *self.out).run();
    }
}
