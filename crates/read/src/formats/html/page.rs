//! From tokens to blocks.

use pericope_api::{Kind, Span};

use super::elements::{Element, element};
use super::entities::reference;
use super::tokens::{Token, Tokens};
use crate::builder::Builder;
use crate::inline::Inline;

/// Tags between two blocks belong to the block after them, unless they are more than this many bytes (the frame of a
/// page, a drawing): those stand for themselves, so that no sentence is mostly tags.
const LONGEST_LEAD: usize = 200;

/// Reads `span` of the builder's source; text outside lists is of kind `kind`. Answers with the page's title.
pub(super) fn read(builder: &mut Builder<'_>, span: Span, kind: Kind) -> Option<String> {
    let source = builder.source;
    let first = builder.len();
    let inline = Inline::default();
    let mut page = Page { source, builder, first, kind, lists: 0, inline, state: State::Flow, title: None };
    for token in Tokens::new(source, span) {
        page.token(token);
    }
    page.finish(span.end);
    page.title
}

/// Where in a page the scanner is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// Among blocks of text.
    Flow,
    /// In a heading.
    Heading { level: u8 },
    /// In a table or `pre`, which stay whole; `depth` of them around each other.
    Whole { kind: Kind, element: Element, start: usize, depth: usize },
    /// In the page's head, which nobody sees.
    Head { start: usize },
}

struct Page<'b, 'a> {
    source: &'a str,
    builder: &'b mut Builder<'a>,
    /// Sentences that the document had before.
    first: usize,
    kind: Kind,
    /// Lists around the current place.
    lists: usize,
    inline: Inline<'a>,
    state: State,
    title: Option<String>,
}

