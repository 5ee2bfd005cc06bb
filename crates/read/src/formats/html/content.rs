//! Which parts of a page are its content: `main`, else `article`, else the body; and in it no navigation, banners,
//! footers, asides, controls, or what is hidden.

use pericope_api::Span;

use super::attributes::attribute;
use super::elements::{Element, element, is_void};
use super::tokens::{Token, Tokens};
use crate::work;

/// A part of a page that is passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hidden {
    pub(super) span: Span,
    /// In a line of text, which goes on after it.
    pub(super) inline: bool,
}

/// The part that an element plays in the page as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Main,
    Article,
    /// A banner; it stays where the page's only main heading is in it.
    Header,
    Skip,
    None,
}

/// An element that is open.
struct Open<'a> {
    name: &'a str,
    role: Role,
    start: usize,
    /// Bytes of content before it.
    text: usize,
}

/// An element that plays a role, from its first tag to its last.
#[derive(Debug, Clone, Copy)]
struct Part {
    role: Role,
    hidden: Hidden,
    /// Bytes of content in it.
    text: usize,
}

/// Closing tags look for their element among this many open ones, so that time stays linear.
const DEPTH: usize = 256;

/// The parts of `span` that are no content, in order, without overlap. Where nothing would be left, nothing is hidden.
pub(super) fn hidden(source: &str, span: Span) -> Vec<Hidden> {
    let mut scan = Scan { source, open: Vec::new(), parts: Vec::new(), headings: Vec::new(), text: 0, skipping: 0 };
    for token in Tokens::new(source, span) {
        scan.token(token);
    }
    // What is never closed is content to the end, or else was never meant to be hidden.
    while let Some(open) = scan.open.pop() {
        if matches!(open.role, Role::Main | Role::Article) {
            scan.part(&open, span.end);
        }
    }
    scan.hidden(span)
}

struct Scan<'a> {
    source: &'a str,
    open: Vec<Open<'a>>,
    parts: Vec<Part>,
    /// The first bytes and the levels of headings of level 1 and 2.
    headings: Vec<(usize, u8)>,
    /// Bytes of content so far.
    text: usize,
    /// Open elements that are passed over.
    skipping: usize,
}

impl<'a> Scan<'a> {
    fn token(&mut self, token: Token<'a>) {
        match token {
            Token::Hidden { .. } => {}
            Token::Text(span) => {
                if self.skipping == 0 {
                    self.text += span.of(self.source).trim().len();
                }
            }
            Token::Tag { name, closing: false, span } => {
                let tag = span.of(self.source);
                let role = self.role(name, tag);
                if let Element::Heading(level @ 1..=2) = element(name) {
                    self.headings.push((span.start, level));
                }
                if is_void(name) || tag.ends_with("/>") && element(name) == Element::Inline {
                    return;
                }
                self.skipping += usize::from(matches!(role, Role::Skip | Role::Header));
                self.open.push(Open { name, role, start: span.start, text: self.text });
            }
            Token::Tag { name, closing: true, span } => self.close(name, span),
        }
    }

    fn close(&mut self, name: &str, span: Span) {
        let from = self.open.len().saturating_sub(DEPTH);
        work::looked(self.open.len() - from);
        let Some(found) = self.open[from..].iter().rposition(|open| open.name.eq_ignore_ascii_case(name)) else {
            return;
        };
        let page = element(name) == Element::Page;
        while self.open.len() > from + found {
            let Some(open) = self.open.pop() else { return };
            let own = self.open.len() == from + found;
            let skip = matches!(open.role, Role::Skip | Role::Header);
            self.skipping -= usize::from(skip);
            // Navigation that only the end of the page closes has forgotten its own end.
            if open.role != Role::None && !(skip && page) {
                self.part(&open, if own { span.end } else { span.start });
            }
        }
    }

    fn part(&mut self, open: &Open<'_>, end: usize) {
        let inline = element(open.name) == Element::Inline && open.name != "svg";
        let hidden = Hidden { span: Span::new(open.start, end), inline };
        self.parts.push(Part { role: open.role, hidden, text: self.text - open.text });
    }

    /// The role of an element that begins with `tag` here.
    fn role(&self, name: &str, tag: &str) -> Role {
        let is = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        if is(&["nav", "footer", "noscript", "button", "select", "svg"]) {
            return Role::Skip;
        }
        if is(&["dialog"]) && attribute(tag, "open").is_none() {
            return Role::Skip;
        }
        if is(&["aside"]) && !is_admonition(tag) {
            return Role::Skip;
        }
        if is(&["header"]) && !self.open.iter().rev().take(DEPTH).any(|open| open.is_section()) {
            return Role::Header;
        }
        if tag.len() > name.len() + 2 && !is(&["body", "html"]) {
            if let Some(role) = attribute(tag, "role") {
                let role = role.trim().to_ascii_lowercase();
                match role.as_str() {
                    "main" => return Role::Main,
                    "navigation" | "banner" | "contentinfo" | "search" | "menu" | "menubar" | "toolbar" => {
                        return Role::Skip;
                    }
                    "complementary" if !is_admonition(tag) => return Role::Skip,
                    _ => {}
                }
            }
            if is_hidden(tag) {
                return Role::Skip;
            }
        }
        match name {
            _ if is(&["main"]) => Role::Main,
            _ if is(&["article"]) => Role::Article,
            _ => Role::None,
        }
    }

