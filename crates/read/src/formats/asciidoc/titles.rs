//! Titles of the document and its sections, and what the document says of itself.

use pericope_api::Span;
use unicode_width::UnicodeWidthStr;

use super::blocks::Adoc;
use super::inline;
use super::metadata::entry;
use super::single::{is_comment, is_preprocessor};
use crate::formats::lines::{Line, adornment};
use crate::inline::{Inline, Piece};
use crate::limits;

/// Longest `idprefix` in bytes; a longer one is as good as none.
const LONGEST_PREFIX: usize = 100;

/// What shows of a title, less the characters that it writes by reference: ids have none of them.
fn without_references(title: &Inline<'_>, source: &str) -> String {
    let is_reference = |piece: &&Piece<'_>| piece.shown.is_some() && piece.span.of(source).starts_with('&');
    title.pieces().iter().filter(|piece| !is_reference(piece)).map(|piece| piece.text(source)).collect()
}

impl Adoc<'_, '_> {
    /// The title of the document or of a section at line `i`; answers how many lines it has, 0 where there is none.
    pub(super) fn title(&mut self, i: usize, line: Line, text: &str) -> usize {
        let Some(first) = text.bytes().next().filter(|_| line.indent == 0) else { return 0 };
        let run = text.bytes().take_while(|&b| b == first).count();
        let rest = text.get(run..).unwrap_or("").trim_start();
        let (level, span, lines) = if matches!(first, b'=' | b'#') && run <= 6 {
            if rest.is_empty() || !text[run..].starts_with([' ', '\t']) {
                return 0;
            }
            // The same marks may stand behind it.
            let marks = &text[..run];
            let len = rest.strip_suffix(marks).filter(|r| r.ends_with(' ')).map_or(rest.len(), |r| r.trim_end().len());
            let start = line.end - rest.len();
            (run, Span::new(start, start + len), 1)
        } else {
            let Some(under) = self.line(i + 1).filter(|under| under.indent == 0) else { return 0 };
            let rule = under.of(self.source);
            let marks = [b'=', b'-', b'~', b'^', b'+'];
            let level = adornment(rule).and_then(|c| marks.iter().position(|&mark| mark == c));
            let fits = text.width().abs_diff(rule.len()) < 2 && text.starts_with(char::is_alphanumeric);
            let Some(level) = level.filter(|_| fits && rule.len() > 1) else { return 0 };
            (level + 1, Span::new(line.start, line.end), 2)
        };
        let header = level == 1 && !self.begun;
        self.heading(i, lines, span, u8::try_from(level).unwrap_or(6));
        if header { self.header(i + lines) - i } else { lines }
    }

    fn heading(&mut self, i: usize, lines: usize, mut text: Span, level: u8) {
        let metadata = std::mem::take(&mut self.metadata);
        let mut id = metadata.id;
        // An id behind the title: `== Use [[use]]`.
        let shown = text.of(self.source);
        if let Some((title, anchor)) = shown.strip_suffix("]]").and_then(|shown| shown.rsplit_once("[["))
            && !title.trim().is_empty()
        {
            id = Some(anchor.split(',').next().unwrap_or_default().to_owned());
            text.end = text.start + title.trim_end().len();
        }
        let mut inline = Inline::default();
        inline::parse(self.source, text, &mut self.attributes, &mut inline);
        // What is too long for a heading is text, and has no id.
        let fits = limits::is_heading(&inline, self.source);
        let get = |name: &str| self.attributes.values.get(name).map(String::as_str);
        let prefix = get("idprefix").filter(|prefix| prefix.len() <= LONGEST_PREFIX).unwrap_or("_").to_owned();
        let separator = get("idseparator").map_or(Some('_'), |separator| separator.chars().next());
        let anchor = match id {
            Some(id) => self.ids.explicit(&id),
            // The title of the document has none.
            None if (level == 1 && !self.begun) || !fits => None,
            None => self.ids.section(&without_references(&inline, self.source), &prefix, separator),
        };
        if level == 1 && !self.begun && fits {
            self.set("doctitle", &inline.visible(self.source));
        }
        self.in_list = false;
        let extent = Span::new(self.lines[i].start, self.lines[i + lines - 1].end);
        let start = self.lead(extent.start);
        self.builder.heading(Span::new(start, extent.end), &inline, level, anchor);
    }

    /// Author and revision below the title of the document; attributes are read as anywhere.
    fn header(&mut self, mut i: usize) -> usize {
        let mut lines = 0;
        while let Some(line) = self.line(i).filter(|line| !line.is_blank()) {
            let text = line.of(self.source);
            if is_comment(text) || is_preprocessor(text) {
                self.hide(i, i + 1);
                i += 1;
            } else if let Some((name, value)) = entry(text) {
                i = self.entry(i, name, value);
            } else if lines < 2 && line.indent == 0 && !text.starts_with(['[', '.', '=', '*', '-', '|', '/']) {
                self.hide(i, i + 1);
                if lines == 0 {
                    self.author(text);
                } else {
                    self.revision(text);
                }
                lines += 1;
                i += 1;
            } else {
                break;
            }
        }
        i
    }

    /// `Jane Doe <jane@example.org>; John Doe`.
    fn author(&mut self, text: &str) {
        let first = text.split(';').next().unwrap_or(text);
        let (name, address) = first.split_once('<').unwrap_or((first, ""));
        self.set("author", &name.replace('_', " "));
        self.set("email", address.split('>').next().unwrap_or_default());
    }

    /// `v1.2, 2024-05-01: Remark`, or one of version and date.
    fn revision(&mut self, text: &str) {
        let (text, remark) = text.split_once(": ").unwrap_or((text, ""));
        let (number, date) = match text.split_once(',') {
            Some((number, date)) => (number.trim_start_matches(|c: char| !c.is_ascii_digit() && c != '{'), date),
            None => text.strip_prefix('v').map_or(("", text), |number| (number, "")),
        };
        for (name, value) in [("revnumber", number), ("revdate", date), ("revremark", remark)] {
            self.set(name, value);
        }
    }

    /// Sets an attribute that the document does not set by an entry.
    fn set(&mut self, name: &str, value: &str) {
        let value = value.trim();
        if !value.is_empty() && !self.attributes.values.contains_key(name) {
            let value = self.attributes.resolved(value);
            self.attributes.values.insert(name.to_owned(), value);
        }
    }

    pub(super) fn entry(&mut self, i: usize, name: &str, value: Option<&str>) -> usize {
        let mut end = i + 1;
        let mut whole = value.unwrap_or_default().to_owned();
        while whole.ends_with(" \\")
            && let Some(next) = self.line(end).filter(|next| !next.is_blank())
        {
            whole.truncate(whole.len() - 1);
            whole.push_str(next.of(self.source));
            end += 1;
        }
        match value {
            Some(_) => {
                let value = self.attributes.resolved(&whole);
                self.attributes.values.insert(name.to_lowercase(), value)
            }
            None => self.attributes.values.remove(&name.to_lowercase()),
        };
        self.hide(i, end);
        end
    }
}
