//! Directives: what becomes of their arguments, options and content.

use std::ops::Range;

use pericope_api::{Kind, Span};

use super::blocks::Rst;
use super::classes::{Class, class, is_style, is_word};
use super::inline;
use super::lists::field;
use crate::formats::lines::Line;
use crate::inline::Inline;

impl Rst<'_, '_> {
    /// The directive of lines `i..end`, whose argument begins at byte `argument` of the first.
    pub(super) fn directive(&mut self, i: usize, end: usize, line: Line, name: &str, argument: usize) {
        let has_argument = argument < line.end;
        // The argument may go on below, until the options.
        let mut options = i + 1;
        while has_argument && self.line(options, end).is_some_and(|l| !l.is_blank() && !self.is_option_line(l)) {
            options += 1;
        }
        let argument_end = options;
        let mut content = options;
        while self.line(content, end).is_some_and(|l| !l.is_blank() && (content > options || self.is_option_line(l))) {
            if !self.is_option_line(self.lines[content]) && !self.goes_on(content, options) {
                break;
            }
            content += 1;
        }
        let base = self.indent_of(content, end);
        let class = match (class(name), base.is_some()) {
            (Class::Unknown, true) => Class::Titled,
            (Class::Unknown, false) => Class::Hidden,
            (_, false) if is_style(name, Span::new(argument, line.end).of(self.source)) => Class::Hidden,
            (class, _) => class,
        };
        match class {
            Class::Hidden | Class::Unknown => self.hide(i, end),
            Class::Image => self.image(i, content, end, line),
            Class::Code => self.code(i, argument_end..content, end, line, argument),
            Class::Table => {
                self.pending.get_or_insert(line.start);
                let options = argument_end..content;
                let header = self.option(options.clone(), "header").filter(|_| name.ends_with("csv-table"));
                let below = self.lines.get(content).map_or(line.end, |l| l.start);
                let below = header.as_ref().map_or(below, |(_, start)| *start);
                self.table(if has_argument { argument } else { below }, options, header, end, i);
            }
            Class::Titled | Class::Content | Class::Body => {
                self.pending.get_or_insert(line.start);
                if class == Class::Body {
                    // Text may follow without a blank line.
                    content = if argument_end > i + 1 { i + 1 } else { content };
                } else if has_argument {
                    let last = self.lines[argument_end - 1].end;
                    // The options belong to it.
                    let extent = Span::new(argument, self.lines[content.max(1) - 1].end.max(last));
                    if self.argument(extent, Span::new(argument, last), name, line) {
                        content = self.literal(content, end, line.indent);
                    }
                }
                let base = self.indent_of(content, end).unwrap_or(line.indent + 1);
                self.body(content, end, base);
                if self.pending == Some(line.start) {
                    self.hide(i, end);
                }
            }
        }
    }

    /// The argument under `span` of the directive at `line`, as text; true where it announces code, as in
    /// `.. note:: For example::`.
    fn argument(&mut self, extent: Span, span: Span, name: &str, line: Line) -> bool {
        let code = span.of(self.source).strip_suffix("::").map(|text| span.start + text.len() + 1);
        let shown = Span::new(span.start, code.unwrap_or(span.end));
        let mut inline = Inline::default();
        if let Some(at) = line.of(self.source).find(name).filter(|_| is_word(name)) {
            let word = Span::new(line.start + at, line.start + at + name.len());
            inline.plain(self.source, word);
            inline.shown(Span::new(word.end, shown.start), " ");
        }
        inline::parse(self.source, shown, Some(&mut self.substitutions), &mut inline);
        let start = self.lead(extent.start);
        self.builder.text(Span::new(start, extent.end), &inline, self.kind());
        code.is_some()
    }

    /// The lines of the option of that name, and where its value begins.
    fn option(&self, options: Range<usize>, name: &str) -> Option<(Range<usize>, usize)> {
        let value = |i: usize| {
            let line = self.lines.get(i)?;
            let value = line.of(self.source).strip_prefix(':')?.strip_prefix(name)?.strip_prefix(':')?;
            Some(line.end - value.trim_start().len())
        };
        let (at, start) = options.clone().find_map(|i| value(i).map(|start| (i, start)))?;
        let next = (at + 1..options.end).find(|&i| self.lines.get(i).is_none_or(|&line| self.is_option_line(line)));
        Some((at..next.unwrap_or(options.end), start))
    }

    fn is_option_line(&self, line: Line) -> bool {
        field(line.of(self.source)).is_some()
    }

    /// True for a line that goes on with the option above it.
    fn goes_on(&self, i: usize, options: usize) -> bool {
        let indent = |i: usize| self.lines.get(i).map_or(0, |line| line.indent);
        i > options && indent(i) > indent(options)
    }

    fn code(&mut self, i: usize, options: Range<usize>, end: usize, line: Line, argument: usize) {
        let content = options.end;
        if self.indent_of(content, end).is_some() {
            self.pending.get_or_insert(line.start);
            let caption = self.option(options, "caption");
            if let Some((lines, start)) = caption.filter(|(lines, start)| *start < self.lines[lines.end - 1].end) {
                let shown = Span::new(start, self.lines[lines.end - 1].end);
                self.text(Span::new(start, self.lines[content - 1].end), shown, self.kind());
            }
            self.whole(content, end, Kind::Code);
        } else if argument < line.end && self.line(i + 1, end).is_none() && line.of(self.source).contains("math::") {
            self.pending.get_or_insert(line.start);
            let start = self.lead(argument);
            self.builder.whole(start, Span::new(argument, line.end), Kind::Code);
        } else {
            self.hide(i, end);
        }
    }

    /// A table with its title, which begins at byte `first`; of the lines of `options` only the value of `header` shows,
    /// which is its first row.
    fn table(
        &mut self,
        first: usize,
        options: Range<usize>,
        header: Option<(Range<usize>, usize)>,
        end: usize,
        i: usize,
    ) {
        let last = self.lines.get(i..end).and_then(|lines| lines.iter().rev().find(|line| !line.is_blank()));
        let Some(last) = last.map(|line| line.end).filter(|&last| last > first) else { return self.hide(i, end) };
        let start = self.lead(first);
        self.builder.whole(start, Span::new(first, last), Kind::Table);
        let (shown, value) = header.unwrap_or((0..0, 0));
        for at in options {
            let Some(line) = self.lines.get(at).filter(|line| line.start >= first && !line.is_blank()) else {
                continue;
            };
            let hidden_to = if !shown.contains(&at) {
                line.end
            } else if at == shown.start {
                value
            } else {
                continue;
            };
            self.builder.rewrite(Span::new(line.start, hidden_to), "");
        }
    }

    /// The text that stands for an image, and its caption.
    fn image(&mut self, i: usize, content: usize, end: usize, line: Line) {
        let alt = self.lines.get(i + 1..content).unwrap_or_default().iter().find_map(|l| {
            let text = l.of(self.source).strip_prefix(":alt:")?.trim_start();
            (!text.is_empty()).then_some(Span::new(l.end - text.len(), l.end))
        });
        self.pending.get_or_insert(line.start);
        if let Some(alt) = alt {
            let mut inline = Inline::default();
            inline.plain(self.source, alt);
            let start = self.lead(alt.start);
            let options_end = self.lines.get(i..content).and_then(|l| l.last()).map_or(alt.end, |l| l.end);
            self.builder.text(Span::new(start, options_end.max(alt.end)), &inline, self.kind());
        }
        match self.indent_of(content, end) {
            Some(base) => self.body(content, end, base),
            None if alt.is_none() => self.hide(i, end),
            None => {}
        }
    }
}
