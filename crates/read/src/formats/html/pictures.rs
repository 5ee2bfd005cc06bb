//! Pictures: what their page says in their place to those who do not see them.

use super::attributes::attribute;
use super::roles::is_hidden;

/// A tag of more bytes holds the picture itself, or addresses for every screen: it is passed over, so that no sentence is
/// mostly tag.
const LONGEST: usize = 1000;

/// The text of a picture, in one line, where it has one. `tag` is all of the tag of an element called `name`. A picture
/// that is hidden, that only decorates, or that is a single dot has none.
pub(super) fn alternative(name: &str, tag: &str) -> Option<String> {
    if !name.eq_ignore_ascii_case("img") || tag.len() > LONGEST {
        return None;
    }
    let text = attribute(tag, "alt")?.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_decoration = attribute(tag, "role")
        .is_some_and(|role| ["presentation", "none"].iter().any(|none| role.trim().eq_ignore_ascii_case(none)));
    let is_dot = ["width", "height"].iter().any(|side| {
        attribute(tag, side).is_some_and(|pixels| matches!(pixels.trim().trim_end_matches("px"), "0" | "1"))
    });
    (!text.is_empty() && !is_decoration && !is_dot && !is_hidden(tag)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, alternative};

    #[test]
    fn pictures_that_say_nothing() {
        let text = |tag: &str| alternative("img", tag);
        assert_eq!(text("<img src=a alt=\"A  pump\n&amp; a valve\">").as_deref(), Some("A pump & a valve"));
        for tag in [
            "<img>",
            "<img alt>",
            "<img alt=' '>",
            "<img alt=x hidden>",
            "<img alt=x aria-hidden=true>",
            "<img alt=x style='display: none'>",
            "<img alt=x role=presentation>",
            "<img alt=x width=1 height=1>",
            "<img alt=x height='0px'>",
        ] {
            assert_eq!(text(tag), None, "{tag}");
        }
        assert_eq!(text("<img alt=x width=100 height=100%>").as_deref(), Some("x"));
        assert_eq!(alternative("area", "<area alt=x>"), None);
        assert_eq!(text(&format!("<img alt=x src='{}'>", "a".repeat(LONGEST))), None);
    }
}
