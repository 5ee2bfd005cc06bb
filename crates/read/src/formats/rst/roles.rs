//! The text that a role shows.

use pericope_api::Span;

/// Roles whose text is prose; that of any other is a name, in which no sentence ends.
const PROSE: &[&str] = &[
    "abbr",
    "abbreviation",
    "ac",
    "acronym",
    "any",
    "cite",
    "dfn",
    "doc",
    "download",
    "emphasis",
    "guilabel",
    "index",
    "menuselection",
    "numref",
    "ref",
    "strong",
    "sub",
    "subscript",
    "sup",
    "superscript",
    "target",
    "term",
    "title",
    "title-reference",
];

pub(super) fn is_name(name: &str) -> bool {
    name.as_bytes().first().is_some_and(u8::is_ascii_alphanumeric)
        && name.as_bytes().last().is_some_and(u8::is_ascii_alphanumeric)
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+:".contains(&b))
}

/// The reading of the text of a role or a link.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// Nothing.
    Nothing,
    /// Running text, backslashes in it being escapes.
    Text(Span),
    /// A name, in which no sentence ends.
    Name(Span),
    /// Other text than that of the source.
    Other(String),
}

/// Returns the reading of the text under `inner` of role `name` (empty: none), or of a link.
pub(super) fn shown(source: &str, inner: Span, name: &str, link: bool) -> Shown {
    let text = inner.of(source);
    let name = name.rsplit(':').next().unwrap_or(name).to_ascii_lowercase();
    if name == "raw" || name == "eq" {
        return Shown::Nothing;
    }
    // `title <target>` shows its title.
    let titled = text
        .strip_suffix('>')
        .and_then(|text| text.rsplit_once('<'))
        .filter(|(title, _)| title.is_empty() || title.ends_with(char::is_whitespace) && !title.trim().is_empty());
    if let Some((title, target)) = titled
        && !matches!(name.as_str(), "code" | "math" | "literal" | "samp" | "file" | "kbd")
    {
        let start = inner.start;
        let span = if title.is_empty() {
            Span::new(start + 1, start + 1 + target.len())
        } else {
            Span::new(start, start + title.trim_end().len())
        };
        // A code role with a title shows prose as often as not.
        return Shown::Text(span);
    }
    let number = match name.as_str() {
        "pep" => Some("PEP "),
        "rfc" => Some("RFC "),
        _ => None,
    };
    if let Some(prefix) = number {
        let text = text.split('#').next().unwrap_or(text);
        return Shown::Other(format!("{prefix}{text}"));
    }
    if link || name.is_empty() || PROSE.binary_search(&name.as_str()).is_ok() {
        return Shown::Text(inner);
    }
    // `~a.b.c` shows its last part, and `!a` is no link.
    let mut start = inner.start;
    if let Some(path) = text.strip_prefix('~') {
        start += 1 + path.rfind('.').map_or(0, |dot| dot + 1);
    } else if text.starts_with('!') {
        start += 1;
    }
    Shown::Name(Span::new(start, inner.end))
}

#[cfg(test)]
mod tests {
    use super::PROSE;

    #[test]
    fn the_table_is_sorted() {
        assert!(PROSE.is_sorted());
    }
}
