//! Inline markup: formatting marks, macros, references, attributes.

mod references;

use pericope_api::Span;

use super::attributes::{self, Attributes};
use super::macros::Targets;
use crate::formats::html::{reference, references as parted_by_references};
use crate::inline::Inline;
use crate::work;

/// Parses the text under `span` and adds its pieces to `out`.
pub(super) fn parse<'s>(source: &'s str, span: Span, attributes: &mut Attributes, out: &mut Inline<'s>) {
    Scan::new(source, span, attributes, out).run();
}

/// Character references end with a semicolon here; others are text.
pub(super) fn is_ended(reference: &str) -> bool {
    reference.ends_with(';')
}

struct Scan<'o, 's> {
    source: &'s str,
    bytes: &'s [u8],
    start: usize,
    end: usize,
    /// Where the text begins that has not been handed over.
    text: usize,
    /// Marks that close what is open: where they are, and how long. None of them twice, and none that is passed.
    closers: Vec<Span>,
    /// The last answer of each search for a mark: where it began, and what it found. Searches are repeated for every mark
    /// that opens, and the answer is the same up to the mark that was found.
    found: Vec<(&'static str, usize, Option<usize>)>,
    targets: Targets,
    attributes: &'o mut Attributes,
    out: &'o mut Inline<'s>,
}

impl<'o, 's> Scan<'o, 's> {
    fn new(source: &'s str, span: Span, attributes: &'o mut Attributes, out: &'o mut Inline<'s>) -> Self {
        Self {
            source,
            bytes: source.as_bytes(),
            start: span.start,
            end: span.end,
            text: span.start,
            closers: Vec::new(),
            found: Vec::new(),
            targets: Targets::default(),
            attributes,
            out,
        }
    }

    fn run(&mut self) {
        let mut at = self.start;
        while at < self.end {
            if let Some(i) = self.closers.iter().position(|closer| closer.start == at) {
                let closer = self.closers.swap_remove(i);
                self.flush(at);
                at = self.close(closer.end);
                continue;
            }
            let found = match self.bytes[at] {
                b'\\' => self.escape(at),
                b'*' => self.formatted(at, "**", "*"),
                b'_' => self.formatted(at, "__", "_"),
                b'#' => self.formatted(at, "##", "#"),
                b'^' => self.short(at, "^"),
                b'~' => self.short(at, "~"),
                b'`' => self.verbatim(at, &["``", "`"]),
                b'+' if self.is_break(at) => {
                    self.flush(at);
                    self.text = at + 1;
                    Some(at + 1)
                }
                b'+' => self.verbatim(at, &["+++", "++", "+"]),
                b'<' if self.follows(at, "<<") => self.reference(at),
                b'[' => self.bracket(at),
                b'(' if self.follows(at, "((") => self.index_term(at),
                b'(' => self.sign(at),
                b'&' => self.character(at),
                b'{' => self.attribute(at),
                b if b.is_ascii_alphanumeric() => Some(self.word(at)),
                _ => None,
            };
            at = found.unwrap_or_else(|| at + self.source[at..].chars().next().map_or(1, char::len_utf8));
        }
        self.flush(self.end);
    }

    fn follows(&self, at: usize, text: &str) -> bool {
        self.source[at..self.end].starts_with(text)
    }

    fn before(&self, at: usize) -> Option<char> {
        self.source[self.start..at].chars().next_back()
    }

    fn after(&self, at: usize) -> Option<char> {
        self.source.get(at..self.end)?.chars().next()
    }

    fn flush(&mut self, to: usize) {
        if to > self.text {
            self.out.plain(self.source, Span::new(self.text, to));
            self.text = to;
        }
    }

    fn close(&mut self, end: usize) -> usize {
        self.out.close(end);
        self.text = end;
        end
    }

    /// A backslash before markup goes, and what follows is text.
    fn escape(&mut self, at: usize) -> Option<usize> {
        let next = self.after(at + 1).filter(|c| "*_`#^~+<[({\\".contains(*c))?;
        self.flush(at);
        self.text = at + 1;
        Some(at + 1 + next.len_utf8())
    }

    /// ` +` at the end of a line breaks it.
    fn is_break(&self, at: usize) -> bool {
        self.before(at).is_some_and(char::is_whitespace) && self.after(at + 1).is_none_or(|c| c == '\n' || c == '\r')
    }

    /// Marks that may stand within words where they are doubled: what is between them is parsed in turn.
    fn formatted(&mut self, at: usize, double: &'static str, single: &'static str) -> Option<usize> {
        let (mark, closer) = if self.follows(at, double)
            && let Some(closer) = self.find(at + 2, double, false)
        {
            (double, closer)
        } else if self.begins_word(at, 1) {
            (single, self.find(at + 1, single, true)?)
        } else {
            return None;
        };
        self.flush(at);
        self.text = at + mark.len();
        self.closes(at, Span::new(closer, closer + mark.len()));
        Some(at + mark.len())
    }

