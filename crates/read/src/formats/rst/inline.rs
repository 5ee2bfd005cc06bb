//! Inline markup: emphasis, literals, roles, links, references, substitutions, escapes.

use pericope_api::Span;

use super::roles::{self, Shown};
use super::substitutions::Substitutions;
use crate::inline::Inline;
use crate::work;

/// Parses the text under `span` and adds its pieces to `out`. Without `substitutions`, references to them show their
/// names.
pub(super) fn parse<'s>(source: &'s str, span: Span, substitutions: Option<&mut Substitutions>, out: &mut Inline<'s>) {
    let mut scan = Scan {
        source,
        bytes: source.as_bytes(),
        start: span.start,
        end: span.end,
        text: span.start,
        substitutions,
        out,
        found: [None; 6],
    };
    scan.run();
}

/// Longest name of a role, with its colon.
const LONGEST_NAME: usize = 200;

/// What can be open, by the delimiter that closes it.
const CLOSERS: [&str; 6] = ["**", "*", "``", "`", "|", "]_"];

struct Scan<'o, 's> {
    source: &'s str,
    bytes: &'s [u8],
    start: usize,
    end: usize,
    /// Where the text begins that has not been handed over.
    text: usize,
    substitutions: Option<&'o mut Substitutions>,
    out: &'o mut Inline<'s>,
    /// The last answer of the search for each closer: where it began, and what it found. The answer is the same up to the
    /// closer that was found, so that time stays linear.
    found: [Option<(usize, Option<usize>)>; 6],
}

impl Scan<'_, '_> {
    fn run(&mut self) {
        let mut at = self.start;
        while at < self.end {
            let found = match self.bytes[at] {
                b'\\' => Some(self.escape(at)),
                b'*' if self.follows(at, "**") => self.delimited(at, 0),
                b'*' => self.delimited(at, 1),
                b'`' if self.follows(at, "``") => self.literal(at),
                b'`' => self.interpreted(at, None),
                b':' => self.role(at),
                b'|' => self.substitution(at),
                b'[' => self.footnote(at),
                b'_' if self.follows(at, "_`") && self.may_start(at, 2) => self.interpreted(at + 1, Some("target")),
                b'_' => self.reference(at),
                b if b.is_ascii_alphanumeric() => {
                    Some(at + self.bytes[at..self.end].iter().take_while(|b| b.is_ascii_alphanumeric()).count())
                }
                _ => None,
            };
            // Bytes of characters beyond ASCII are none of these, so `at` is always between characters here.
            at = found.unwrap_or_else(|| at + self.char_len(at));
        }
        self.flush(self.end);
    }

    fn char_len(&self, at: usize) -> usize {
        self.source[at..].chars().next().map_or(1, char::len_utf8)
    }

    fn follows(&self, at: usize, text: &str) -> bool {
        self.source[at..self.end].starts_with(text)
    }

    /// Hands over the text before byte `to`.
    fn flush(&mut self, to: usize) {
        if to > self.text {
            self.out.plain(self.source, Span::new(self.text, to));
            self.text = to;
        }
    }

    /// A backslash goes, and with it the blank after it; any other character stands for itself.
    fn escape(&mut self, at: usize) -> usize {
        self.flush(at);
        let Some(next) = self.source[at + 1..self.end].chars().next() else {
            self.text = at;
            return at + 1;
        };
        let after = at + 1 + next.len_utf8();
        self.text = if next.is_whitespace() { after } else { at + 1 };
        after
    }

    /// `**strong**` and `*emphasis*`.
    fn delimited(&mut self, at: usize, closer: usize) -> Option<usize> {
        let len = CLOSERS[closer].len();
        let inner = self.inner(at, len, closer)?;
        self.flush(at);
        self.out_text(inner);
        Some(self.close(inner.end + len))
    }

    /// Two backticks: everything inside is as it is.
    fn literal(&mut self, at: usize) -> Option<usize> {
        let inner = self.inner(at, 2, 2)?;
        self.flush(at);
        self.out.code(inner);
        Some(self.close(inner.end + 2))
    }

