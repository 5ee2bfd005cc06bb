//! Attributes of a tag.

use std::borrow::Cow;

use super::entities::decoded;

/// The value of attribute `name` (small letters) of a tag given from its `<` on, decoded; empty where it has none
/// (`hidden`); `None` where the tag has no such attribute.
pub(super) fn attribute<'a>(tag: &'a str, name: &str) -> Option<Cow<'a, str>> {
    let mut rest = tag.trim_start_matches(['<', '/']);
    // The name of the element.
    rest = rest.trim_start_matches(|c: char| !c.is_ascii_whitespace() && !matches!(c, '/' | '>'));
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '/');
        let len = rest.find(|c: char| c.is_ascii_whitespace() || matches!(c, '=' | '>' | '/')).unwrap_or(rest.len());
        let (found, after) = rest.split_at(len);
        if after.starts_with('>') && found.is_empty() {
            return None;
        }
        let (value, next) = value(after);
        if found.eq_ignore_ascii_case(name) && !found.is_empty() {
            let value = value.unwrap_or_default();
            return Some(if value.contains('&') { decoded(value).into() } else { value.into() });
        }
        if next.len() >= rest.len() {
            return None;
        }
        rest = next;
    }
}

/// The value after an attribute's name, if there is one, and what follows.
fn value(after: &str) -> (Option<&str>, &str) {
    let Some(value) = after.trim_start().strip_prefix('=') else { return (None, after) };
    let value = value.trim_start();
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            return match quoted.split_once(quote) {
                Some((inner, rest)) => (Some(inner), rest),
                None => (Some(quoted), ""),
            };
        }
    }
    let len = value.find(|c: char| c.is_ascii_whitespace() || c == '>').unwrap_or(value.len());
    let (value, rest) = value.split_at(len);
    (Some(value), rest)
}

/// What links to the element of this tag end with: its `id`, or the `name` of an `a`.
pub(in crate::formats) fn anchor(tag: &str) -> Option<String> {
    // Most tags have no attribute at all.
    if !tag.contains(|c: char| c.is_ascii_whitespace()) {
        return None;
    }
    let is_a = tag.get(1..3).is_some_and(|name| name.as_bytes()[0].eq_ignore_ascii_case(&b'a'))
        && tag.as_bytes().get(2).is_some_and(u8::is_ascii_whitespace);
    let found = attribute(tag, "id").or_else(|| is_a.then(|| attribute(tag, "name")).flatten())?;
    // White space in an id is an error, and no link could be made of it.
    (!found.is_empty() && !found.contains(char::is_whitespace)).then(|| found.into_owned())
}

/// Elements that show nothing by themselves.
const BARE: [&str; 6] = ["a", "article", "div", "p", "section", "span"];

/// True for a single element with an anchor and nothing in it, or its opening tag: `<a id="use"></a>`, `<div id="use">`.
pub(in crate::formats) fn is_anchor(text: &str) -> bool {
    let text = text.trim();
    let Some((tag, rest)) = text.find('>').map(|end| text.split_at(end + 1)) else { return false };
    let Some(name) = tag.strip_prefix('<').and_then(|tag| tag.split(|c: char| !c.is_ascii_alphanumeric()).next())
    else {
        return false;
    };
    let rest = rest.trim();
    let closing = rest.strip_prefix("</").and_then(|rest| rest.strip_suffix('>')).map(str::trim_end);
    let is_alone = rest.is_empty() || closing.is_some_and(|closing| closing.eq_ignore_ascii_case(name));
    is_alone && BARE.iter().any(|bare| bare.eq_ignore_ascii_case(name)) && anchor(tag).is_some()
}

#[cfg(test)]
mod tests {
    use super::{anchor, attribute, is_anchor};

    #[test]
    fn values_with_and_without_quotes() {
        let tag = "<div Class='a > b' data-id=7 id = \"x&amp;y\" hidden/>";
        assert_eq!(attribute(tag, "class").as_deref(), Some("a > b"));
        assert_eq!(attribute(tag, "id").as_deref(), Some("x&y"));
        assert_eq!(attribute(tag, "hidden").as_deref(), Some(""));
        assert_eq!(attribute(tag, "data-id").as_deref(), Some("7"));
        assert_eq!(attribute(tag, "div"), None);
        assert_eq!(attribute("<a id=x>", "id").as_deref(), Some("x"));
        assert_eq!(attribute("<a id='x", "id").as_deref(), Some("x"));
        for broken in ["<a", "<a ", "<a =>", "<a = = >", "<a //", "<", ""] {
            assert_eq!(attribute(broken, "id"), None, "{broken}");
        }
    }

    #[test]
    fn anchors_are_ids_and_names_of_links() {
        assert_eq!(anchor("<h2 id=\"use\">").as_deref(), Some("use"));
        assert_eq!(anchor("<A NAME=use>").as_deref(), Some("use"));
        assert_eq!(anchor("<input name=use>"), None);
        assert_eq!(anchor("<h2 id=\"two words\">"), None);
        assert_eq!(anchor("<h2 id=''>"), None);
    }

    #[test]
    fn anchors_alone_have_nothing_in_them() {
        for text in ["<a id=use></a>", "<a name='use'/>", " <DIV class=x id=\"use\">\n</div > ", "<div id=use>"] {
            assert!(is_anchor(text), "{text}");
        }
        let others = [
            "<a id=use>x</a>",
            "<img id=use alt=x>",
            "</div>",
            "<br>",
            "<!-- id=use -->",
            "<a id=use></a><b></b>",
            "<a id=use",
            "a",
        ];
        for text in others {
            assert!(!is_anchor(text), "{text}");
        }
    }
}
