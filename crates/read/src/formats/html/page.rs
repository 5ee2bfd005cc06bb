//! From tokens to blocks.

use pericope_api::{Kind, Span};

use super::attributes::{anchor, attribute};
use super::content::Hidden;
use super::elements::{Element, element};
use super::entities::{decoded, references};
use super::headings::{is_sign, without_ends};
use super::layout::layout_tables;
use super::pictures::alternative;
use super::tokens::{Token, Tokens};
use crate::builder::Builder;
use crate::formats::slugs::Slugs;
use crate::inline::Inline;
use crate::limits;
use crate::work;

/// Tags between two blocks belong to the block after them, unless they are more than this many bytes (the frame of a
/// page, a drawing): those stand for themselves, so that no sentence is mostly tags.
const LONGEST_LEAD: usize = 200;

/// What stands at the word behind it, without a blank.
const OPENING: [char; 5] = ['(', '[', '{', '「', '（'];
/// What stands at the word before it, without a blank.
const CLOSING: [char; 16] = ['.', ',', ';', ':', '!', '?', ')', ']', '}', '…', '。', '、', '，', '！', '」', '）'];

/// Reads `span` of the builder's source, less what is `hidden`. Answers with the page's title.
pub(super) fn read(builder: &mut Builder<'_>, span: Span, hidden: &[Hidden]) -> Option<String> {
    let mut page = Page::new(builder, Kind::Prose, None);
    page.pictures = true;
    page.layout = layout_tables(page.source, span, hidden);
    let mut hidden = hidden.iter().peekable();
    for token in Tokens::new(page.source, span) {
        let at = token.span().start;
        while hidden.next_if(|hidden| hidden.span.end <= at).is_some() {}
        match hidden.peek() {
            Some(part) if part.span.start == at => {
                page.find_title(token);
                page.pass_over(part);
            }
            Some(part) if part.span.start < at => page.find_title(token),
            _ => page.token(token),
        }
    }
    page.finish(span.end);
    page.title
}

/// Reads a block of HTML inside another format; its text is of kind `kind` where its tags do not say otherwise.
///
/// Headings without an id get the next of `slugs`. `before` is the id that was found just before the block. Returns the
/// id just after it, for the heading that may follow.
pub(in crate::formats) fn fragment(
    builder: &mut Builder<'_>,
    span: Span,
    kind: Kind,
    slugs: &mut Slugs,
    before: Option<String>,
) -> Option<String> {
    let mut page = Page::new(builder, kind, Some(slugs));
    page.before = before;
    for token in Tokens::new(page.source, span) {
        page.token(token);
    }
    page.finish(span.end);
    page.before
}

/// The part of a page that the scanner is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Among blocks of text.
    Flow,
    /// In a heading.
    Heading { level: u8 },
    /// In a table or `pre`, which stay whole; `depth` of them around each other.
    Whole { kind: Kind, element: Element, start: usize, depth: usize },
    /// In the page's head, which nobody sees.
    Head { start: usize },
}

pub(super) struct Page<'b, 'a> {
    pub(super) source: &'a str,
    pub(super) builder: &'b mut Builder<'a>,
    /// Sentences that the document had before.
    first: usize,
    kind: Kind,
    /// Lists around the current place.
    lists: usize,
    inline: Inline<'a>,
    pub(super) state: State,
    /// In a table: text touches the current place from the left.
    pub(super) glued: bool,
    /// In a table: the ids of its start and of the row so far.
    pub(super) ids: Vec<String>,
    /// In the rows of a table: how many of `ids` are those of its start.
    pub(super) rows: Option<usize>,
    /// The texts of pictures are read. In blocks inside other formats they are not.
    pictures: bool,
    /// The first bytes of the tables that are read as if they were not there, in order.
    layout: Vec<usize>,
    pub(super) title: Option<String>,
    /// Id since the last text: a heading that begins here can be linked to by it.
    pub(super) before: Option<String>,
    /// Id of the heading that is open, or of something in it.
    inside: Option<String>,
    /// In a link in a heading, or to a place on this page: where it leads to.
    pub(super) link: Option<String>,
    /// The source of ids for headings that have none.
    slugs: Option<&'b mut Slugs>,
}

impl<'b, 'a> Page<'b, 'a> {
    fn new(builder: &'b mut Builder<'a>, kind: Kind, slugs: Option<&'b mut Slugs>) -> Self {
        Self {
            source: builder.source,
            first: builder.len(),
            builder,
            kind,
            lists: 0,
            inline: Inline::default(),
            state: State::Flow,
            glued: false,
            ids: Vec::new(),
            rows: None,
            pictures: false,
            layout: Vec::new(),
            title: None,
            before: None,
            inside: None,
            link: None,
            slugs,
        }
    }

    /// A part of the page that is no content begins here.
    fn pass_over(&mut self, part: &Hidden) {
        match self.state {
            State::Whole { .. } => self.builder.rewrite(part.span, ""),
            State::Head { start } => {
                self.state = State::Flow;
                self.builder.hidden(Span::new(start, part.span.end));
            }
            // The line goes on after it, and what is no piece of a line does not show.
            _ if part.inline => {}
            _ => {
                self.flush(None);
                let start = self.lead(part.span.start);
                self.builder.hidden(Span::new(start, part.span.end));
                self.before = None;
            }
        }
    }

    fn token(&mut self, token: Token<'a>) {
        self.find_title(token);
        match self.state {
            State::Flow | State::Heading { .. } => self.flow(token),
            State::Whole { kind, element, start, depth } => self.whole(token, kind, element, start, depth),
            State::Head { start } => self.head(token, start),
        }
    }

