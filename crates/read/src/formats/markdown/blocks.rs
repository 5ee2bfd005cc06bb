//! From the parser's events to blocks.

use pericope_api::{Kind, Span};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

use super::super::html;
use crate::builder::Builder;
use crate::inline::Inline;

/// Reads the Markdown from byte `base` of the builder's source to its end.
pub(super) fn read(builder: &mut Builder<'_>, base: usize) {
    let source = builder.source;
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_GFM;
    let mut blocks = Blocks { source, builder, items: 0, quotes: 0, open: None, skip: None };
    for (event, range) in Parser::new_ext(&source[base..], options).into_offset_iter() {
        blocks.event(event, Span::new(base + range.start, base + range.end));
    }
    blocks.close();
}

/// A block of text whose end has not come yet.
struct Open<'a> {
    /// What the parser says of its range; grows with what is found in it.
    extent: Span,
    heading: Option<u8>,
    inline: Inline<'a>,
}

struct Blocks<'b, 'a> {
    source: &'a str,
    builder: &'b mut Builder<'a>,
    /// List items around the current place.
    items: usize,
    /// Block quotes around the current place.
    quotes: usize,
    open: Option<Open<'a>>,
    /// Events are passed over until this end: the block has been dealt with as a whole.
    skip: Option<TagEnd>,
}

impl<'a> Blocks<'_, 'a> {
    fn event(&mut self, event: Event<'a>, span: Span) {
        if let Some(end) = &self.skip {
            if matches!(&event, Event::End(found) if found == end) {
                self.skip = None;
            }
            return;
        }
        match event {
            Event::Start(tag) => self.start(&tag, span),
            Event::End(tag) => self.end(tag, span),
            Event::Rule => {
                self.close();
                let start = self.lead(span.start);
                self.builder.hidden(Span::new(start, span.end));
            }
            Event::Text(text) => {
                let source = self.source;
                let inline = self.inline(span);
                if span.of(source) == &*text { inline.plain(source, span) } else { inline.shown(span, cow(text)) }
            }
            Event::Code(text) => {
                let inner = code_span(span, span.of(self.source), &text);
                let inline = self.inline(span);
                match inner {
                    Some(inner) => inline.code(inner),
                    None => inline.shown(span, cow(text)),
                }
                inline.close(span.end);
            }
            Event::SoftBreak | Event::HardBreak => {
                let source = self.source;
                let inline = self.inline(span);
                if span.of(source).trim().is_empty() { inline.plain(source, span) } else { inline.shown(span, "\n") }
            }
            Event::InlineHtml(tag) => {
                let line_break = tag.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("<br"));
                let inline = self.inline(span);
                if line_break {
                    inline.shown(span, "\n");
                } else if tag.starts_with("</") {
                    inline.close(span.end);
                }
            }
            // A reference to a footnote closes the words before it.
            Event::FootnoteReference(_) => self.inline(span).close(span.end),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.inline(span).shown(span, cow(text)),
            Event::TaskListMarker(_) => {
                self.inline(span);
            }
            Event::Html(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'a>, span: Span) {
        match tag {
            Tag::Paragraph => self.begin(span, None),
            Tag::Heading { level, .. } => self.begin(span, Some(*level as u8)),
            Tag::CodeBlock(_) => self.whole(span, Kind::Code, TagEnd::CodeBlock),
            Tag::Table(_) => self.whole(span, Kind::Table, TagEnd::Table),
            Tag::HtmlBlock => {
                self.close();
                self.lead(span.start);
                let kind = self.kind();
                html::fragment(self.builder, span, kind);
                self.skip = Some(TagEnd::HtmlBlock);
            }
            Tag::Item => {
                self.close();
                self.items += 1;
            }
            Tag::BlockQuote(_) => {
                self.close();
                self.quotes += 1;
            }
            tag if is_inline(tag) => {
                self.inline(span);
            }
            _ => self.close(),
        }
    }

    fn end(&mut self, tag: TagEnd, span: Span) {
        match tag {
            TagEnd::Item => {
                self.close();
                self.items = self.items.saturating_sub(1);
            }
            TagEnd::BlockQuote(_) => {
                self.close();
                self.quotes = self.quotes.saturating_sub(1);
            }
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image => self.inline(span).close(span.end),
            _ => self.close(),
        }
    }

    /// A block of text begins.
    fn begin(&mut self, extent: Span, heading: Option<u8>) {
        self.close();
        self.open = Some(Open { extent, heading, inline: Inline::default() });
    }

    /// The text of the open block, which reaches at least to the end of `span`; opens one where there is none (items of
    /// a tight list have no paragraph).
    fn inline(&mut self, span: Span) -> &mut Inline<'a> {
        let open = self.open.get_or_insert_with(|| Open { extent: span, heading: None, inline: Inline::default() });
        open.extent.end = open.extent.end.max(span.end);
        &mut open.inline
    }

    /// Hands the open block over.
    fn close(&mut self) {
        let Some(Open { extent, heading, inline }) = self.open.take() else { return };
        let end = extent.end;
        let extent = Span::new(self.lead(extent.start), end);
        let kind = self.kind();
        match heading {
            // A heading in a quotation or a list item is no heading of the document.
            Some(level) if self.items == 0 && self.quotes == 0 => self.builder.heading(extent, &inline, level),
            _ if is_statement(extent.trimmed(self.source).of(self.source)) => self.builder.hidden(extent),
            _ => self.builder.text(extent, &inline, kind),
        }
    }

    /// A block that is never cut.
    fn whole(&mut self, span: Span, kind: Kind, end: TagEnd) {
        self.close();
        let start = self.lead(span.start);
        let body = Span::new(span.start.max(start), span.end);
        self.builder.whole(start, body, kind);
        self.skip = Some(end);
    }

    fn kind(&self) -> Kind {
        if self.items > 0 { Kind::ListItem } else { Kind::Prose }
    }

    /// Where a block begins whose text begins at byte `start`: list markers and quotation marks before it belong to it.
    /// What else lies there and gave no event (link definitions) is handed over as hidden.
    fn lead(&mut self, start: usize) -> usize {
        let start = start.max(self.builder.covered());
        let gap = self.builder.gap(start);
        if gap.is_empty() {
            return start;
        }
        let text = gap.of(self.source);
        let line_ends = self.source[gap.end..start].bytes().filter(|&b| b == b'\n').count();
        let mut markers = text.len();
        for (i, line) in lines_from_the_end(text).enumerate() {
            let belongs = if i == 0 && line_ends == 0 { true } else { line_ends < 2 && is_marker(line) };
            if !belongs {
                break;
            }
            markers -= line.len();
        }
        self.builder.hidden(Span::new(gap.start, gap.start + markers));
        let lead = Span::new(gap.start + markers, gap.end).trimmed(self.source);
        if lead.is_empty() { start } else { lead.start }
    }
}

