use crate::sound;

/// Returns the text as it may stand in the text or in an attribute of XML, on one line: what no XML may hold is replaced
/// ([`sound`]), and tabs and line ends are blanks.
#[must_use]
pub fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in sound(text).chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\t' | '\n' | '\r' => out.push(' '),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::xml_text;

    #[test]
    fn no_text_ends_an_attribute_or_opens_an_element() {
        assert_eq!(xml_text("a < b && \"c\" > d\n]]>\u{0}"), "a &lt; b &amp;&amp; &quot;c&quot; &gt; d ]]&gt;\u{fffd}");
    }
}
