//! The head of a page, which nobody sees, and the title in it.

use pericope_api::Span;

use super::elements::{Element, element};
use super::page::{Page, State};
use super::title;
use super::tokens::Token;

impl<'a> Page<'_, 'a> {
    pub(super) fn find_title(&mut self, token: Token<'a>) {
        if self.title.is_none() {
            self.title = title::said(self.source, token);
        }
    }

    pub(super) fn head(&mut self, token: Token<'a>, start: usize) {
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
}