impl<'a> Page<'_, 'a> {
    fn token(&mut self, token: Token<'a>) {
        if let Token::Hidden { name, inner, .. } = token
            && name.eq_ignore_ascii_case("title")
            && self.title.is_none()
        {
            let title = decoded(inner.of(self.source));
            let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
            self.title = (!title.is_empty()).then_some(title);
        }
        match self.state {
            State::Flow | State::Heading { .. } => self.flow(token),
            State::Whole { kind, element, start, depth } => self.whole(token, kind, element, start, depth),
            State::Head { start } => self.head(token, start),
        }
    }

    fn flow(&mut self, token: Token<'a>) {
        match token {
            Token::Text(span) => self.text(span),
            Token::Hidden { span, .. } => {
                if self.inline.end().is_none() {
                    let start = self.lead(span.start);
                    self.builder.hidden(Span::new(start, span.end));
                }
            }
            Token::Tag { name, closing: false, span } => self.open(element(name), span),
            Token::Tag { name, closing: true, span } => self.close(element(name), span),
        }
    }

    fn open(&mut self, element: Element, span: Span) {
        match element {
            Element::Inline => return,
            Element::Break => return self.inline.shown(span, "\n"),
            _ => self.flush(None),
        }
        match element {
            Element::Heading(level) => self.state = State::Heading { level },
            Element::List => self.lists += 1,
            Element::Pre => self.begin_whole(Kind::Code, element, span),
            Element::Table => self.begin_whole(Kind::Table, element, span),
            Element::Head => self.state = State::Head { start: self.lead(span.start) },
            _ => {}
        }
    }

    fn close(&mut self, element: Element, span: Span) {
        match element {
            Element::Inline => return self.inline.close(span.end),
            Element::Break => return self.inline.shown(span, "\n"),
            _ => self.flush(Some(span)),
        }
        if element == Element::List {
            self.lists = self.lists.saturating_sub(1);
        }
    }

    /// Ends the block of text that is open, if one is. A closing tag belongs to the block before it.
    fn flush(&mut self, closing: Option<Span>) {
        let inline = std::mem::take(&mut self.inline);
        let state = std::mem::replace(&mut self.state, State::Flow);
        if let Some(end) = inline.end().filter(|_| !inline.is_blank(self.source)) {
            let first = inline.pieces().iter().find(|piece| piece.shown.is_some() || !self.blank(piece.span));
            let start = self.lead(first.map_or(end, |piece| piece.span.start));
            let extent = Span::new(start, end);
            match state {
                State::Heading { level } => self.builder.heading(extent, &inline, level),
                _ => self.builder.text(extent, &inline, self.text_kind()),
            }
        }
        if let Some(tag) = closing
            && self.blank(Span::new(self.builder.covered(), tag.start))
            && self.builder.len() > self.first
        {
            self.builder.extend(tag.end);
        }
    }

    fn begin_whole(&mut self, kind: Kind, element: Element, span: Span) {
        // What leads up to it has to be handed over before its own rewrites.
        let start = self.lead(span.start);
        self.rewrite_lead(start, span);
        self.state = State::Whole { kind, element, start, depth: 1 };
    }

    /// In a table or `pre`: tags go, rows become lines, and at its end it is one sentence.
    fn whole(&mut self, token: Token<'a>, kind: Kind, outer: Element, start: usize, depth: usize) {
        let (name, closing, span) = match token {
            Token::Text(span) => return self.rewrite_entities(span),
            Token::Hidden { span, .. } => return self.builder.rewrite(span, ""),
            Token::Tag { name, closing, span } => (name, closing, span),
        };
        let found = element(name);
        let depth = match (found == outer, closing) {
            (true, false) => depth + 1,
            (true, true) => depth - 1,
            // Never closed: it ends with the page.
            (false, true) if found == Element::Page => 0,
            _ => depth,
        };
        if depth == 0 {
            self.builder.rewrite(span, "");
            self.end_whole(Span::new(start, span.end), kind);
            return;
        }
        let shown = match found {
            Element::Row | Element::Break if !closing => "\n",
            Element::Cell if closing => " ",
            Element::Block | Element::List | Element::Heading(_) => "\n",
            _ => "",
        };
        self.builder.rewrite(span, shown);
        self.state = State::Whole { kind, element: outer, start, depth };
    }

    fn end_whole(&mut self, span: Span, kind: Kind) {
        self.builder.whole(span.start, span, kind);
        self.state = State::Flow;
    }

    fn head(&mut self, token: Token<'a>, start: usize) {
        let Token::Tag { name, closing, span } = token else { return };
        let found = element(name);
        let (ends, end) = match (found, closing) {
            (Element::Head, true) => (true, span.end),
            // Not closed: it ends where the page begins.
            (Element::Inline, _) | (Element::Head, false) => (false, 0),
            _ => (true, span.start),
        };
        if ends {
            self.builder.hidden(Span::new(start, end));
            self.state = State::Flow;
            if end == span.start {
                self.flow(token);
            }
        }
    }

    fn finish(&mut self, end: usize) {
        match self.state {
            State::Whole { kind, start, .. } => self.end_whole(Span::new(start, end), kind),
            State::Head { start } => self.builder.hidden(Span::new(start, end)),
            _ => self.flush(None),
        }
        let rest = self.builder.gap(end);
        if self.builder.len() > self.first && rest.len() <= LONGEST_LEAD {
            self.builder.extend(end);
        } else {
            self.builder.hidden(rest);
        }
    }

    /// Text: its entities are decoded.
    fn text(&mut self, span: Span) {
        if self.inline.end().is_none() && self.blank(span) {
            return;
        }
        let source = self.source;
        let inline = &mut self.inline;
        entities(source, span, &mut |span, shown| match shown {
            None => inline.plain(source, span),
            Some(shown) => inline.shown(span, shown),
        });
    }

    fn rewrite_entities(&mut self, span: Span) {
        let builder = &mut *self.builder;
        entities(self.source, span, &mut |span, shown| {
            if let Some(shown) = shown {
                builder.rewrite(span, &shown);
            }
        });
    }

    /// Where a block begins whose text begins at byte `start`: the tags before it are its own, where they are few.
    fn lead(&mut self, start: usize) -> usize {
        let gap = self.builder.gap(start);
        if gap.is_empty() {
            return start;
        }
        if gap.len() > LONGEST_LEAD {
            self.builder.hidden(gap);
            return start;
        }
        gap.start
    }

    /// Hides the tags before a table or `pre`, and its own start tag.
    fn rewrite_lead(&mut self, start: usize, tag: Span) {
        let shown = if self.builder.is_glued(start) { "\n" } else { "" };
        self.builder.rewrite(Span::new(start, tag.end), shown);
    }

    fn text_kind(&self) -> Kind {
        if self.lists > 0 { Kind::ListItem } else { self.kind }
    }

    fn blank(&self, span: Span) -> bool {
        span.of(self.source).trim().is_empty()
    }
}

/// Cuts text at its character references: pieces that show as they are, and references with what they stand for.
fn entities(source: &str, span: Span, sink: &mut dyn FnMut(Span, Option<String>)) {
    let mut at = span.start;
    let mut from = span.start;
    while let Some(found) = memchr::memchr(b'&', &source.as_bytes()[from..span.end]) {
        let start = from + found;
        from = start + 1;
        if let Some((len, shown)) = reference(&source[start..span.end]) {
            if start > at {
                sink(Span::new(at, start), None);
            }
            at = start + len;
            from = at;
            sink(Span::new(start, at), Some(shown));
        }
    }
    if span.end > at {
        sink(Span::new(at, span.end), None);
    }
}

/// Text with its character references decoded.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    entities(text, Span::new(0, text.len()), &mut |span, shown| match shown {
        None => out.push_str(span.of(text)),
        Some(shown) => out.push_str(&shown),
    });
    out
}