    /// Marks for raised and lowered text, which holds no blanks.
    fn short(&mut self, at: usize, mark: &'static str) -> Option<usize> {
        let rest = self.source.get(at + 1..self.end)?;
        let len = work::find_char(rest, |c| c.is_whitespace() || mark.starts_with(c))?;
        if len == 0 || !rest[len..].starts_with(mark) {
            return None;
        }
        self.flush(at);
        self.text = at + 1;
        self.closes(at, Span::new(at + 1 + len, at + 2 + len));
        Some(at + 1)
    }

    /// What opens at byte `at` is closed by `closer`.
    fn closes(&mut self, at: usize, closer: Span) {
        self.closers.retain(|known| known.start > at);
        if !self.closers.iter().any(|known| known.start == closer.start) {
            self.closers.push(closer);
        }
        work::looked(self.closers.len());
    }

    /// Marks around code and text that is taken as it is, the longest first.
    fn verbatim(&mut self, at: usize, marks: &[&'static str]) -> Option<usize> {
        for &mark in marks {
            if !self.follows(at, mark) || (mark.len() == 1 && !self.begins_word(at, 1)) {
                continue;
            }
            let Some(closer) = self.find(at + mark.len(), mark, mark.len() == 1) else { continue };
            self.flush(at);
            let mut inner = Span::new(at + mark.len(), closer);
            if mark.starts_with('`') {
                // `+taken as it is+`
                let text = inner.of(self.source);
                if text.len() > 2 && text.starts_with('+') && text.ends_with('+') {
                    inner = Span::new(inner.start + 1, inner.end - 1);
                    self.out.code(inner);
                } else {
                    self.code(inner);
                }
            } else {
                self.out.plain(self.source, inner);
            }
            return Some(self.close(closer + mark.len()));
        }
        None
    }

    /// Code, in which attributes stand for their values. A backslash before one goes.
    fn code(&mut self, span: Span) {
        let source = self.source;
        let (mut from, mut at) = (span.start, span.start);
        while let Some(len) = source[at..span.end].find('{') {
            let open = at + len;
            at = open + 1;
            let Some(name) = attributes::name(&source[at..span.end]) else { continue };
            let end = at + name.len() + 1;
            if source[from..open].ends_with('\\') {
                self.characters(Span::new(from, open - 1));
                (from, at) = (open, end);
            } else if let Some(value) = self.attributes.value(&name.to_lowercase()) {
                self.characters(Span::new(from, open));
                self.out.shown(Span::new(open, end), value);
                (from, at) = (end, end);
            }
        }
        self.characters(Span::new(from, span.end));
    }

    /// Code, in which character references stand for their characters.
    fn characters(&mut self, span: Span) {
        let (source, out) = (self.source, &mut *self.out);
        parted_by_references(source, span, &mut |span, shown| match shown.filter(|_| is_ended(span.of(source))) {
            Some(shown) => out.shown(span, shown),
            None => out.code(span),
        });
    }

    /// `&eacute;`, `&#8217;`: what it stands for.
    fn character(&mut self, at: usize) -> Option<usize> {
        let (len, shown) = reference(self.source.get(at..self.end)?)?;
        let span = Span::new(at, at + len);
        is_ended(span.of(self.source)).then(|| self.stands_for(span, shown))
    }

    /// The signs that are typed in parentheses.
    fn sign(&mut self, at: usize) -> Option<usize> {
        let (typed, sign) =
            [("(C)", "©"), ("(R)", "®"), ("(TM)", "™")].into_iter().find(|(typed, _)| self.follows(at, typed))?;
        Some(self.stands_for(Span::new(at, at + typed.len()), sign.to_owned()))
    }

    /// These bytes show as `shown`; answers where they end.
    fn stands_for(&mut self, span: Span, shown: String) -> usize {
        self.flush(span.start);
        self.out.shown(span, shown);
        self.text = span.end;
        span.end
    }

    /// True where a single mark may open: before text, and not within a word.
    fn begins_word(&self, at: usize, len: usize) -> bool {
        let inside = self.before(at).is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '}' | '\\'));
        !inside && self.after(at + len).is_some_and(|c| !c.is_whitespace())
    }

    /// The next `mark` from byte `from` on that can close; with `word`, one that ends a word.
    fn find(&mut self, from: usize, mark: &'static str, word: bool) -> Option<usize> {
        let first = from + self.after(from)?.len_utf8();
        let known = self.found.iter().position(|(known, _, _)| *known == mark);
        if let Some(&(_, began, pos)) = known.and_then(|i| self.found.get(i))
            && began <= first
            && pos.is_none_or(|pos| first <= pos)
        {
            return pos;
        }
        let pos = self.search(first, mark, word);
        match known.and_then(|i| self.found.get_mut(i)) {
            Some(known) => *known = (mark, first, pos),
            None => self.found.push((mark, first, pos)),
        }
        pos
    }

    fn search(&self, mut at: usize, mark: &str, word: bool) -> Option<usize> {
        while let Some(found) = self.source.get(at..self.end).and_then(|rest| work::find(rest, mark)) {
            let pos = at + found;
            let blank = self.before(pos).is_none_or(char::is_whitespace);
            let within = self.after(pos + mark.len()).is_some_and(|c| c.is_alphanumeric() || c == '_');
            if !word || !(blank || within) {
                return Some(pos);
            }
            at = pos + mark.len();
        }
        None
    }
}
