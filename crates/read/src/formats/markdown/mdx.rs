//! What MDX adds to Markdown and people do not read: imports and exports, JSX tags, comments and expressions in braces.

use std::collections::HashMap;

use memchr::memchr;
use pericope_api::Span;

use super::braces::{Closings, TagEnd};
use crate::work;

/// The markup of MDX from byte `from` of `source` on, in order, without overlap. Tags of HTML whose attributes hold no
/// expression are left to the Markdown parser; so is everything in code.
pub(super) fn markup(source: &str, from: usize) -> Vec<Span> {
    let mut scan = Scan {
        source,
        bytes: source.as_bytes(),
        found: Vec::new(),
        closings: Closings::new(source.as_bytes()),
        unbalanced: false,
        unclosed: false,
        ticks: (0, HashMap::new()),
    };
    scan.lines(from);
    scan.found
}

/// `source` without `masks`, byte for byte: blanks stand for them on lines of nothing else, and elsewhere a sign that
/// means nothing to Markdown, so that no line becomes indented by what was taken out of it.
pub(super) fn masked(source: &str, masks: &[Span]) -> String {
    let mut out = String::with_capacity(source.len());
    let (mut start, mut first) = (0, 0);
    for line in source.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let end = start + body.len();
        first += masks[first..].iter().take_while(|mask| mask.end <= start).count();
        let here = masks[first..].iter().take_while(|mask| mask.start < end);
        // What of the line is seen, mask by mask, and then the rest.
        let mut at = start;
        let mut seen: Vec<(Span, usize)> = Vec::new();
        for mask in here {
            seen.push((Span::new(at, mask.start.max(at)), mask.end.min(end)));
            at = mask.end.min(end);
        }
        let rest = &source[at..end];
        let alone = rest.trim().is_empty() && seen.iter().all(|(text, _)| text.of(source).trim().is_empty());
        for (text, mask_end) in &seen {
            out.push_str(text.of(source));
            out.extend(std::iter::repeat_n(if alone { ' ' } else { ';' }, mask_end - text.end));
        }
        out.push_str(rest);
        out.push_str(&line[body.len()..]);
        start += line.len();
    }
    out
}

struct Scan<'a> {
    source: &'a str,
    bytes: &'a [u8],
    found: Vec<Span>,
    closings: Closings<'a>,
    /// Braces were opened that nothing closes: none are looked for any more.
    unbalanced: bool,
    /// A tag was opened that nothing closes.
    unclosed: bool,
    /// A paragraph in which inline code was not closed: its end, and the last run of backticks of each length in it.
    ticks: (usize, HashMap<usize, usize>),
}

