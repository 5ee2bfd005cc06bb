//! From the parser's events to blocks.

mod texts;

use pericope_api::{Kind, Span};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd};

use self::texts::{code_span, has_empty_task, is_marker, is_statement, lines_from_the_end, target};
use super::attributes;
use crate::builder::Builder;
use crate::formats::html;
use crate::formats::slugs::Slugs;
use crate::inline::Inline;
use crate::limits;
use crate::work;

/// Reads the Markdown from byte `base` of the builder's source to its end. `text` is the source, with blanks for the bytes
/// of `masks` (in order), which are markup that the parser is not to see.
pub(super) fn read(builder: &mut Builder<'_>, text: &str, base: usize, masks: &[Span]) {
    let source = builder.source;
    let mut options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_GFM;
    options.set(Options::ENABLE_TASKLISTS, !has_empty_task(&text[base..]));
    let mut blocks = Blocks {
        source,
        builder,
        text,
        masks,
        items: 0,
        quotes: 0,
        images: 0,
        open: None,
        skip: None,
        slugs: Slugs::default(),
        before: None,
    };
    for (event, range) in Parser::new_ext(&text[base..], options).into_offset_iter() {
        let range = base + range.start..base + range.end;
        // Of a masked text the parser sees single bytes where the source has characters of several.
        let span = Span::new(source.floor_char_boundary(range.start), source.ceil_char_boundary(range.end));
        blocks.event(event, span);
    }
    blocks.close();
}

/// A block of text whose end has not come yet.
struct Open<'a> {
    /// What the parser says of its range; grows with what is found in it.
    extent: Span,
    heading: Option<Heading>,
    inline: Inline<'a>,
    /// The id of a tag in it.
    anchor: Option<String>,
}

struct Heading {
    level: u8,
    /// The id that is written behind it: `# Use {#use}`.
    id: Option<String>,
    /// Its text as far as it counts for the slug: that of images does not.
    text: String,
}

struct Blocks<'b, 's, 'a> {
    source: &'s str,
    builder: &'b mut Builder<'s>,
    /// What the parser reads.
    text: &'a str,
    masks: &'b [Span],
    /// List items around the current place.
    items: usize,
    /// Block quotes around the current place.
    quotes: usize,
    /// Images around the current place.
    images: usize,
    open: Option<Open<'a>>,
    /// Events are passed over until this end: the block has been dealt with as a whole.
    skip: Option<TagEnd>,
    slugs: Slugs,
    /// The id of a tag since the last text: the heading that follows can be linked to by it.
    before: Option<String>,
}

