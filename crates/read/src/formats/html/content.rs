//! Which parts of a page are its content: `main`, else `article`, else the body; and in it no navigation, banners,
//! footers, asides, controls, or what is hidden.

use pericope_api::Span;

use super::choice::{Found, Part};
use super::elements::{Element, element, is_void};
use super::implied::Rule;
use super::roles::{Role, is_code};
use super::title;
use super::tokens::{Token, Tokens};
use crate::work;

/// A part of a page that is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hidden {
    pub(super) span: Span,
    /// In a line of text, which goes on after it.
    pub(super) inline: bool,
}

/// An element that is open.
struct Open<'a> {
    name: &'a str,
    kind: Element,
    rule: Rule,
    role: Role,
    start: usize,
    /// Bytes of content before it.
    text: usize,
    /// Bytes of text before it that show, those in banners among them.
    said: usize,
}

/// Tags look for the elements that they end among this many open ones, so that time stays linear.
pub(super) const DEPTH: usize = 256;

/// The parts of `span` that are no content, in order, without overlap. Where nothing would be left, nothing is hidden.
pub(super) fn hidden(source: &str, span: Span) -> Vec<Hidden> {
    let found = Found { source, title: None, parts: Vec::new(), headings: Vec::new(), text: 0 };
    let mut scan =
        Scan { source, open: Vec::new(), found, said: 0, skipping: 0, banners: 0, numbers: Vec::new(), listing: None };
    for token in Tokens::new(source, span) {
        scan.token(token);
    }
    // What is never closed is content to the end, or else was never meant to be hidden. A paragraph need not be closed.
    while let Some(open) = scan.open.pop() {
        if matches!(open.role, Role::Main | Role::Article) || open.role != Role::None && open.rule == Rule::Paragraph {
            scan.part(&open, span.end);
        }
        scan.end_table(&open);
    }
    scan.found.hidden(span)
}

struct Scan<'a> {
    source: &'a str,
    open: Vec<Open<'a>>,
    found: Found<'a>,
    /// Bytes of text so far that show, those in banners among them.
    said: usize,
    /// Open elements that are passed over.
    skipping: usize,
    /// Banners among them.
    banners: usize,
    /// Cells with numbers of lines in tables that are open.
    numbers: Vec<Part>,
    /// The first byte of the last listing.
    listing: Option<usize>,
}

impl<'a> Scan<'a> {
    fn token(&mut self, token: Token<'a>) {
        match token {
            Token::Hidden { .. } => {
                if self.found.title.is_none() {
                    self.found.title = title::said(self.source, token);
                }
            }
            Token::Text(span) => {
                let len = span.of(self.source).trim().len();
                if self.skipping == 0 {
                    self.found.text += len;
                }
                if self.skipping == self.banners {
                    self.said += len;
                }
            }
            Token::Tag { name, closing: false, span } => self.begin(name, span),
            Token::Tag { name, closing: true, span } => self.close(name, span),
        }
    }

    fn begin(&mut self, name: &'a str, span: Span) {
        let tag = span.of(self.source);
        let kind = element(name);
        let rule = Rule::of(name, kind);
        let ended = rule.ends(self.open.iter().rev().take(DEPTH).map(|open| open.rule));
        for _ in 0..ended {
            self.pop(span.start, false);
        }
        let within = |is: fn(&Open<'_>) -> bool| self.open.iter().rev().take(DEPTH).any(is);
        // The footer of a quotation says whom it is by.
        let is_footer = name.eq_ignore_ascii_case("footer");
        let role = if is_footer && within(|open| open.name.eq_ignore_ascii_case("blockquote")) {
            Role::None
        } else {
            Role::of(name, tag, kind, || within(|open| open.is_section()))
        };
        if let Element::Heading(level) = kind {
            self.keep_button();
            if level <= 2 {
                self.found.headings.push((span.start, level));
            }
        }
        if kind == Element::Pre || kind == Element::Cell && is_code(tag) {
            self.listing = Some(span.start);
        }
        if is_void(name) || tag.ends_with("/>") && kind == Element::Inline {
            return;
        }
        self.skipping += usize::from(role.is_skipped());
        self.banners += usize::from(role == Role::Header);
        let (text, said) = (self.found.text, self.said);
        self.open.push(Open { name, kind, rule, role, start: span.start, text, said });
    }

    fn close(&mut self, name: &str, span: Span) {
        let from = self.open.len().saturating_sub(DEPTH);
        work::looked(self.open.len() - from);
        let Some(found) = self.open[from..].iter().rposition(|open| open.name.eq_ignore_ascii_case(name)) else {
            return;
        };
        let page = element(name) == Element::Page;
        while self.open.len() > from + found {
            let own = self.open.len() == from + found + 1;
            self.pop(if own { span.end } else { span.start }, page);
        }
    }

    /// Ends the innermost element at byte `end`; `page` where that is the end of the page.
    fn pop(&mut self, end: usize, page: bool) {
        let Some(open) = self.open.pop() else { return };
        let skip = open.role.is_skipped();
        self.skipping -= usize::from(skip);
        self.banners -= usize::from(open.role == Role::Header);
        if matches!(open.kind, Element::Heading(_)) && open.said == self.said {
            self.keep_buttons(open.start);
        }
        // Navigation that only the end of the page closes has forgotten its own end; a paragraph may do without.
        if open.role != Role::None && !(skip && page && open.rule != Rule::Paragraph) {
            self.part(&open, end);
        }
        self.end_table(&open);
    }

    /// If a table ends, what numbers the lines of a listing in it is no content.
    fn end_table(&mut self, open: &Open<'_>) {
        if open.kind != Element::Table {
            return;
        }
        let has_listing = self.listing.is_some_and(|at| at > open.start);
        while let Some(part) = self.numbers.pop_if(|part| part.hidden.span.start > open.start) {
            if has_listing {
                self.found.parts.push(Part { role: Role::Skip, ..part });
            }
        }
    }

    fn part(&mut self, open: &Open<'_>, end: usize) {
        let inline = open.kind == Element::Inline && open.name != "svg";
        let hidden = Hidden { span: Span::new(open.start, end), inline };
        let (before, text) = (open.text, self.found.text - open.text);
        let part = Part { role: open.role, hidden, before, text };
        if open.role == Role::Numbers {
            self.numbers.push(part);
        } else {
            self.found.parts.push(part);
        }
    }

    /// A heading begins: the button around it, if there is one, only opens and closes what is under the heading.
    fn keep_button(&mut self) {
        if self.skipping == 0 {
            return;
        }
        work::looked(self.open.len().min(DEPTH));
        if let Some(open) = self.open.iter_mut().rev().take(DEPTH).find(|open| open.role == Role::Button) {
            open.role = Role::None;
            self.skipping -= 1;
        }
    }

    /// The heading that begins at byte `start` ends, and all that it says is in buttons: it is those.
    fn keep_buttons(&mut self, start: usize) {
        let parts = &mut self.found.parts;
        let inside = parts.iter().rev().take(DEPTH).take_while(|part| part.hidden.span.start >= start).count();
        work::looked(inside);
        if inside == 0 {
            return;
        }
        let mut inside = parts.split_off(parts.len() - inside);
        inside.retain(|part| part.role != Role::Button);
        parts.append(&mut inside);
    }
}

impl Open<'_> {
    /// An element whose header is its own, and not the page's.
    fn is_section(&self) -> bool {
        matches!(self.role, Role::Main | Role::Article)
            || ["section", "main", "article"].iter().any(|name| name.eq_ignore_ascii_case(self.name))
    }
}
