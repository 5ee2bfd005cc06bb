//! From lines to blocks.

use std::ops::Range;

use pericope_api::{Kind, Span};

use super::attributes::Attributes;
use super::delimited::{Delimited, delimited};
use super::ids::Ids;
use super::inline;
use super::lists::{marker, term};
use super::metadata::{Metadata, attribution, entry};
use super::single::{block_macro, conditional, is_comment, is_preprocessor};
use crate::builder::Builder;
use crate::formats::html::references;
use crate::formats::lines::{Line, lines};
use crate::inline::Inline;
use crate::work;

/// The line that ends a block looks for its block among this many open ones, so that time stays linear.
const DEPTH: usize = 256;

/// Reads the source of `builder` from byte `from` on.
pub(super) fn read(builder: &mut Builder<'_>, from: usize) {
    let source = builder.source;
    let mut adoc = Adoc {
        source,
        builder,
        lines: lines(source, from),
        attributes: Attributes::new(source.len()),
        ids: Ids::default(),
        metadata: Metadata::default(),
        pending: None,
        open: Vec::new(),
        in_list: false,
        attached: false,
        described: false,
        begun: false,
    };
    let mut i = 0;
    while let Some(line) = adoc.line(i) {
        let next = if line.is_blank() { i + 1 } else { adoc.block(i, line) };
        i = next.max(i + 1);
    }
}

/// A document that is being read.
pub(super) struct Adoc<'b, 's> {
    pub(super) source: &'s str,
    pub(super) builder: &'b mut Builder<'s>,
    pub(super) lines: Vec<Line>,
    pub(super) attributes: Attributes,
    pub(super) ids: Ids,
    /// What the lines above say of the next block.
    pub(super) metadata: Metadata,
    /// Where the markup begins that leads up to the next text.
    pending: Option<usize>,
    /// The lines that end the blocks around the current place, and whether they lie in a list.
    open: Vec<(&'s str, bool)>,
    /// In a list item.
    pub(super) in_list: bool,
    /// A line of `+` joins the next block to the item before it.
    attached: bool,
    /// The line before was a term, whose description may be indented.
    described: bool,
    /// There was a block.
    pub(super) begun: bool,
}

impl<'s> Adoc<'_, 's> {
    pub(super) fn line(&self, i: usize) -> Option<Line> {
        self.lines.get(i).copied()
    }

    /// The block at line `i`, which is not blank; answers with the line after it.
    fn block(&mut self, i: usize, line: Line) -> usize {
        let text = line.of(self.source);
        if let Some(at) = conditional(text) {
            // The line may be an item of a list.
            let item = text.get(at..text.len() - 1).and_then(marker);
            self.in_list |= item.is_some();
            let kind = self.kind();
            let shown = Span::new(line.start + at + item.unwrap_or(0), line.end - 1);
            self.text(Span::new(line.start, line.end), shown, kind);
            return i + 1;
        }
        if is_comment(text) || is_preprocessor(text) {
            self.hide(i, i + 1);
            return i + 1;
        }
        if let Some((name, value)) = entry(text) {
            return self.entry(i, name, value);
        }
        if text == "+" {
            self.pending.get_or_insert(line.start);
            self.attached = self.in_list;
            return i + 1;
        }
        if line.indent == 0 && self.metadata.add(text) {
            self.pending.get_or_insert(line.start);
            let who = attribution(text);
            if !who.is_empty() {
                self.attribution(line, &who);
            }
            return i + 1;
        }
        if let Some((kind, end)) = delimited(text) {
            return self.delimited(i, line, kind, end);
        }
        if self.open.is_empty() || self.metadata.style == "discrete" {
            let lines = self.title(i, line, text);
            if lines > 0 {
                return i + lines;
            }
        }
        if matches!(text, "'''" | "---" | "***" | "- - -" | "* * *" | "<<<") {
            self.hide(i, i + 1);
            return i + 1;
        }
        if let Some(target) = block_macro(text) {
            return self.block_macro(i, line, target);
        }
        self.text_block(i, line, text)
    }