impl Scan<'_> {
    fn lines(&mut self, from: usize) {
        let mut at = from;
        // After a blank line, or after another statement.
        let mut fresh = true;
        while at < self.bytes.len() {
            let end = self.line_end(at);
            let line = &self.source[at..end];
            let bare = line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '>' | '-' | '*' | '+'));
            if let Some(fence) = fence(bare) {
                at = self.after_fence(end, fence);
                fresh = false;
                continue;
            }
            if fresh && let Some(stop) = self.statement(at, line) {
                self.found.push(Span::new(at, stop));
                at = self.line_end(stop);
                continue;
            }
            fresh = line.trim().is_empty();
            let start = at + line.len() - line.trim_start().len();
            if self.bytes.get(start) == Some(&b'{')
                && let Some(stop) = self.balanced(start)
                && self.is_blank_line(stop)
            {
                self.found.push(Span::new(start, stop));
                at = self.line_end(stop);
                continue;
            }
            at = self.text(at, end);
        }
    }

    /// True where nothing but blanks follows on the line that byte `at` is in.
    fn is_blank_line(&self, at: usize) -> bool {
        let rest = &self.source[at..];
        let text = work::find_char(rest, |c| c == '\n' || !c.is_whitespace());
        text.is_none_or(|text| rest[text..].starts_with('\n'))
    }

    /// One past the end of the line that byte `at` is in.
    fn line_end(&self, at: usize) -> usize {
        work::memchr(b'\n', &self.bytes[at..]).map_or(self.bytes.len(), |found| at + found + 1)
    }

    /// Where the text goes on after the fence that is open at byte `at`.
    fn after_fence(&self, mut at: usize, fence: (u8, usize)) -> usize {
        while at < self.bytes.len() {
            let end = self.line_end(at);
            let line = self.source[at..end].trim().trim_start_matches(['>', ' ']);
            at = end;
            if line.len() >= fence.1 && line.bytes().all(|b| b == fence.0) {
                break;
            }
        }
        at
    }

    /// One past an import or export that begins with `line` at byte `at`: to the end of the line that closes its braces.
    fn statement(&mut self, at: usize, line: &str) -> Option<usize> {
        if !line.starts_with("import ") && !line.starts_with("export ") && !line.starts_with("import{") {
            return None;
        }
        // A sentence may begin with these words: a statement has a sign that sentences have not.
        let signs = [" from ", "'", "\"", "{", "=", "(", " default ", " * "];
        if !signs.iter().any(|sign| line.contains(sign)) {
            return None;
        }
        let (mut i, mut depth) = (at, 0usize);
        loop {
            let end = self.line_end(i);
            depth = depth_after(&self.bytes[i..end], depth);
            i = end;
            let next_is_blank = self.source[i..self.line_end(i)].trim().is_empty();
            if i >= self.bytes.len() || (depth == 0 && next_is_blank) {
                break;
            }
            // Another statement on the next line.
            if depth == 0 && (self.source[i..].starts_with("import ") || self.source[i..].starts_with("export ")) {
                break;
            }
            if self.unbalanced && next_is_blank {
                break;
            }
        }
        if depth > 0 {
            // Its brackets never close: it is over at the next blank line.
            self.unbalanced = true;
            i = self.blank_line(at);
        }
        Some(at + self.source[at..i].trim_end().len())
    }

    /// Where the first blank line after byte `at` begins.
    fn blank_line(&self, mut at: usize) -> usize {
        while at < self.bytes.len() {
            let end = self.line_end(at);
            if self.source[at..end].trim().is_empty() {
                break;
            }
            at = end;
        }
        at
    }

    /// Finds the tags and comments in a line of text; answers where the next line begins.
    fn text(&mut self, mut at: usize, mut end: usize) -> usize {
        while at < end {
            match self.bytes[at] {
                b'\\' => at += 1 + usize::from(self.bytes.get(at + 1).is_some_and(|b| b.is_ascii_punctuation())),
                b'`' => {
                    let run = self.bytes[at..].iter().take_while(|&&b| b == b'`').count();
                    at = self.after_code(at + run, run).unwrap_or(at + run);
                    end = self.end_after(at, end);
                }
                b'<' => {
                    let Some((stop, component)) = self.tag(at) else {
                        at += 1;
                        continue;
                    };
                    if component {
                        self.found.push(Span::new(at, stop));
                    }
                    at = stop;
                    end = self.end_after(at, end);
                }
                b'{' if self.source[at..].starts_with("{/*") => match self.balanced(at) {
                    Some(stop) => {
                        self.found.push(Span::new(at, stop));
                        at = stop;
                        end = self.end_after(at, end);
                    }
                    None => at += 1,
                },
                _ => at += 1,
            }
        }
        end
    }

    /// The end of the line that the scan is in at byte `at`, where that may be one after the line that ends at `end`.
    fn end_after(&self, at: usize, end: usize) -> usize {
        if at > end { self.line_end(at - 1) } else { end }
    }

    /// One past the run of `run` backticks that closes inline code; code ends with its paragraph.
    fn after_code(&mut self, from: usize, run: usize) -> Option<usize> {
        if from < self.ticks.0 && self.ticks.1.get(&run).is_none_or(|&last| last < from) {
            return None;
        }
        let mut runs = HashMap::new();
        let mut at = from;
        let end = loop {
            let found = memchr::memchr2(b'`', b'\n', &self.bytes[at..]);
            work::looked(found.unwrap_or(self.bytes.len() - at) + 1);
            let Some(found) = found else { break self.bytes.len() };
            at += found;
            if self.bytes[at] == b'\n' {
                if self.is_blank_line(at + 1) {
                    break at;
                }
                at += 1;
                continue;
            }
            let start = at;
            at += self.bytes[at..].iter().take_while(|&&b| b == b'`').count();
            work::looked(at - start);
            if at - start == run {
                return Some(at);
            }
            runs.insert(at - start, start);
        };
        // Searched to its end: what closes later code in it is known now.
        self.ticks = (end, runs);
        None
    }

    /// One past the tag at byte `at`, and whether it is JSX: a component, a fragment, or a tag with an expression.
    fn tag(&mut self, at: usize) -> Option<(usize, bool)> {
        let mut i = at + 1 + usize::from(self.bytes.get(at + 1) == Some(&b'/'));
        let first = *self.bytes.get(i)?;
        if first == b'>' {
            return Some((i + 1, true));
        }
        if !first.is_ascii_alphabetic() || self.unclosed {
            return None;
        }
        let name_len = self.bytes[i..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':'))
            .count();
        let name = &self.bytes[i..i + name_len];
        let component = first.is_ascii_uppercase() || name.contains(&b'.');
        i += name_len;
        if !matches!(self.bytes.get(i)?, b' ' | b'\t' | b'\n' | b'\r' | b'/' | b'>') {
            return None;
        }
        match self.closings.tag(i, self.unbalanced) {
            TagEnd::At { end, braces } => Some((end + 1, component || braces)),
            TagEnd::None => None,
            TagEnd::Unbalanced => {
                self.unbalanced = true;
                None
            }
            TagEnd::Missing => {
                self.unclosed = true;
                None
            }
        }
    }

    /// One past the brace that closes the one at byte `at`.
    fn balanced(&mut self, at: usize) -> Option<usize> {
        if self.unbalanced {
            return None;
        }
        let close = self.closings.brace(at);
        self.unbalanced = close.is_none();
        close.map(|close| close + 1)
    }
}

