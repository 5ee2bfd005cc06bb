//! Titles: what a page says its title is, and what its headings are in that.

use pericope_api::Span;

use super::elements::{Element, element};
use super::entities::decoded;
use super::tokens::{Token, Tokens};

/// What stands between the parts of a title.
const SEPARATORS: &[char] = &['|', '-', '–', '—', ':', '·', '•', '«', '»', '‹', '›', '<', '>', '/'];

/// What stands after the name of a site that a title begins with.
const AFTER_SITE: &[char] = &[':', '»', '›', '>'];

/// The title of a page, in one line, where `token` is that and says something.
pub(super) fn said(source: &str, token: Token<'_>) -> Option<String> {
    let Token::Hidden { name, inner, .. } = token else { return None };
    if !name.eq_ignore_ascii_case("title") {
        return None;
    }
    let title = line(&decoded(inner.of(source)));
    (!title.is_empty()).then_some(title)
}

/// The heading that `span` begins with, from its first tag to its last, and what it says, where it ends there and says
/// something.
pub(super) fn heading(source: &str, span: Span) -> Option<(Span, String)> {
    let mut text = String::new();
    for token in Tokens::new(source, span) {
        match token {
            Token::Text(part) => text.push_str(&decoded(part.of(source))),
            Token::Tag { name, closing: true, span: tag } if matches!(element(name), Element::Heading(_)) => {
                let text = line(&text);
                return (!text.is_empty()).then(|| (Span::new(span.start, tag.end), text));
            }
            _ => {}
        }
    }
    None
}

/// True where `heading` is the name of the site in `title`: `Page | Site`, `Page - Site`, `Site: Page`.
pub(super) fn is_site(heading: &str, title: &str) -> bool {
    let (heading, title) = (heading.to_lowercase(), title.to_lowercase());
    let before = title.strip_suffix(heading.as_str());
    let after = title.strip_prefix(heading.as_str());
    before.is_some_and(|before| before.trim_end().ends_with(SEPARATORS))
        || after.is_some_and(|after| after.trim_start().starts_with(AFTER_SITE))
}

/// True where `heading` is all of `title`, or what it begins with: `Page | Site`.
pub(super) fn is_page(heading: &str, title: &str) -> bool {
    let (heading, title) = (heading.to_lowercase(), title.to_lowercase());
    let after = title.strip_prefix(heading.as_str()).map(str::trim_start);
    after.is_some_and(|after| after.is_empty() || after.starts_with(SEPARATORS))
}

fn line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::{is_page, is_site};

    #[test]
    fn the_parts_of_a_title() {
        for title in ["Path | Node", "Path - Node", "Path \u{2014} node", "Node: Path", "Node » Path"] {
            assert!(is_site("Node", title), "{title}");
        }
        for title in ["Node", "Node | Site", "On Node", "Node again"] {
            assert!(!is_site("Node", title), "{title}");
        }
        assert!(is_page("Node", "node") && is_page("Node", "Node | Site"));
        assert!(!is_page("Node", "Nodes") && !is_page("Node", "Path | Node"));
    }
}