impl<'a> Blocks<'_, '_, 'a> {
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
                if span.of(self.text) == &*text {
                    self.plain(span);
                } else {
                    self.slug_text(&text);
                    self.inline(span).shown(span, cow(text));
                }
            }
            Event::Code(text) => {
                self.slug_text(&text);
                let inner = code_span(span, span.of(self.source), &text);
                let inline = self.inline(span);
                match inner {
                    Some(inner) => inline.code(inner),
                    None => inline.shown(span, cow(text)),
                }
                inline.close(span.end);
            }
            Event::SoftBreak | Event::HardBreak => {
                self.slug_text(" ");
                let source = self.text;
                let inline = self.inline(span);
                if span.of(source).trim().is_empty() { inline.plain(source, span) } else { inline.shown(span, "\n") }
            }
            Event::InlineHtml(tag) => {
                let anchor = html::anchor(&tag);
                let line_break = tag.get(..3).is_some_and(|name| name.eq_ignore_ascii_case("<br"));
                let open = self.opened(span);
                open.anchor = open.anchor.take().or(anchor);
                if line_break {
                    open.inline.shown(span, "\n");
                } else if tag.starts_with("</") {
                    open.inline.close(span.end);
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
            Tag::Heading { level, id, .. } => {
                let id = id.as_ref().map(|id| id.to_string());
                self.begin(span, Some(Heading { level: *level as u8, id, text: String::new() }));
            }
            Tag::CodeBlock(_) => self.whole(span, Kind::Code, TagEnd::CodeBlock),
            Tag::Table(_) => self.whole(span, Kind::Table, TagEnd::Table),
            Tag::HtmlBlock => {
                self.close();
                self.lead(span.start);
                let kind = self.kind();
                let before = self.before.take();
                self.before = html::fragment(self.builder, span, kind, &mut self.slugs, before);
                if html::is_anchor(span.of(self.source)) {
                    self.builder.label();
                }
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
                self.images += usize::from(matches!(tag, Tag::Image { .. }));
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
            TagEnd::Image => {
                self.images = self.images.saturating_sub(1);
                self.inline(span).close(span.end);
            }
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link => self.inline(span).close(span.end),
            _ => self.close(),
        }
    }

    /// A block of text begins.
    fn begin(&mut self, extent: Span, heading: Option<Heading>) {
        self.close();
        self.open = Some(Open { extent, heading, inline: Inline::default(), anchor: None });
    }

    /// The text of the open block, which reaches at least to the end of `span`; opens one where there is none (items of
    /// a tight list have no paragraph).
    fn inline(&mut self, span: Span) -> &mut Inline<'a> {
        &mut self.opened(span).inline
    }

    fn opened(&mut self, span: Span) -> &mut Open<'a> {
        let new = || Open { extent: span, heading: None, inline: Inline::default(), anchor: None };
        let open = self.open.get_or_insert_with(new);
        open.extent.end = open.extent.end.max(span.end);
        open
    }

    /// Text that shows as it is, less what is masked in it.
    fn plain(&mut self, span: Span) {
        let masks = self.masks;
        let first = masks.partition_point(|mask| mask.end <= span.start);
        let mut at = span.start;
        self.opened(span);
        for mask in masks[first..].iter().take_while(|mask| mask.start < span.end) {
            self.piece(Span::new(at, mask.start.max(at)));
            at = mask.end.min(span.end);
        }
        self.piece(Span::new(at, span.end));
    }

    fn piece(&mut self, span: Span) {
        let source = self.source;
        if !span.is_empty() {
            self.slug_text(span.of(source));
            self.inline(span).plain(source, span);
        }
    }

    fn slug_text(&mut self, text: &str) {
        if let (0, Some(Open { heading: Some(heading), .. })) = (self.images, &mut self.open) {
            heading.text.push_str(text);
        }
    }

    /// Hands the open block over.
    fn close(&mut self) {
        let Some(Open { extent, heading, inline, anchor }) = self.open.take() else { return };
        let end = extent.end;
        let extent = Span::new(self.lead(extent.start), end);
        let kind = self.kind();
        let before = self.before.take();
        let text = extent.trimmed(self.source).of(self.source);
        if heading.is_none()
            && let Some(id) = target(text)
        {
            self.before = Some(id).filter(|id| !id.is_empty()).or(before);
            self.builder.hidden(extent);
            return self.builder.label();
        }
        let below = heading.as_ref().and_then(|_| attributes::id_below(&self.source[end..]));
        let is_label = heading.is_none() && anchor.is_some() && inline.is_blank(self.source);
        let anchor = match &heading {
            // An id that is written out takes the place of the slug; a tag with an id stands beside it.
            Some(Heading { id: Some(id), .. }) => Some(id.clone()),
            // What is too long for a heading is text, and has no slug.
            Some(_) if !limits::is_heading(&inline, self.source) => anchor.or(before),
            Some(_) if below.is_some() => below,
            Some(Heading { text, .. }) => {
                // What is masked in it leaves blanks.
                let first = self.masks.partition_point(|mask| mask.end <= extent.start);
                let is_masked = self.masks.get(first).is_some_and(|mask| mask.start < extent.end);
                let text = if is_masked { text.trim() } else { text.as_str() };
                let slug = self.slugs.next(text);
                anchor.or(before).or(slug)
            }
            None if inline.is_blank(self.source) => {
                self.before = anchor.or(before);
                None
            }
            None => None,
        };
        match heading {
            // A heading in a quotation or a list item is no heading of the document.
            Some(Heading { level, .. }) if self.items == 0 && self.quotes == 0 => {
                self.builder.heading(extent, &inline, level, anchor);
            }
            _ if is_statement(text) => self.builder.hidden(extent),
            _ => self.builder.text(extent, &inline, kind),
        }
        if is_label {
            self.builder.label();
        }
    }

    /// A block that is never cut.
    fn whole(&mut self, span: Span, kind: Kind, end: TagEnd) {
        self.close();
        self.before = None;
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
        work::looked(start - gap.start);
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

fn cow(text: CowStr<'_>) -> std::borrow::Cow<'_, str> {
    text.into()
}