/// The byte and number of a fence that a line begins with.
fn fence(line: &str) -> Option<(u8, usize)> {
    let first = *line.as_bytes().first().filter(|b| matches!(b, b'`' | b'~'))?;
    let len = line.bytes().take_while(|&b| b == first).count();
    (len >= 3 && (first == b'~' || !line[len..].contains('`'))).then_some((first, len))
}

/// Depth of brackets after a line of JavaScript, quotes respected as far as they close on the line.
fn depth_after(line: &[u8], mut depth: usize) -> usize {
    let mut i = 0;
    while let Some(&b) = line.get(i) {
        match b {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            b'"' | b'\'' | b'`' => {
                if let Some(len) = memchr(b, &line[i + 1..]) {
                    i += len + 1;
                }
            }
            _ => {}
        }
        i += 1;
    }
    depth
}

#[cfg(test)]
mod tests {
    use super::{markup, masked};
    use crate::work;

    #[test]
    fn lines_of_markup_are_blank_and_others_are_not_indented() {
        let of = |source: &str| masked(source, &markup(source, 0));
        assert_eq!(of("<A>\n  <B> <C>\ntext <D/>\n<E>x</E>\n"), "   \n         \ntext ;;;;\n;;;x;;;;\n");
        assert_eq!(of("<A\n b='c'>d"), "  \n;;;;;;;d");
    }

    fn found(source: &str) -> Vec<&str> {
        let spans = markup(source, 0);
        assert_eq!(masked(source, &spans).len(), source.len());
        spans.iter().map(|span| span.of(source)).collect()
    }

    #[test]
    fn statements_tags_and_comments() {
        let source = "import A from './a'\nimport {\n  B,\n} from 'b'\n\nexport const c = {\n\n  d: 1,\n}\n\n# Title\n\n\
            <Tabs groupId=\"x\" on={() => { f('}') }}>\n  text <b>bold</b> <B/> `<C>`\n</Tabs>\n\n{/* not\n shown */}\n\
            \\<D> a < b <br/> <p style={{a: 1}}>x</p> <></>\n";
        assert_eq!(
            found(source),
            [
                "import A from './a'",
                "import {\n  B,\n} from 'b'",
                "export const c = {\n\n  d: 1,\n}",
                "<Tabs groupId=\"x\" on={() => { f('}') }}>",
                "<B/>",
                "</Tabs>",
                "{/* not\n shown */}",
                "<p style={{a: 1}}>",
                "<>",
                "</>",
            ]
        );
    }

    #[test]
    fn code_and_sentences_are_left_alone() {
        assert!(found("```jsx\n<Tabs>\nimport a from 'b'\n```\n\n- ~~~\n  <A/>\n  ~~~\n").is_empty());
        assert!(found("import duties rise\nexport prices fall\n").is_empty());
        assert!(found("text\nimport a from 'b'\n").is_empty());
        assert!(found("{open and {open\n\n<A b={open\n").is_empty());
    }

    #[test]
    fn hostile_input_takes_linear_time() {
        for unit in ["<A ", "<A b={", "{", "{`", "`a\n", "<A b='", "import {\n\n", "export {}\n", "{/*", "<A>", "``a` "]
        {
            let source = unit.repeat(20_000);
            work::take();
            assert!(markup(&source, 0).len() <= 20_000);
            let looked = work::take();
            assert!(looked <= 12 * source.len(), "{unit:?}: {looked} bytes for {}", source.len());
        }
    }
}
