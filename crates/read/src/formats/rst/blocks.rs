//! From lines to blocks.

use pericope_api::{Kind, Span};

use super::ids::Ids;
use super::inline;
use super::substitutions::Substitutions;
use crate::builder::Builder;
use crate::formats::lines::{Line, adornment, lines};
use crate::inline::Inline;
use crate::work;

/// Blocks inside each other beyond this depth are read as paragraphs.
const DEEPEST: usize = 48;

/// Reads the source of `builder` from byte `from` on.
pub(super) fn read(builder: &mut Builder<'_>, from: usize) {
    let source = builder.source;
    let lines = lines(source, from);
    let substitutions = Substitutions::of(source, &lines);
    let count = lines.len();
    let mut rst = Rst {
        source,
        builder,
        lines,
        substitutions,
        styles: Vec::new(),
        ids: Ids::default(),
        target: None,
        pending: None,
        items: 0,
        depth: 0,
        in_header: true,
    };
    rst.body(0, count, 0);
}

/// A document that is being read.
pub(super) struct Rst<'b, 's> {
    pub(super) source: &'s str,
    pub(super) builder: &'b mut Builder<'s>,
    pub(super) lines: Vec<Line>,
    pub(super) substitutions: Substitutions,
    /// Styles of titles by level: the character, and whether it is over the title as well.
    pub(super) styles: Vec<(u8, bool)>,
    pub(super) ids: Ids,
    /// The id of the target just before: a title that follows can be linked to by it.
    pub(super) target: Option<String>,
    /// Where the markup begins that leads up to the next text: a list marker, a directive.
    pub(super) pending: Option<usize>,
    /// List items around the current place.
    pub(super) items: usize,
    pub(super) depth: usize,
    /// Nothing but titles and comments so far: a field list here is metadata.
    pub(super) in_header: bool,
}

