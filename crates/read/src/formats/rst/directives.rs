//! Directives: what becomes of their arguments, options and content.

use pericope_api::{Kind, Span};

use super::blocks::Rst;
use super::lists::field;
use crate::formats::lines::Line;
use crate::inline::Inline;

/// The meaning of a directive to a reader of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Its content is code.
    Code,
    /// The whole of it is a table.
    Table,
    /// An image: the text in its place is seen, and what stands below it.
    Image,
    /// The argument is a line of its own over the content: a title, a signature.
    Titled,
    /// The argument is the beginning of the content.
    Content,
    /// Nothing of it is seen.
    Hidden,
    /// Nobody knows: it is content if it has any, else nothing.
    Unknown,
}

const CODE: &[&str] = &[
    "code",
    "code-block",
    "code-cell",
    "code-tab",
    "digraph",
    "doctest",
    "graph",
    "graphviz",
    "ipython",
    "jupyter-execute",
    "math",
    "mermaid",
    "parsed-literal",
    "plot",
    "productionlist",
    "prompt",
    "sourcecode",
    "testcleanup",
    "testcode",
    "testoutput",
    "testsetup",
    "uml",
];
const TABLES: &[&str] = &["csv-table", "flat-table", "list-table", "table"];
const IMAGES: &[&str] = &["figure", "image"];
const TITLED: &[&str] = &[
    "admonition",
    "attribute",
    "centered",
    "class",
    "classmethod",
    "cmdoption",
    "confval",
    "data",
    "decorator",
    "describe",
    "dropdown",
    "enum",
    "envvar",
    "event",
    "exception",
    "function",
    "group-tab",
    "macro",
    "member",
    "method",
    "namespace",
    "object",
    "option",
    "program",
    "property",
    "rubric",
    "setting",
    "sidebar",
    "staticmethod",
    "struct",
    "tab",
    "topic",
    "type",
    "union",
    "var",
    "versionadded",
    "versionchanged",
];
const CONTENT: &[&str] = &[
    "attention",
    "caution",
    "danger",
    "deprecated",
    "error",
    "hint",
    "important",
    "note",
    "seealso",
    "tip",
    "todo",
    "warning",
];
const HIDDEN: &[&str] = &[
    "autosummary",
    "bibliography",
    "contents",
    "currentmodule",
    "date",
    "default-domain",
    "default-role",
    "footer",
    "header",
    "highlight",
    "include",
    "index",
    "literalinclude",
    "meta",
    "module",
    "py-module",
    "raw",
    "role",
    "section-numbering",
    "sectnum",
    "tabularcolumns",
    "target-notes",
    "title",
    "toctree",
];

fn class(name: &str) -> Class {
    let lower = name.to_ascii_lowercase();
    let last = lower.rsplit(':').next().unwrap_or(&lower);
    let is = |names: &[&str]| names.binary_search(&last).is_ok();
    match last {
        _ if is(CODE) => Class::Code,
        _ if is(TABLES) => Class::Table,
        _ if is(IMAGES) => Class::Image,
        _ if is(TITLED) => Class::Titled,
        _ if is(CONTENT) => Class::Content,
        _ if is(HIDDEN) || last.starts_with("auto") => Class::Hidden,
        _ => Class::Unknown,
    }
}

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
            (class, _) => class,
        };
        match class {
            Class::Hidden | Class::Unknown => self.hide(i, end),
            Class::Image => self.image(i, content, end, line),
            Class::Code => self.code(i, content, end, line, argument),
            Class::Table => {
                self.pending.get_or_insert(line.start);
                let first = if has_argument { argument } else { self.lines.get(content).map_or(line.end, |l| l.start) };
                self.table(first, argument_end..content, end, i);
            }
            Class::Titled | Class::Content => {
                self.pending.get_or_insert(line.start);
                if has_argument {
                    let last = self.lines[argument_end - 1].end;
                    let span = Span::new(argument, last);
                    // The options belong to it.
                    let extent = Span::new(argument, self.lines[content.max(1) - 1].end.max(last));
                    // A first paragraph that announces code, as in `.. note:: For example::`.
                    let keep = span.of(self.source).strip_suffix("::").map_or(last, |text| argument + text.len() + 1);
                    self.text(extent, Span::new(argument, keep), self.kind());
                    if keep < last {
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

    fn is_option_line(&self, line: Line) -> bool {
        field(line.of(self.source)).is_some()
    }

    /// True for a line that goes on with the option above it.
    fn goes_on(&self, i: usize, options: usize) -> bool {
        let indent = |i: usize| self.lines.get(i).map_or(0, |line| line.indent);
        i > options && indent(i) > indent(options)
    }

    fn code(&mut self, i: usize, content: usize, end: usize, line: Line, argument: usize) {
        if self.indent_of(content, end).is_some() {
            self.pending.get_or_insert(line.start);
            self.whole(content, end, Kind::Code);
        } else if argument < line.end && self.line(i + 1, end).is_none() && line.of(self.source).contains("math::") {
            self.pending.get_or_insert(line.start);
            let start = self.lead(argument);
            self.builder.whole(start, Span::new(argument, line.end), Kind::Code);
        } else {
            self.hide(i, end);
        }
    }

    /// A table with its title, which begins at byte `first`; the lines of `options` do not show.
    fn table(&mut self, first: usize, options: std::ops::Range<usize>, end: usize, i: usize) {
        let last = self.lines.get(i..end).and_then(|lines| lines.iter().rev().find(|line| !line.is_blank()));
        let Some(last) = last.map(|line| line.end).filter(|&last| last > first) else { return self.hide(i, end) };
        let start = self.lead(first);
        self.builder.whole(start, Span::new(first, last), Kind::Table);
        for line in self.lines.get(options).unwrap_or_default() {
            if line.start >= first && !line.is_blank() {
                self.builder.rewrite(Span::new(line.start, line.end), "");
            }
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

#[cfg(test)]
mod tests {
    use super::{CODE, CONTENT, Class, HIDDEN, IMAGES, TABLES, TITLED, class};

    #[test]
    fn the_tables_are_sorted() {
        for names in [CODE, TABLES, IMAGES, TITLED, CONTENT, HIDDEN] {
            assert!(names.is_sorted(), "{names:?}");
        }
    }

    #[test]
    fn names_with_a_domain_and_in_any_case() {
        assert_eq!(class("py:function"), Class::Titled);
        assert_eq!(class("Note"), Class::Content);
        assert_eq!(class("autoclass"), Class::Hidden);
        assert_eq!(class("unheard-of"), Class::Unknown);
    }
}