    /// A title over a block, a list item, code without delimiters, or a paragraph.
    fn text_block(&mut self, i: usize, line: Line, text: &str) -> usize {
        let is_title = text.strip_prefix('.').is_some_and(|rest| !rest.is_empty() && !rest.starts_with(['.', ' ']));
        if is_title && line.indent == 0 {
            let kind = self.kind();
            let attached = self.attached;
            self.text(Span::new(line.start, line.end), Span::new(line.start + 1, line.end), kind);
            self.attached = attached;
            return i + 1;
        }
        if let Some(len) = marker(text) {
            return self.item(i, line, line.start + len);
        }
        if let Some((term, after)) = term(text) {
            self.in_list = true;
            let name = Span::new(line.start, line.start + term);
            self.text(Span::new(line.start, line.start + after), name, Kind::ListItem);
            self.in_list = true;
            if line.start + after >= line.end {
                (self.attached, self.described) = (true, true);
                return i + 1;
            }
            return self.item(i, line, line.start + after);
        }
        let style = std::mem::take(&mut self.metadata).style;
        let code = matches!(style.as_str(), "source" | "listing" | "literal" | "stem" | "latexmath" | "asciimath");
        if (line.indent > 0 && !self.described) || code {
            let mut end = i;
            while self.line(end).is_some_and(|line| !line.is_blank() && line.of(self.source) != "+") {
                end += 1;
            }
            let body = Span::new(line.start, self.lines[end.max(i + 1) - 1].end);
            let start = self.lead(body.start);
            self.builder.whole(start, body, Kind::Code);
            return end;
        }
        // The description below a term, and what a `+` joins to an item, are parts of a list.
        let end = self.paragraph_end(i, self.described || self.attached);
        let span = Span::new(line.start, self.lines[end - 1].end);
        let label = ["NOTE: ", "TIP: ", "IMPORTANT: ", "CAUTION: ", "WARNING: "].iter().find(|l| text.starts_with(**l));
        let shown = Span::new(line.start + label.map_or(0, |label| label.len()), span.end);
        if !self.attached {
            self.in_list = false;
        }
        let kind = self.kind();
        self.text(span, shown, kind);
        end
    }

    /// A list item whose text begins at byte `from` of line `i`.
    fn item(&mut self, i: usize, line: Line, from: usize) -> usize {
        let end = self.paragraph_end(i, true);
        let last = self.lines[end - 1].end;
        self.in_list = true;
        // The text of a description has its term before it.
        let start = line.start.max(self.builder.covered().min(from));
        self.text(Span::new(start, last), Span::new(from.min(last), last), Kind::ListItem);
        self.in_list = true;
        end
    }

    /// One past the last line of the paragraph that begins at line `i`; list items end each other.
    fn paragraph_end(&self, i: usize, in_list: bool) -> usize {
        let mut end = i + 1;
        while let Some(line) = self.line(end) {
            let text = line.of(self.source);
            let block = line.is_blank()
                || delimited(text).is_some()
                || (text.starts_with('[') && Metadata::default().add(text))
                || is_comment(text)
                || is_preprocessor(text)
                || (in_list && (text == "+" || marker(text).is_some() || term(text).is_some()));
            if block {
                break;
            }
            end += 1;
        }
        end
    }

    /// A block between two lines like line `i`.
    fn delimited(&mut self, i: usize, line: Line, kind: Delimited, end_line: &'s str) -> usize {
        let from = self.open.len().saturating_sub(DEPTH);
        work::looked(self.open.len() - from);
        if let Some(at) = self.open[from..].iter().rposition(|(open, _)| *open == end_line) {
            let at = from + at;
            // This ends it, and whatever was forgotten in it.
            let in_list = self.open[at].1;
            self.open.truncate(at);
            self.end_line(line);
            self.in_list = in_list;
            return i + 1;
        }
        let metadata = std::mem::take(&mut self.metadata);
        let code = matches!(metadata.style.as_str(), "source" | "listing" | "literal");
        let math = matches!(metadata.style.as_str(), "stem" | "latexmath" | "asciimath");
        let kind = match kind {
            Delimited::Blocks if code => Delimited::Code,
            Delimited::Pass if math => Delimited::Code,
            kind => kind,
        };
        if kind == Delimited::Blocks {
            self.pending.get_or_insert(line.start);
            let in_list = self.in_list && self.attached;
            self.open.push((end_line, in_list));
            (self.in_list, self.attached) = (in_list, in_list);
            return i + 1;
        }
        let closing = (i + 1..self.lines.len()).find(|&j| self.lines[j].of(self.source) == end_line);
        let to = closing.unwrap_or(self.lines.len());
        work::looked(to - i);
        let mut body = self.lines[i + 1..to].iter().filter(|line| !line.is_blank());
        let first = body.next().copied();
        let body = first.map(|first| Span::new(first.start, body.next_back().map_or(first.end, |last| last.end)));
        match (kind, body) {
            (Delimited::Code | Delimited::Table, Some(body)) => {
                self.pending.get_or_insert(line.start);
                let start = self.lead(body.start);
                let kind = if kind == Delimited::Table { Kind::Table } else { Kind::Code };
                self.builder.whole(start, body, kind);
                if kind == Kind::Table {
                    self.decode(body);
                }
                if let Some(closing) = closing {
                    self.builder.extend(self.lines[closing].end);
                }
            }
            _ => self.hide(i, to + usize::from(closing.is_some())),
        }
        to + 1
    }