    /// `:role:` before a backtick.
    fn role(&mut self, at: usize) -> Option<usize> {
        let stop = self.source.floor_char_boundary(self.end.min(at + 1 + LONGEST_NAME));
        let rest = &self.source[at + 1..stop];
        let len = work::find_char(rest, |c| matches!(c, ' ' | '\n' | '`'))?;
        let name = rest[..len].strip_suffix(':').filter(|name| roles::is_name(name))?;
        let tick = at + 2 + name.len();
        if !self.follows(tick, "`") || self.follows(tick, "``") || !self.may_start(at, 1) {
            return None;
        }
        self.interpreted(tick, Some(name))
    }

    /// One backtick: the text of a role (which may come behind it), or a link.
    fn interpreted(&mut self, tick: usize, role: Option<&str>) -> Option<usize> {
        let from = match role {
            Some("target") => tick - 1,
            Some(name) => tick - name.len() - 2,
            None => tick,
        };
        let inner = if role.is_some() { self.closed(tick + 1, 3)? } else { self.inner(tick, 1, 3)? };
        let mut end = inner.end + 1;
        let mut link = false;
        let mut name = role.unwrap_or("");
        let rest = &self.source[end..self.end];
        if rest.starts_with('_') {
            link = true;
            end += 1 + usize::from(rest.starts_with("__"));
        } else if role.is_none()
            && let Some(suffix) = rest.strip_prefix(':').and_then(|rest| rest.split(':').next())
            && roles::is_name(suffix)
            && rest.len() > suffix.len() + 1
        {
            name = suffix;
            end += suffix.len() + 2;
        }
        self.flush(from);
        match roles::shown(self.source, inner, name, link) {
            Shown::Nothing => {}
            Shown::Text(span) => self.out_text(span),
            Shown::Name(span) => self.out.code(span),
            Shown::Other(text) => self.out.shown(inner, text),
        }
        Some(self.close(end))
    }

    /// `|name|`, with or without a reference behind it.
    fn substitution(&mut self, at: usize) -> Option<usize> {
        let inner = self.inner(at, 1, 4)?;
        let end = inner.end + 1;
        let marks = self.bytes[end..self.end].iter().take(2).take_while(|&&b| b == b'_').count();
        self.flush(at);
        let name = inner.of(self.source).to_lowercase();
        match self.substitutions.as_mut().and_then(|known| known.shown(&name)) {
            Some(shown) => self.out.shown(Span::new(at, end), shown.to_owned()),
            None => self.out.plain(self.source, inner),
        }
        Some(self.close(end + marks))
    }

    /// `[1]_` goes, with the blank before it; `[Citation]_` stays.
    fn footnote(&mut self, at: usize) -> Option<usize> {
        let inner = self.inner(at, 1, 5)?;
        let label = inner.of(self.source);
        let good = |b: u8| b.is_ascii_alphanumeric() || b"-._:+#*".contains(&b);
        if !label.bytes().all(good) {
            return None;
        }
        let number = label.starts_with(['#', '*']) || label.bytes().all(|b| b.is_ascii_digit());
        if number {
            let text = Span::new(self.text, at.max(self.text)).of(self.source);
            self.flush(self.text + text.trim_end().len());
        } else {
            self.flush(inner.end + 1);
        }
        Some(self.close(inner.end + 2))
    }

    /// The underscore behind `word_`.
    fn reference(&mut self, at: usize) -> Option<usize> {
        const LONGEST: usize = 200;
        let marks = 1 + usize::from(self.follows(at, "__"));
        let before = self.before(at);
        if !before.is_some_and(char::is_alphanumeric) || !self.may_end(at + marks) {
            return None;
        }
        let floor = self.text.max(at.saturating_sub(LONGEST));
        let mut start = at;
        while let Some(c) = self.source[..start].chars().next_back() {
            if start <= floor || !(c.is_alphanumeric() || matches!(c, '-' | '.' | '+' | ':' | '_')) {
                break;
            }
            start -= c.len_utf8();
        }
        // The bound may lie within a character, whose beginning counts.
        let word = self.source[start..at].trim_start_matches(['-', '.', '+', ':']);
        if word.starts_with('_') || word.contains("__") || word.contains("::") {
            return None;
        }
        self.flush(at);
        Some(self.close(at + marks))
    }

