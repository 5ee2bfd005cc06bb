//! Writing HTML and SVG so that it cannot come out wrong: elements close themselves, text and attributes are escaped.

use std::borrow::Cow;

/// Attribute names and values.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a str)];

/// A growing piece of HTML.
#[derive(Debug, Default)]
pub(crate) struct Markup {
    out: String,
}

impl Markup {
    /// Trusted markup, written as it is.
    pub fn raw(&mut self, trusted: &str) {
        self.out.push_str(trusted);
    }

    /// Text, escaped.
    pub fn text(&mut self, text: &str) {
        self.out.push_str(&escaped(text));
    }

    /// An element around what `body` writes.
    pub fn element(&mut self, tag: &str, attributes: Attributes, body: impl FnOnce(&mut Self)) {
        self.tag(tag, attributes);
        self.out.push('>');
        body(self);
        self.out.push_str("</");
        self.out.push_str(tag);
        self.out.push('>');
    }

    /// An element that holds text alone.
    pub fn leaf(&mut self, tag: &str, attributes: Attributes, text: &str) {
        self.element(tag, attributes, |m| m.text(text));
    }

    /// A void element (`<meta>`) or an SVG shape.
    pub fn empty(&mut self, tag: &str, attributes: Attributes) {
        self.tag(tag, attributes);
        self.out.push_str("/>");
    }

    /// A line end, so that the source can be read too.
    pub fn line(&mut self) {
        self.out.push('\n');
    }

    /// The markup.
    pub fn finish(self) -> String {
        self.out
    }

    fn tag(&mut self, tag: &str, attributes: Attributes) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            self.out.push(' ');
            self.out.push_str(name);
            self.out.push_str("=\"");
            self.out.push_str(&escaped(value));
            self.out.push('"');
        }
    }
}

/// What a character is written as, where it is not itself.
///
/// Control characters are not allowed in HTML at all; they, and the characters that turn the direction of the text
/// after them, are replaced, so that no text from a document can reach beyond its own place.
pub(crate) fn replaced(letter: char) -> Option<&'static str> {
    Some(match letter {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\'' => "&#39;",
        '\t' | '\n' | '\r' => return None,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => "\u{fffd}",
        // Non-characters of the basic plane; those of the other planes are the last two of each.
        '\u{fdd0}'..='\u{fdef}' => "\u{fffd}",
        other if other.is_control() || (u32::from(other) & 0xfffe) == 0xfffe => "\u{fffd}",
        _ => return None,
    })
}

/// Text as it may stand in HTML, between tags and inside quoted attributes.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    if text.chars().all(|letter| replaced(letter).is_none()) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    for letter in text.chars() {
        match replaced(letter) {
            Some(with) => out.push_str(with),
            None => out.push(letter),
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::{Markup, escaped};

    #[test]
    fn text_cannot_become_markup() {
        assert_eq!(escaped("<script>'\"&]]>"), "&lt;script&gt;&#39;&quot;&amp;]]&gt;");
        assert_eq!(escaped("plain ünïcode\n\ttext"), "plain ünïcode\n\ttext");
        assert_eq!(
            escaped("a\u{0}b\u{1b}[31m\u{7f}\u{85}\u{202e}\u{ffff}"),
            "a\u{fffd}b\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
    }

    #[test]
    fn elements_close_in_order() {
        let mut markup = Markup::default();
        markup.element("p", &[("title", "a \"b\"")], |m| {
            m.text("x");
            m.leaf("b", &[], "<y>");
            m.empty("br", &[]);
        });
        assert_eq!(markup.finish(), "<p title=\"a &quot;b&quot;\">x<b>&lt;y&gt;</b><br/></p>");
    }
}
