//! The content of a page, chosen among its parts: `main`, else its articles, else the body.

use pericope_api::Span;

use super::content::{DEPTH, Hidden};
use super::elements::{Element, element};
use super::roles::Role;
use super::title;
use super::tokens::{Token, Tokens};

/// An element that plays a role, from its first tag to its last.
#[derive(Debug, Clone, Copy)]
pub(super) struct Part {
    pub(super) role: Role,
    pub(super) hidden: Hidden,
    /// Bytes of content before it.
    pub(super) before: usize,
    /// Bytes of content in it.
    pub(super) text: usize,
}

/// What was found in a page.
pub(super) struct Found<'a> {
    pub(super) source: &'a str,
    /// What the page says its title is.
    pub(super) title: Option<String>,
    pub(super) parts: Vec<Part>,
    /// The first bytes and the levels of headings of level 1 and 2, in order.
    pub(super) headings: Vec<(usize, u8)>,
    /// Bytes of content.
    pub(super) text: usize,
}

impl Found<'_> {
    /// The parts that are no content.
    pub(super) fn hidden(mut self, page: Span) -> Vec<Hidden> {
        let main = self.chosen();
        // A banner stays where the page has its only main heading in it.
        let in_part = |part: &Part, at: usize| part.hidden.span.start <= at && at < part.hidden.span.end;
        let skips = |part: &Part| part.role.is_skipped();
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
        if let Some(title) = self.heading_before(&main) {
            all = all.into_iter().flat_map(|hidden| around(hidden, title)).collect();
        }
        merged(all)
    }

    /// The elements that hold the content, in order; empty where that is the whole body.
    fn chosen(&self) -> Vec<Part> {
        let main = outermost(self.parts.iter().filter(|part| part.role == Role::Main && part.text > 0).copied());
        let articles = outermost(self.parts.iter().filter(|part| part.role == Role::Article && part.text > 0).copied());
        if main.is_empty() {
            return if self.are_content(&articles) { articles } else { Vec::new() };
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

    /// False for the articles of a page that are its teasers or its comments: its headings and text are outside them.
    fn are_content(&self, articles: &[Part]) -> bool {
        let text: usize = articles.iter().map(|part| part.text).sum();
        let beside = self.beside(articles, Role::is_skipped);
        let seen = self.headings.iter().filter(|(at, _)| !holds(&beside, *at));
        let (inside, outside): (Vec<_>, Vec<_>) = seen.partition(|(at, _)| holds(articles, *at));
        if let [article] = articles
            && self.is_story(article, &inside, &outside)
        {
            return true;
        }
        let highest = |headings: &[&(usize, u8)]| headings.iter().map(|(_, level)| *level).min();
        match (highest(&inside), highest(&outside)) {
            (_, None) => text * 4 > self.text,
            (inside, Some(outside)) => inside.is_some_and(|inside| inside <= outside) && text * 2 > self.text,
        }
    }

    /// True for the only article of a page, however short, where its heading is above all `outside` it, or is the page's
    /// title, or where only the name of the site and the like come before it.
    fn is_story(&self, article: &Part, inside: &[&(usize, u8)], outside: &[&(usize, u8)]) -> bool {
        let Some(&&(at, level)) = inside.iter().min_by_key(|(_, level)| *level) else { return false };
        let mut rivals = outside.iter().filter(|(_, other)| *other <= level).peekable();
        if rivals.peek().is_none() {
            return true;
        }
        let is_page = |text: &str| self.title.as_deref().is_some_and(|title| title::is_page(text, title));
        let named = title::heading(self.source, Span::new(at, article.hidden.span.end));
        if named.is_some_and(|(_, text)| is_page(&text)) {
            return true;
        }
        rivals.all(|&&(other, same)| same == level && other < at) && article.before < article.text
    }

    /// The heading before the content that is its title: often in the page's banner, where the content has no heading of
    /// level 1 itself and begins with none. The name of the site is no title, and neither is that of a form or a dialog.
    fn heading_before(&self, main: &[Part]) -> Option<Span> {
        let first = main.first()?.hidden.span;
        let mut titles = self.headings.iter().filter(|(_, level)| *level == 1).map(|(at, _)| *at);
        if titles.clone().any(|at| holds(main, at)) {
            return None;
        }
        let beside = self.beside(main, |role| matches!(role, Role::Skip | Role::Button));
        let at = titles.rfind(|&at| at < first.start && !holds(&beside, at))?;
        let (span, text) = title::heading(self.source, Span::new(at, first.start))?;
        let is_site = self.title.as_deref().is_some_and(|title| title::is_site(&text, title));
        (!is_site && !begins_with_heading(self.source, first, &beside)).then_some(span)
    }

    /// The parts that say nothing of what the page is about, in order: those that are passed over, and forms and dialogs
    /// beside the content.
    fn beside(&self, content: &[Part], skips: impl Fn(Role) -> bool) -> Vec<Part> {
        let found = self
            .parts
            .iter()
            .filter(|part| skips(part.role) || part.role == Role::Apart && !overlap(content, part.hidden.span));
        outermost(found.copied())
    }
}

/// True where nothing that shows comes before the first heading in `span`, less the parts `beside`.
fn begins_with_heading(source: &str, span: Span, beside: &[Part]) -> bool {
    for token in Tokens::new(source, span) {
        match token {
            _ if holds(beside, token.span().start) => {}
            Token::Text(text) if !text.of(source).trim().is_empty() => return false,
            Token::Tag { name, closing: false, .. } if matches!(element(name), Element::Heading(_)) => return true,
            _ => {}
        }
    }
    false
}

/// What is hidden of `hidden` before and after `kept`.
fn around(hidden: Hidden, kept: Span) -> [Hidden; 2] {
    let span = hidden.span;
    let [before, after] = if span.start <= kept.start && kept.end <= span.end {
        [Span::new(span.start, kept.start), Span::new(kept.end, span.end)]
    } else {
        [span, Span::new(span.end, span.end)]
    };
    [before, after].map(|span| Hidden { span, ..hidden })
}

/// True where byte `at` is in one of `parts`, which are in order and do not overlap.
fn holds(parts: &[Part], at: usize) -> bool {
    let next = parts.partition_point(|part| part.hidden.span.end <= at);
    parts.get(next).is_some_and(|part| part.hidden.span.start <= at)
}

/// True where `span` shares a byte with one of `parts`, which are in order and do not overlap.
fn overlap(parts: &[Part], span: Span) -> bool {
    let next = parts.partition_point(|part| part.hidden.span.end <= span.start);
    parts.get(next).is_some_and(|part| part.hidden.span.start < span.end)
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