    pub(super) fn flow(&mut self, token: Token<'a>) {
        match token {
            Token::Text(span) => self.text(span),
            Token::Hidden { span, .. } => {
                if self.inline.end().is_none() {
                    let start = self.lead(span.start);
                    self.builder.hidden(Span::new(start, span.end));
                }
            }
            Token::Tag { name, closing: false, span } => {
                let element = self.element(name);
                if let Some(text) = self.picture(name, span) {
                    self.show_picture(&text, span);
                }
                self.open(element, span);
                self.note_anchor(element, span);
                if matches!(self.state, State::Flow) {
                    self.note_link(name, false, span);
                }
            }
            Token::Tag { name, closing: true, span } => {
                if name.eq_ignore_ascii_case("a") {
                    self.link = None;
                }
                self.close(self.element(name), span);
            }
        }
    }

    /// The text of a picture, if this tag is one that has a text.
    pub(super) fn picture(&self, name: &str, span: Span) -> Option<String> {
        if self.pictures { alternative(name, span.of(self.source)) } else { None }
    }

    /// A picture in a line of text reads as what it says. In a heading, one in a link is mostly a sign.
    fn show_picture(&mut self, text: &str, span: Span) {
        match self.state {
            State::Heading { .. } if self.link.is_some() => return,
            State::Flow => self.before = None,
            _ => {}
        }
        // Words around it are others; a comma or a bracket stays at its side.
        let before = self.source[..span.start].chars().next_back();
        let after = self.source[span.end..].chars().next();
        let begins = |c: char| c.is_whitespace() || OPENING.contains(&c);
        let ends = |c: char| c.is_whitespace() || CLOSING.contains(&c);
        let left = if self.inline.end().is_none() || before.is_none_or(begins) { "" } else { " " };
        let right = if after.is_none_or(ends) { "" } else { " " };
        self.inline.shown(span, format!("{left}{text}{right}"));
    }

    /// What a tag does here: a button in a heading is part of its line.
    fn element(&self, name: &str) -> Element {
        let in_heading = matches!(self.state, State::Heading { .. });
        if in_heading && name.eq_ignore_ascii_case("button") { Element::Inline } else { element(name) }
    }

    /// Keeps the id of a tag for the heading that it is in, or that follows.
    fn note_anchor(&mut self, element: Element, span: Span) {
        let tag = span.of(self.source);
        let found = anchor(tag);
        match self.state {
            State::Heading { .. } if element == Element::Inline => {
                let href = attribute(tag, "href").map(|href| href.into_owned());
                self.link = href.or_else(|| self.link.take());
                self.inside = self.inside.take().or(found);
            }
            State::Heading { .. } => self.inside = found,
            // A table or `pre` begins, and no heading can be linked to by its id.
            State::Whole { .. } => self.ids.extend(found),
            _ => self.before = found.or(self.before.take()),
        }
    }

    /// Keeps where a link outside headings leads, if that is a place on this page: its text may be a sign.
    pub(super) fn note_link(&mut self, name: &str, closing: bool, span: Span) {
        if !name.eq_ignore_ascii_case("a") {
            return;
        }
        let of_page = !closing && self.slugs.is_none();
        let href = if of_page { attribute(span.of(self.source), "href") } else { None };
        self.link = href.filter(|href| href.starts_with('#')).map(|href| href.into_owned());
    }

    /// True for the sign behind a heading, a definition or a caption that links to it.
    pub(super) fn is_permalink(&self, span: Span) -> bool {
        self.link.is_some() && is_sign(&decoded(span.of(self.source)))
    }

    fn open(&mut self, element: Element, span: Span) {
        match element {
            Element::Inline => return,
            Element::Break => return self.inline.shown(span, "\n"),
            _ => self.flush(None),
        }
        match element {
            Element::Heading(level) => {
                self.link = None;
                self.state = State::Heading { level };
            }
            Element::List => self.lists += 1,
            Element::Pre => self.begin_whole(Kind::Code, element, span),
            Element::Table if self.layout.binary_search(&span.start).is_ok() => {}
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
                State::Heading { level } => {
                    let inline = without_ends(inline, self.source);
                    // The slug counts even where it is not used.
                    let fits = limits::is_heading(&inline, self.source);
                    let slugs = self.slugs.as_mut().filter(|_| fits);
                    let slug = slugs.and_then(|slugs| slugs.next(inline.visible(self.source).trim()));
                    let anchor = self.inside.take().or_else(|| self.before.take()).or(slug);
                    self.builder.heading(extent, &inline, level, anchor);
                    (self.before, self.link) = (None, None);
                }
                _ => self.builder.text(extent, &inline, self.text_kind()),
            }
        }
        self.inside = None;
        if let Some(tag) = closing
            && self.builder.gap(tag.start).is_empty()
            && self.builder.len() > self.first
        {
            self.builder.extend(tag.end);
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
        if self.is_permalink(span) {
            if let (State::Heading { .. }, Some(link)) = (self.state, &self.link) {
                let target = link.strip_prefix('#').filter(|target| !target.is_empty()).map(str::to_owned);
                self.inside = self.inside.take().or(target);
            }
            return;
        }
        if matches!(self.state, State::Flow) && !self.blank(span) {
            self.before = None;
        }
        let source = self.source;
        let inline = &mut self.inline;
        references(source, span, &mut |span, shown| match shown {
            None => inline.plain(source, span),
            Some(shown) => inline.shown(span, shown),
        });
    }

    /// Where a block begins whose text begins at byte `start`: the tags before it are its own, where they are few.
    pub(super) fn lead(&mut self, start: usize) -> usize {
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

    fn text_kind(&self) -> Kind {
        if self.lists > 0 { Kind::ListItem } else { self.kind }
    }

    fn blank(&self, span: Span) -> bool {
        work::is_blank(span.of(self.source))
    }
}
