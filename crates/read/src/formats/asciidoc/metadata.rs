//! What is said about a block or the document: attribute lists, anchors, attribute entries.

use std::ops::Range;

/// What the lines in square brackets above a block say.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct Metadata {
    /// The first word: `source`, `NOTE`, `quote`.
    pub(super) style: String,
    pub(super) id: Option<String>,
}

impl Metadata {
    /// Adds what a line says; false where it is no such line.
    pub(super) fn add(&mut self, line: &str) -> bool {
        let Some(inner) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) else { return false };
        if let Some(anchor) = inner.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
            let id = anchor.split(',').next().unwrap_or_default().trim();
            if id.is_empty() || anchor.contains(['[', ']']) {
                return false;
            }
            self.id = Some(id.to_owned());
            return true;
        }
        let good = |c: char| c.is_alphanumeric() || matches!(c, '.' | '#' | '%' | '"' | '\'' | '{' | ',' | '_');
        if inner.contains("]]") || !(inner.is_empty() || inner.starts_with(good)) {
            return false;
        }
        for (i, part) in inner.split(',').enumerate() {
            let part = part.trim();
            if let Some((name, value)) = part.split_once('=') {
                if name.trim() == "id" {
                    self.id = Some(value.trim().trim_matches(['"', '\'']).to_owned());
                }
                continue;
            }
            if i == 0 {
                self.shorthand(part);
            } else if i == 1 && self.style.is_empty() && inner.starts_with(',') && !part.is_empty() {
                // `[,ruby]`
                self.style = "source".into();
            }
        }
        true
    }

    /// `style#id.role%option`.
    fn shorthand(&mut self, text: &str) {
        let marks = ['#', '.', '%'];
        let style = text.split(marks).next().unwrap_or_default();
        if !style.is_empty() {
            self.style = style.to_owned();
        }
        if let Some((_, id)) = text.split_once('#') {
            self.id = Some(id.split(marks).next().unwrap_or_default().to_owned());
        }
    }
}

/// Where a line says whom a quotation is by, and what it is from: `[quote, Who, What]`. Quotation marks part it.
pub(super) fn attribution(line: &str) -> Vec<Range<usize>> {
    let parts = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')).and_then(|line| line.split_once(','));
    let Some((style, who)) = parts else { return Vec::new() };
    let style = style.split(['#', '.', '%']).next().unwrap_or_default().trim();
    if !matches!(style, "quote" | "verse") || who.contains('=') {
        return Vec::new();
    }
    // Behind it stands the bracket.
    let mut start = line.len() - 1 - who.trim_start().len();
    let mut pieces = Vec::new();
    for piece in who.trim().split('"') {
        if !piece.is_empty() {
            pieces.push(start..start + piece.len());
        }
        start += piece.len() + 1;
    }
    pieces
}

/// Name and value of an attribute entry: `:name: value`; `:!name:` has none.
pub(super) fn entry(line: &str) -> Option<(&str, Option<&str>)> {
    let (name, value) = line.strip_prefix(':')?.split_once(':')?;
    let bare = name.trim_matches('!');
    let good = |b: u8| b.is_ascii_alphanumeric() || b == b'-' || b == b'_';
    if bare.is_empty() || !bare.bytes().all(good) || !(value.is_empty() || value.starts_with([' ', '\t'])) {
        return None;
    }
    Some((bare, (bare.len() == name.len()).then(|| value.trim())))
}

#[cfg(test)]
mod tests {
    use super::{Metadata, attribution, entry};

    fn read(lines: &[&str]) -> Option<(String, Option<String>)> {
        let mut metadata = Metadata::default();
        lines.iter().all(|line| metadata.add(line)).then_some((metadata.style, metadata.id))
    }

    #[test]
    fn lists_of_attributes() {
        let is = |style: &str, id: Option<&str>| Some((style.to_owned(), id.map(str::to_owned)));
        assert_eq!(read(&["[source,ruby]"]), is("source", None));
        assert_eq!(read(&["[,ruby]"]), is("source", None));
        assert_eq!(read(&["[[an-id]]", "[NOTE]"]), is("NOTE", Some("an-id")));
        assert_eq!(read(&["[quote#q.big%x, Someone]"]), is("quote", Some("q")));
        assert_eq!(read(&["[#use]"]), is("", Some("use")));
        assert_eq!(read(&["[cols=\"1,2\",id=t]"]), is("", Some("t")));
        assert_eq!((read(&["[a] b"]), read(&["[[a] and [b]]"]), read(&["[ ]"])), (None, None, None));
    }

    #[test]
    fn whom_a_quotation_is_by() {
        let who = |line: &str| attribution(line).into_iter().map(|who| line[who].to_owned()).collect::<String>();
        assert_eq!(who("[quote, Abe Lincoln, Address]"), "Abe Lincoln, Address");
        assert_eq!(who("[verse#v.x, \"A, B\" ]"), "A, B");
        assert_eq!(who("[quote, \"A, B\", C]"), "A, B, C");
        for none in ["[quote]", "[source, ruby]", "[quote, ]", "[quote, a=b]"] {
            assert_eq!(who(none), "");
        }
    }

    #[test]
    fn entries() {
        assert_eq!(entry(":version: 1.2 "), Some(("version", Some("1.2"))));
        assert_eq!(entry(":toc:"), Some(("toc", Some(""))));
        assert_eq!(entry(":!toc:"), Some(("toc", None)));
        assert_eq!((entry(":a b: c"), entry("a: b"), entry(":smile:x")), (None, None, None));
    }
}