/// Lines from the last to the first, with their ends.
fn lines_from_the_end(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let body = rest.strip_suffix('\n').unwrap_or(rest);
        let (head, line) = rest.split_at(body.rfind('\n').map_or(0, |at| at + 1));
        rest = head;
        (!line.is_empty()).then_some(line)
    })
}

/// True for a line of nothing but list markers and quotation marks.
fn is_marker(line: &str) -> bool {
    !line.trim().is_empty()
        && line.bytes().all(|b| {
            b.is_ascii_whitespace() || b.is_ascii_digit() || matches!(b, b'>' | b'-' | b'+' | b'*' | b'.' | b')')
        })
}

fn is_inline(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
    )
}

/// The bytes between the backticks of inline code; `None` where they do not show as they are.
fn code_span(span: Span, raw: &str, text: &str) -> Option<Span> {
    let ticks = raw.len() - raw.trim_start_matches('`').len();
    let inner = raw.get(ticks..raw.len().checked_sub(ticks)?)?;
    let space = usize::from(inner != text);
    let shown = Span::new(span.start + ticks + space, span.end.checked_sub(ticks + space)?);
    let inner = inner.get(space..inner.len().checked_sub(space)?)?;
    (inner == text).then_some(shown)
}

/// True for what page generators read and people do not: the imports of MDX, lines of nothing but template tags.
fn is_statement(text: &str) -> bool {
    let import = text.starts_with("import ") && (text.contains(" from '") || text.contains(" from \""));
    import || (text.starts_with('{') && text.lines().all(|line| is_template(line.trim())))
}

/// True for `{{ ... }}`, `{% ... %}` and `{/* ... */}`, alone on a line.
fn is_template(line: &str) -> bool {
    [("{{", "}}"), ("{%", "%}"), ("{/*", "*/}")].iter().any(|(open, close)| {
        line.strip_prefix(open).and_then(|rest| rest.strip_suffix(close)).is_some_and(|inner| !inner.contains(close))
    })
}

fn cow(text: CowStr<'_>) -> std::borrow::Cow<'_, str> {
    text.into()
}