    /// The parts that are no content.
    fn hidden(mut self, page: Span) -> Vec<Hidden> {
        let main = self.chosen();
        // A banner stays where the page has its only main heading in it.
        let in_part = |part: &Part, at: usize| part.hidden.span.start <= at && at < part.hidden.span.end;
        let skips = |part: &Part| matches!(part.role, Role::Skip | Role::Header);
        let titles: Vec<usize> = self.headings.iter().filter(|(_, level)| *level == 1).map(|(at, _)| *at).collect();
        let titled = titles.iter().take(DEPTH).any(|&at| !self.parts.iter().any(|p| skips(p) && in_part(p, at)));
        if main.is_empty() && !titled {
            self.parts.retain(|p| p.role != Role::Header || !titles.iter().take(DEPTH).any(|&at| in_part(p, at)));
        }
        let left: usize = if main.is_empty() { self.text } else { main.iter().map(|part| part.text).sum() };
        if left == 0 {
            return Vec::new();
        }
        let mut all: Vec<Hidden> = self.parts.iter().filter(|part| skips(part)).map(|part| part.hidden).collect();
        let mut at = page.start;
        for part in &main {
            all.push(Hidden { span: Span::new(at, part.hidden.span.start), inline: false });
            at = part.hidden.span.end;
        }
        if !main.is_empty() {
            all.push(Hidden { span: Span::new(at, page.end), inline: false });
        }
        merged(all)
    }

    /// The elements that hold the content, in order; empty where that is the whole body.
    fn chosen(&self) -> Vec<Part> {
        let main = outermost(self.parts.iter().filter(|part| part.role == Role::Main && part.text > 0).copied());
        let articles = outermost(self.parts.iter().filter(|part| part.role == Role::Article && part.text > 0).copied());
        if main.is_empty() {
            return articles;
        }
        // Around a single article, `main` often holds a table of contents and the like as well.
        if let ([main], [article]) = (main.as_slice(), articles.as_slice()) {
            let (outer, inner) = (main.hidden.span, article.hidden.span);
            let inside = outer.start <= inner.start && inner.end <= outer.end;
            let heading_outside = self
                .headings
                .iter()
                .any(|&(at, _)| outer.start <= at && at < outer.end && !(inner.start <= at && at < inner.end));
            if inside && !heading_outside && article.text * 2 > main.text {
                return articles;
            }
        }
        main
    }
}

impl Open<'_> {
    /// An element whose header is its own, and not the page's.
    fn is_section(&self) -> bool {
        matches!(self.role, Role::Main | Role::Article)
            || ["section", "main", "article"].iter().any(|name| name.eq_ignore_ascii_case(self.name))
    }
}

/// The parts that lie in no other, in order.
fn outermost(parts: impl Iterator<Item = Part>) -> Vec<Part> {
    let mut all: Vec<Part> = parts.collect();
    all.sort_by_key(|part| (part.hidden.span.start, std::cmp::Reverse(part.hidden.span.end)));
    let mut end = 0;
    all.retain(|part| {
        let outer = part.hidden.span.start >= end;
        end = end.max(part.hidden.span.end);
        outer
    });
    all
}

/// In order, those that touch or overlap made one.
fn merged(mut all: Vec<Hidden>) -> Vec<Hidden> {
    all.retain(|hidden| !hidden.span.is_empty());
    all.sort_by_key(|hidden| (hidden.span.start, std::cmp::Reverse(hidden.span.end)));
    let mut out: Vec<Hidden> = Vec::with_capacity(all.len());
    for hidden in all {
        match out.last_mut() {
            Some(last) if hidden.span.start < last.span.end => {
                last.span.end = last.span.end.max(hidden.span.end);
                last.inline &= hidden.inline;
            }
            _ => out.push(hidden),
        }
    }
    out
}

/// Attributes that keep an element from being seen.
fn is_hidden(tag: &str) -> bool {
    let has = |name: &str| attribute(tag, name);
    has("hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
        || has("aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || has("style").is_some_and(|style| {
            let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
            style.to_ascii_lowercase().contains("display:none")
        })
}

/// Generators write notes and warnings, which are content, as `aside`.
fn is_admonition(tag: &str) -> bool {
    const WORDS: &[&str] =
        &["note", "tip", "hint", "warning", "caution", "danger", "important", "info", "admonition", "callout", "alert"];
    ["class", "aria-label", "role"].iter().filter_map(|name| attribute(tag, name)).any(|value| {
        value
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
    })
}