    /// What is between the delimiter at byte `at`, `len` bytes long, and its closer.
    fn inner(&mut self, at: usize, len: usize, closer: usize) -> Option<Span> {
        if !self.may_start(at, len) {
            return None;
        }
        self.closed(at + len, closer)
    }

    /// From byte `from` to the closer.
    fn closed(&mut self, from: usize, closer: usize) -> Option<Span> {
        // At least one character lies between.
        let first = from + self.source.get(from..self.end)?.chars().next()?.len_utf8();
        let known = self.found.get_mut(closer)?;
        if let Some((began, pos)) = *known
            && began <= first
            && pos.is_none_or(|pos| first <= pos)
        {
            return pos.map(|pos| Span::new(from, pos));
        }
        let pos = self.search(first, closer);
        self.found[closer] = Some((first, pos));
        pos.map(|pos| Span::new(from, pos))
    }

    /// The first place from byte `at` on where the closer closes.
    fn search(&self, mut at: usize, closer: usize) -> Option<usize> {
        let mark = CLOSERS[closer];
        while let Some(found) = self.source.get(at..self.end).and_then(|rest| work::find(rest, mark)) {
            let pos = at + found;
            let before = self.before(pos);
            let escaped = before == Some('\\') && closer != 2;
            // A role or a link may follow a backtick.
            let suffix = closer == 3 && self.bytes.get(pos + 1).is_some_and(|b| matches!(b, b'_' | b':'));
            let blank = before.is_none_or(char::is_whitespace);
            let reference = closer == 4 && self.bytes.get(pos + 1) == Some(&b'_');
            if !blank && !escaped && (suffix || reference || self.may_end(pos + mark.len())) {
                return Some(pos);
            }
            at = pos + 1;
        }
        None
    }

    fn before(&self, at: usize) -> Option<char> {
        self.source[self.start..at].chars().next_back()
    }

    /// True where inline markup of `len` bytes may begin at byte `at`: after a blank or a bracket, before text.
    fn may_start(&self, at: usize, len: usize) -> bool {
        let Some(next) = self.source[at + len..self.end].chars().next().filter(|c| !c.is_whitespace()) else {
            return false;
        };
        // After an escaped blank, which reads as nothing.
        if at == self.start || self.text == at && self.source[..at].ends_with(['\\', ' ', '\n']) {
            return true;
        }
        let Some(before) = self.before(at) else { return true };
        let quoted =
            matches!((before, next), ('"', '"') | ('\'', '\'') | ('(', ')') | ('[', ']') | ('<', '>') | ('{', '}'));
        let open = before.is_whitespace()
            || "'\"([{<-/:".contains(before)
            || (!before.is_ascii() && !before.is_alphanumeric());
        open && !quoted
    }

    /// True where inline markup may end before byte `at`.
    fn may_end(&self, at: usize) -> bool {
        self.source.get(at..self.end).and_then(|rest| rest.chars().next()).is_none_or(|c| {
            c.is_whitespace() || "'\")]}>-/\\:.,;!?".contains(c) || (!c.is_ascii() && !c.is_alphanumeric())
        })
    }

    /// Text with its backslashes taken out.
    fn out_text(&mut self, span: Span) {
        let mut at = span.start;
        while let Some(found) = span_rest(self.source, at, span.end).find('\\') {
            let slash = at + found;
            self.out.plain(self.source, Span::new(at, slash));
            let next = span_rest(self.source, slash + 1, span.end).chars().next();
            // The character behind it stands for itself, another backslash included.
            at = slash + 1;
            if let Some(next) = next {
                let after = at + next.len_utf8();
                if !next.is_whitespace() {
                    self.out.plain(self.source, Span::new(at, after));
                }
                at = after;
            }
        }
        self.out.plain(self.source, Span::new(at, span.end));
    }

    fn close(&mut self, end: usize) -> usize {
        self.out.close(end);
        self.text = end;
        end
    }
}

fn span_rest(source: &str, from: usize, to: usize) -> &str {
    source.get(from..to).unwrap_or("")
}
