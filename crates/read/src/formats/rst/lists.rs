//! Lists: bullets, numbers, definitions, fields, options.

use pericope_api::Kind;

use super::blocks::Rst;
use crate::formats::lines::{Line, columns};

impl Rst<'_, '_> {
    /// The list item that begins at line `i`, if one does; answers with the line after it, or 0.
    pub(super) fn list(&mut self, i: usize, to: usize, line: Line) -> usize {
        let text = line.of(self.source);
        if let Some(len) = bullet(text).or_else(|| self.numbered(i, to, line)) {
            return self.item(i, to, line, len);
        }
        if let Some(len) = field(text) {
            return self.field(i, to, line, len);
        }
        if is_option(text) {
            let end = self.block_end(i, to, line.indent);
            self.entry(i, end, line.start, line.start);
            return end;
        }
        0
    }

    /// An item whose marker, with the blanks after it, has `len` bytes.
    fn item(&mut self, i: usize, to: usize, line: Line, len: usize) -> usize {
        let column = line.indent + columns(&line.of(self.source)[..len], 0);
        let empty = line.start + len >= line.end;
        // Where nothing stands beside the marker, the text below says how far it is indented.
        let end = self.block_end(i, to, if empty { line.indent } else { column - 1 });
        let base = if empty { self.indent_of(i + 1, end).unwrap_or(column) } else { column };
        self.lines[i] = Line { start: (line.start + len).min(line.end), end: line.end, indent: base };
        self.pending.get_or_insert(line.start);
        self.items += 1;
        self.body(i, end, base);
        self.items -= 1;
        self.forget_marker(line.start);
        end
    }

    /// An item without text leaves its marker behind: it is markup.
    fn forget_marker(&mut self, start: usize) {
        if self.pending.is_some_and(|pending| pending >= start) {
            self.pending = None;
        }
    }

    /// Length of the number that line `i` begins with, with the blanks after it.
    fn numbered(&self, i: usize, to: usize, line: Line) -> Option<usize> {
        let len = number(line.of(self.source))?;
        // `A. Smith wrote` in the middle of a paragraph is no item: the next line would be indented, or numbered too.
        match self.line(i + 1, to) {
            Some(next) if !next.is_blank() && next.indent <= line.indent => {
                let fits = next.indent < line.indent || number(next.of(self.source)).is_some();
                fits.then_some(len)
            }
            _ => Some(len),
        }
    }

    /// A term, and what it means on the indented lines below.
    pub(super) fn definition(&mut self, i: usize, to: usize, line: Line) -> usize {
        let end = self.block_end(i, to, line.indent);
        let span = pericope_api::Span::new(line.start, line.end);
        self.text(span, span, Kind::ListItem);
        let base = self.indent_of(i + 1, end).unwrap_or(line.indent + 1);
        self.items += 1;
        self.body(i + 1, end, base);
        self.items -= 1;
        end
    }

    /// `:name: text`; at the top of a document these are its metadata.
    fn field(&mut self, i: usize, to: usize, line: Line, len: usize) -> usize {
        let end = self.block_end(i, to, line.indent);
        if self.depth == 1 && self.in_header {
            self.hide(i, end);
            self.in_header = true;
            return end;
        }
        // `:param x: the text` reads `param x: the text`; a name without text is markup.
        if line.start + len >= line.end && end == i + 1 {
            self.hide(i, end);
            return end;
        }
        self.entry(i, end, line.start, line.start + 1);
        end
    }

    /// An item of lines `i..end` whose first line is part of its text, from byte `from` on.
    fn entry(&mut self, i: usize, end: usize, lead: usize, from: usize) {
        let indent = self.lines[i].indent;
        let base = self.indent_of(i + 1, end).unwrap_or(indent + 1);
        self.lines[i].start = from.min(self.lines[i].end);
        self.lines[i].indent = base;
        self.pending.get_or_insert(lead);
        self.items += 1;
        self.entry_body(i, end, base);
        self.items -= 1;
        self.forget_marker(lead);
    }

