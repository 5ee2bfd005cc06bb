//! Blocks that begin with two dots: footnotes, targets, substitutions, directives, comments.

use super::blocks::Rst;
use super::substitutions::definition;
use crate::formats::lines::Line;

impl Rst<'_, '_> {
    /// The block at line `i`, which begins with `..`; answers with the line after it.
    pub(super) fn explicit(&mut self, i: usize, to: usize, line: Line) -> usize {
        let text = line.of(self.source);
        let after = text[2..].trim_start();
        let next_is_blank = self.line(i + 1, to).is_none_or(|next| next.is_blank());
        // Two dots alone end a block, and what is indented below is none of their business.
        if after.is_empty() && next_is_blank {
            self.hide_quietly(i, i + 1);
            return i + 1;
        }
        let end = self.block_end(i, to, line.indent);
        let start = line.end - after.len();
        if let Some(len) = footnote(after) {
            self.pending.get_or_insert(line.start);
            let base = self.indent_of(i + 1, end).unwrap_or(line.indent + 1);
            self.lines[i] = Line { start: (start + len).min(line.end), end: line.end, indent: base };
            self.body(i, end, base);
            return end;
        }
        if let Some((name, link)) = target(after) {
            // A link may go on below, up to a blank line; what is indented after that is a quotation.
            let end = (i + 1..end).find(|&j| self.lines[j].is_blank()).unwrap_or(end);
            self.hide_quietly(i, end);
            if link.is_empty() && end == i + 1 {
                self.builder.label();
                // The nearest target that leads here.
                self.target = self.ids.target(&name).or_else(|| self.target.take());
            }
            return end;
        }
        if definition(text).is_some() {
            self.hide_quietly(i, end);
            return end;
        }
        if let Some((name, argument)) = directive(after) {
            let argument = line.end - argument.len();
            self.directive(i, end, line, name, argument);
            return end;
        }
        self.hide_quietly(i, end);
        end
    }

    /// Hides lines that do not come between a target and its title, nor end the head of a document.
    fn hide_quietly(&mut self, from: usize, to: usize) {
        let (target, header) = (self.target.take(), self.in_header);
        self.hide(from, to);
        (self.target, self.in_header) = (target, header);
    }
}

/// Length of `[1]`, `[#name]`, `[*]` or `[Citation]`, with the blanks after it.
fn footnote(text: &str) -> Option<usize> {
    let (label, rest) = text.strip_prefix('[')?.split_once(']')?;
    let named = label.trim_start_matches('#');
    let good = label == "*" || named.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._:+".contains(&b));
    if label.is_empty() || !good || !(rest.is_empty() || rest.starts_with(' ')) {
        return None;
    }
    Some(text.len() - rest.trim_start().len())
}

/// Name of a target and what it leads to, which is empty for a place in this document.
fn target(text: &str) -> Option<(String, &str)> {
    let rest = text.strip_prefix('_')?;
    if let Some(quoted) = rest.strip_prefix('`') {
        let (name, link) = quoted.split_once("`:")?;
        return Some((name.to_owned(), link.trim()));
    }
    let mut from = 0;
    loop {
        let at = from + rest.get(from..)?.find(':')?;
        let (name, link) = (&rest[..at], &rest[at + 1..]);
        if !name.ends_with('\\') && (link.is_empty() || link.starts_with(' ')) {
            let name = name.replace('\\', "");
            return (!name.is_empty()).then(|| (name, link.trim()));
        }
        from = at + 1;
    }
}

/// Name and argument of a directive.
fn directive(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.split_once("::")?;
    let name = name.strip_suffix(' ').unwrap_or(name);
    let inner = |b: u8| b.is_ascii_alphanumeric() || b"-_.+:".contains(&b);
    let good = !name.is_empty() && name.bytes().all(inner) && name.as_bytes()[0].is_ascii_alphanumeric();
    (good && (rest.is_empty() || rest.starts_with([' ', '\t']))).then(|| (name, rest.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::{directive, footnote, target};

    #[test]
    fn explicit_markup() {
        assert_eq!((footnote("[1] a"), footnote("[#x]"), footnote("[a b] c")), (Some(4), Some(4), None));
        assert_eq!(target("_a b: http://x"), Some(("a b".into(), "http://x")));
        assert_eq!(target("_`a: b`:"), Some(("a: b".into(), "")));
        assert_eq!(target("_a\\:b:"), Some(("a:b".into(), "")));
        assert_eq!(target("_a"), None);
        assert_eq!(directive("code-block:: sh"), Some(("code-block", "sh")));
        assert_eq!(directive("py:function:: f(x)"), Some(("py:function", "f(x)")));
        assert_eq!((directive("a b:: c"), directive("std::vec")), (None, None));
    }
}