impl<'s> Rst<'_, 's> {
    /// Reads lines `from..to`, which belong to a block whose text begins in column `base`.
    pub(super) fn body(&mut self, from: usize, to: usize, base: usize) {
        self.depth += 1;
        let mut i = from;
        while let Some(line) = self.line(i, to) {
            if line.is_blank() {
                i += 1;
                continue;
            }
            if self.depth > DEEPEST {
                i = self.paragraph_lines(i, to);
                continue;
            }
            let next = if line.indent > base { self.quote(i, to, base) } else { self.block(i, to, line) };
            // Every block has a line of its own; whatever happens, the next one is further down.
            i = next.max(i + 1);
        }
        self.depth -= 1;
    }

    /// Line `i`, if it is before `to`.
    pub(super) fn line(&self, i: usize, to: usize) -> Option<Line> {
        if i < to { self.lines.get(i).copied() } else { None }
    }

    /// One past the last line of the block that begins at line `i`: blank lines and those indented by more than `base`.
    pub(super) fn block_end(&self, i: usize, to: usize, base: usize) -> usize {
        let mut end = i + 1;
        let mut j = end;
        while let Some(line) = self.line(j, to) {
            if !line.is_blank() {
                if line.indent <= base {
                    break;
                }
                end = j + 1;
            }
            j += 1;
        }
        work::looked(j - i);
        end
    }

    /// The smallest column that text begins in among lines `from..to`.
    pub(super) fn indent_of(&self, from: usize, to: usize) -> Option<usize> {
        work::looked(to.saturating_sub(from));
        self.lines.get(from..to)?.iter().filter(|line| !line.is_blank()).map(|line| line.indent).min()
    }

    /// The block that begins at line `i`; answers with the line after it.
    fn block(&mut self, i: usize, to: usize, line: Line) -> usize {
        let text = line.of(self.source);
        let top = self.depth == 1;
        let found = match text.as_bytes()[0] {
            b'.' if text == ".." || text.starts_with(".. ") || text.starts_with("..\t") => self.explicit(i, to, line),
            b'_' if text == "__" || text.starts_with("__ ") => {
                self.hide(i, i + 1);
                i + 1
            }
            b'+' => self.grid_table(i, to),
            b'=' if text.contains(' ') => self.simple_table(i, to),
            b'|' if text == "|" || text.starts_with("| ") => self.line_block(i, to, line),
            b'>' if text == ">>>" || text.starts_with(">>> ") => self.doctest(i, to),
            _ => 0,
        };
        if found > 0 {
            return found;
        }
        let found = self.list(i, to, line);
        if found > 0 {
            return found;
        }
        if top {
            let lines = if adornment(text).is_some() { self.overlined(i, to) } else { self.underlined(i, to) };
            if lines > 0 {
                return i + lines;
            }
        }
        let alone = self.line(i + 1, to).is_none_or(|next| next.is_blank());
        if adornment(text).is_some_and(|c| c != b':') && text.len() >= 4 && alone {
            self.hide(i, i + 1);
            return i + 1;
        }
        self.paragraph(i, to, line)
    }

    /// Lines that are indented without a reason: a quotation.
    fn quote(&mut self, i: usize, to: usize, base: usize) -> usize {
        let end = self.block_end(i, to, base);
        let indent = self.indent_of(i, end).unwrap_or(base + 1);
        self.body(i, end, indent);
        end
    }

    /// A paragraph, the term of a definition, or what leads up to a literal block.
    fn paragraph(&mut self, i: usize, to: usize, line: Line) -> usize {
        if let Some(next) = self.line(i + 1, to)
            && !next.is_blank()
            && next.indent > line.indent
            && !line.of(self.source).ends_with("::")
        {
            return self.definition(i, to, line);
        }
        let mut end = i + 1;
        while self.line(end, to).is_some_and(|next| !next.is_blank() && next.indent == line.indent) {
            end += 1;
        }
        let last = self.lines[end - 1].end;
        let span = Span::new(line.start, last);
        let text = span.of(self.source);
        if !text.ends_with("::") || text.ends_with("\\::") {
            self.text(span, span, self.kind());
            return end;
        }
        // One colon is seen, unless it stands apart.
        let shown = text.strip_suffix("::").unwrap_or(text);
        let keep = if shown.ends_with(|c: char| !c.is_whitespace()) { shown.len() + 1 } else { shown.trim_end().len() };
        if shown.trim().is_empty() {
            self.pending.get_or_insert(line.start);
        } else {
            self.text(span, Span::new(line.start, line.start + keep), self.kind());
        }
        self.literal(end, to, line.indent)
    }

    /// The literal block that follows at line `i` or after blank lines: indented, or quoted by one punctuation mark.
    pub(super) fn literal(&mut self, i: usize, to: usize, base: usize) -> usize {
        let mut first = i;
        while self.line(first, to).is_some_and(|line| line.is_blank()) {
            first += 1;
        }
        let Some(line) = self.line(first, to) else { return i };
        let end = if line.indent > base {
            self.block_end(first, to, base)
        } else {
            let quote = line.of(self.source).as_bytes().first().copied().filter(u8::is_ascii_punctuation);
            let mut end = first;
            while quote.is_some()
                && self.line(end, to).is_some_and(|l| !l.is_blank() && Some(self.source.as_bytes()[l.start]) == quote)
            {
                end += 1;
            }
            end
        };
        if end > first {
            self.whole(first, end, Kind::Code);
        }
        end.max(i)
    }

    /// Paragraphs and nothing else: for what is nested too deep.
    fn paragraph_lines(&mut self, i: usize, to: usize) -> usize {
        let mut end = i;
        while self.line(end, to).is_some_and(|line| !line.is_blank()) {
            end += 1;
        }
        let span = Span::new(self.lines[i].start, self.lines[end - 1].end);
        self.text(span, span, self.kind());
        end
    }

    /// `| ` before each line: verse, whose line ends count.
    fn line_block(&mut self, i: usize, to: usize, line: Line) -> usize {
        let mut inline = Inline::default();
        let mut end = i;
        while let Some(next) = self.line(end, to) {
            let text = next.of(self.source);
            let marked = next.indent == line.indent && (text == "|" || text.starts_with("| "));
            if next.is_blank() || !(marked || (end > i && next.indent > line.indent)) {
                break;
            }
            let start = next.start + if marked { text.len().min(2) } else { 0 };
            inline::parse(self.source, Span::new(start, next.end), Some(&mut self.substitutions), &mut inline);
            if let Some(after) = self.line(end + 1, to).filter(|after| !after.is_blank()) {
                inline.shown(Span::new(next.end, after.start), "\n");
            }
            end += 1;
        }
        if end == i {
            return 0;
        }
        let extent = Span::new(self.lead(line.start), self.lines[end - 1].end);
        self.builder.text(extent, &inline, self.kind());
        end
    }

    /// A session of an interpreter: to the next blank line.
    fn doctest(&mut self, i: usize, to: usize) -> usize {
        let mut end = i;
        while self.line(end, to).is_some_and(|line| !line.is_blank()) {
            end += 1;
        }
        self.whole(i, end, Kind::Code);
        end
    }

    /// Hands over running text: `shown` is the part of `extent` that is read.
    pub(super) fn text(&mut self, extent: Span, shown: Span, kind: Kind) {
        let mut inline = Inline::default();
        inline::parse(self.source, shown, Some(&mut self.substitutions), &mut inline);
        let start = self.lead(extent.start);
        self.builder.text(Span::new(start, extent.end), &inline, kind);
    }

    /// Hands over lines `from..to` as one block that is never cut.
    pub(super) fn whole(&mut self, from: usize, to: usize, kind: Kind) {
        let Some(lines) = self.lines.get(from..to) else { return };
        let mut lines = lines.iter().filter(|line| !line.is_blank());
        let Some(first) = lines.next() else { return };
        let body = Span::new(first.start, lines.next_back().unwrap_or(first).end);
        let start = self.lead(body.start);
        self.builder.whole(start, body, kind);
    }

    /// Hands over lines `from..to` as markup.
    pub(super) fn hide(&mut self, from: usize, to: usize) {
        let Some(lines) = self.lines.get(from..to) else { return };
        if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
            let start = self.pending.take().unwrap_or(first.start);
            let before = self.builder.gap(start);
            self.builder.hidden(before);
            self.builder.hidden(Span::new(start.max(self.builder.covered()), last.end));
        }
    }

    /// Where a block begins whose text begins at byte `start`: with the markup that leads up to it. What else lies
    /// before it is handed over as hidden.
    pub(super) fn lead(&mut self, start: usize) -> usize {
        let from = self.pending.take().unwrap_or(start).max(self.builder.covered());
        let before = self.builder.gap(from);
        self.builder.hidden(before);
        self.target = None;
        self.in_header = false;
        from
    }

    pub(super) fn kind(&self) -> Kind {
        if self.items > 0 { Kind::ListItem } else { Kind::Prose }
    }
}