    /// The first paragraph as text, whatever it looks like, and the rest as blocks.
    pub(super) fn entry_body(&mut self, i: usize, end: usize, base: usize) {
        let mut stop = i;
        while self.line(stop, end).is_some_and(|line| !line.is_blank() && line.indent == base) {
            let text = self.lines[stop].of(self.source);
            if stop > i && (bullet(text).is_some() || text.starts_with(".. ")) {
                break;
            }
            stop += 1;
        }
        if stop > i {
            let span = pericope_api::Span::new(self.lines[i].start, self.lines[stop - 1].end);
            let keep = span.of(self.source).strip_suffix("::").map_or(span.end, |text| span.start + text.len() + 1);
            self.text(span, pericope_api::Span::new(span.start, keep), self.kind());
            if keep < span.end {
                stop = self.literal(stop, end, base);
            }
        }
        self.body(stop, end, base);
    }
}

/// Length of a bullet and the blanks after it.
pub(super) fn bullet(text: &str) -> Option<usize> {
    let first = text.chars().next().filter(|c| matches!(c, '-' | '+' | '*' | '•' | '‣' | '⁃'))?;
    marker_len(text, first.len_utf8())
}

/// Length of a number (`1.`, `(a)`, `#.`, `iv)`) and the blanks after it.
fn number(text: &str) -> Option<usize> {
    let open = usize::from(text.starts_with('('));
    let rest = text.get(open..)?;
    let len = rest.bytes().take(10).take_while(|b| b.is_ascii_alphanumeric() || *b == b'#').count();
    let body = rest.get(..len)?;
    let digits = len <= 9 && body.bytes().all(|b| b.is_ascii_digit());
    let letter = len == 1 && body.bytes().all(|b| b.is_ascii_alphabetic() || b == b'#');
    let roman = body.bytes().all(|b| b"ivxlcdm".contains(&b)) || body.bytes().all(|b| b"IVXLCDM".contains(&b));
    if len == 0 || !(digits || letter || roman) {
        return None;
    }
    let end = *rest.as_bytes().get(len)?;
    (end == b')' || (end == b'.' && open == 0)).then(|| marker_len(text, open + len + 1)).flatten()
}

/// Length of a marker of `len` bytes with the blanks after it; `None` where text touches it.
fn marker_len(text: &str, len: usize) -> Option<usize> {
    let rest = text.get(len..)?;
    let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
    (blanks > 0 || rest.is_empty()).then_some(len + blanks)
}

/// Length of a field's name with its colons and the blanks after it.
pub(super) fn field(text: &str) -> Option<usize> {
    let name = text.strip_prefix(':')?;
    if name.starts_with([':', ' ', '`']) {
        return None;
    }
    let mut from = 0;
    loop {
        let at = from + name.get(from..)?.find(':')?;
        let (before, after) = (&name[..at], &name[at + 1..]);
        if after.starts_with('`') {
            return None;
        }
        if !before.ends_with([' ', '\\']) && (after.is_empty() || after.starts_with([' ', '\t'])) {
            return Some(text.len() - after.trim_start_matches([' ', '\t']).len());
        }
        from = at + 1;
    }
}

/// An option of a command with what it does: `-a  text`, `--all=WHAT  text`, or with the text below.
fn is_option(text: &str) -> bool {
    let dashes = text.len() - text.trim_start_matches('-').len();
    let name = text[dashes..].bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_')).count();
    if !(dashes == 2 && name > 1 || dashes == 1 && name == 1) {
        return false;
    }
    let synopsis = text.split("  ").next().unwrap_or(text);
    let words = synopsis.split(' ').filter(|word| !word.is_empty() && !word.starts_with('-')).count();
    let options = synopsis.split(' ').filter(|word| word.starts_with('-')).count();
    // At most one argument an option; `-a` alone on its line is one as well.
    words <= options && (text.contains("  ") || synopsis.len() == text.len())
}

#[cfg(test)]
mod tests {
    use super::{bullet, field, is_option, number};

    #[test]
    fn markers() {
        assert_eq!((bullet("- a"), bullet("*"), bullet("-a"), bullet("•  b")), (Some(2), Some(1), None, Some(5)));
        for (text, len) in [("1. a", Some(3)), ("(a) b", Some(4)), ("#. x", Some(3)), ("iv) x", Some(4)), ("12", None)]
        {
            assert_eq!(number(text), len, "{text}");
        }
        assert_eq!((number("e.g. x"), number("No. 5"), number("1.5 m")), (None, None, None));
        assert_eq!(
            (field(":a b: c"), field(":orphan:"), field(":ref:`x`"), field(": a:")),
            (Some(6), Some(8), None, None)
        );
        assert!(is_option("-a  all") && is_option("--long=X  text") && is_option("-f FILE, --file FILE  text"));
        assert!(!is_option("- a") && !is_option("-a all of them") && !is_option("---"));
    }
}