    /// Character references in a block that was handed over show as their characters.
    fn decode(&mut self, body: Span) {
        let (source, builder) = (self.source, &mut *self.builder);
        references(source, body, &mut |span, shown| {
            if let Some(shown) = shown.filter(|_| inline::is_ended(span.of(source))) {
                builder.rewrite(span, &shown);
            }
        });
    }

    /// The line that ends a block belongs to what it ends.
    fn end_line(&mut self, line: Line) {
        if self.pending.is_none() && self.builder.len() > 0 && self.builder.gap(line.start).is_empty() {
            self.builder.extend(line.end);
        } else {
            let start = self.pending.take().unwrap_or(line.start);
            self.builder.hidden(Span::new(start.max(self.builder.covered()), line.end));
        }
        self.attached = false;
    }

    /// `image::path[Alternative text]`; of other macros nothing is seen.
    fn block_macro(&mut self, i: usize, line: Line, (name, inner): (&str, Span)) -> usize {
        let inner = Span::new(line.start + inner.start, line.start + inner.end);
        let alt = super::macros::first_value(self.source, inner);
        if name == "image" && !alt.is_empty() {
            let kind = self.kind();
            self.text(Span::new(line.start, line.end), alt, kind);
        } else {
            self.hide(i, i + 1);
        }
        self.metadata = Metadata::default();
        i + 1
    }

    /// Whom the quotation below is by, and what it is from: these pieces of the line.
    fn attribution(&mut self, line: Line, who: &[Range<usize>]) {
        // As the quotation itself, it ends a list that it is not joined to.
        self.in_list &= self.attached;
        let (metadata, attached, kind) = (self.metadata.clone(), self.attached, self.kind());
        let mut inline = Inline::default();
        for piece in who {
            let shown = Span::new(line.start + piece.start, line.start + piece.end);
            inline::parse(self.source, shown, &mut self.attributes, &mut inline);
        }
        self.pieces(Span::new(line.start, line.end), &inline, kind);
        (self.metadata, self.attached) = (metadata, attached);
    }

    /// Hands over running text: `shown` is the part of `extent` that is read.
    fn text(&mut self, extent: Span, shown: Span, kind: Kind) {
        let mut inline = Inline::default();
        inline::parse(self.source, shown, &mut self.attributes, &mut inline);
        self.pieces(extent, &inline, kind);
    }

    fn pieces(&mut self, extent: Span, inline: &Inline<'_>, kind: Kind) {
        let start = self.lead(extent.start);
        self.builder.text(Span::new(start, extent.end.max(start)), inline, kind);
        self.metadata = Metadata::default();
    }

    pub(super) fn hide(&mut self, from: usize, to: usize) {
        let Some(lines) = self.lines.get(from..to) else { return };
        if let (Some(first), Some(last)) = (lines.first(), lines.last()) {
            // What leads up to a block still does so after a comment.
            let before = self.builder.gap(self.pending.unwrap_or(first.start).min(first.start));
            self.builder.hidden(before);
            if self.pending.is_none() {
                self.builder.hidden(Span::new(first.start.max(self.builder.covered()), last.end));
            }
        }
    }

    /// Where a block begins whose text begins at byte `start`: with the markup that leads up to it. What else lies
    /// before it is handed over as hidden.
    pub(super) fn lead(&mut self, start: usize) -> usize {
        let from = self.pending.take().unwrap_or(start).max(self.builder.covered());
        let before = self.builder.gap(from);
        self.builder.hidden(before);
        self.begun = true;
        (self.attached, self.described) = (false, false);
        from
    }

    fn kind(&self) -> Kind {
        if self.in_list { Kind::ListItem } else { Kind::Prose }
    }
}
