//! Tables and `pre`, which stay whole.

use pericope_api::{Kind, Span};

use super::attributes::anchor;
use super::elements::{Element, element};
use super::entities::references;
use super::page::{Page, State};
use super::tokens::Token;

/// A sign links to one of so many ids before it, so that time stays linear.
const NEAR: usize = 64;

impl<'a> Page<'_, 'a> {
    pub(super) fn begin_whole(&mut self, kind: Kind, element: Element, span: Span) {
        // What leads up to it has to be handed over before its own rewrites.
        let start = self.lead(span.start);
        self.rewrite_lead(start, span);
        self.ids.clear();
        self.ids.extend(self.before.take());
        self.rows = None;
        self.glued = false;
        self.state = State::Whole { kind, element, start, depth: 1 };
    }

    /// In a table or `pre`: tags go, rows become lines, and at its end it is one sentence.
    pub(super) fn whole(&mut self, token: Token<'a>, kind: Kind, outer: Element, start: usize, depth: usize) {
        let (name, closing, span) = match token {
            Token::Text(span) if kind == Kind::Table && self.is_permalink(span) && self.leads_to_itself() => {
                return self.builder.rewrite(span, "");
            }
            Token::Text(span) => {
                self.glued = span.of(self.source).ends_with(|c: char| !c.is_whitespace());
                return self.rewrite_entities(span);
            }
            Token::Hidden { span, .. } => return self.builder.rewrite(span, ""),
            Token::Tag { name, closing, span } => (name, closing, span),
        };
        if kind == Kind::Table
            && !closing
            && let Some(text) = self.picture(name, span)
        {
            let left = if self.glued { " " } else { "" };
            self.glued = false;
            return self.builder.rewrite(span, &format!("{left}{text} "));
        }
        self.note_link(name, closing, span);
        let found = element(name);
        if kind == Kind::Table && !closing {
            if found == Element::Row {
                let own = *self.rows.get_or_insert(self.ids.len());
                self.ids.truncate(own);
            }
            self.ids.extend(anchor(span.of(self.source)));
        }
        let depth = match (found == outer, closing) {
            (true, false) => depth + 1,
            (true, true) => depth - 1,
            // Never closed: it ends with the page.
            (false, true) if found == Element::Page => 0,
            _ => depth,
        };
        if depth == 0 {
            let shown = self.builder.behind(span.end);
            self.builder.rewrite(span, shown);
            self.end_whole(Span::new(start, span.end), kind);
            return;
        }
        let shown = match found {
            Element::Row | Element::Break if !closing => "\n",
            // The end tag of the cell before may be left out.
            Element::Cell if closing || self.glued => " ",
            // Another one in a cell.
            Element::Pre | Element::Table if self.glued => "\n",
            Element::Block | Element::List | Element::Heading(_) => "\n",
            _ => "",
        };
        self.glued &= shown.is_empty();
        self.builder.rewrite(span, shown);
        self.state = State::Whole { kind, element: outer, start, depth };
    }

    /// True where a link in a table leads to the table or to its own row, or stands in the caption: as a sign it is no text.
    fn leads_to_itself(&self) -> bool {
        let target = self.link.as_deref().and_then(|link| link.strip_prefix('#'));
        self.rows.is_none() || self.ids.iter().rev().take(NEAR).any(|id| target == Some(id.as_str()))
    }

    pub(super) fn end_whole(&mut self, span: Span, kind: Kind) {
        self.builder.whole(span.start, span, kind);
        self.state = State::Flow;
    }

    fn rewrite_entities(&mut self, span: Span) {
        let builder = &mut *self.builder;
        references(self.source, span, &mut |span, shown| {
            if let Some(shown) = shown {
                builder.rewrite(span, &shown);
            }
        });
    }

    /// Hides the tags before a table or `pre`, and its own start tag.
    fn rewrite_lead(&mut self, start: usize, tag: Span) {
        let shown = if self.builder.is_glued(start) { "\n" } else { "" };
        self.builder.rewrite(Span::new(start, tag.end), shown);
    }
}
