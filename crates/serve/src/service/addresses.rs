//! The addresses of documents: a prefix, and the path of the document behind it.

use std::collections::HashMap;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

/// What stands in a path or a fragment as it is: letters, digits, and what no browser reads as something else.
const ENCODED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'&')
    .add(b'\'')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// How documents get addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressRules {
    /// What stands before the paths of documents, for every index that has no prefix of its own.
    pub prefix: Option<String>,
    /// The same by the names of indexes.
    pub prefixes: HashMap<String, String>,
    /// The beginning of the documents' ids that the prefix stands for: `docs`.
    pub root: String,
    /// Endings that addresses leave out, without the dot. `index` and `README` with such an ending are their folder.
    pub strip: Vec<String>,
}

impl AddressRules {
    /// Reads `URL` or `NAME=URL`.
    ///
    /// # Errors
    /// A sentence where it is no address of http or https, and no path on the same host.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let named = text.split_once('=').filter(|(name, _)| super::is_name(name));
        let (name, url) = named.map_or((None, text), |(name, url)| (Some(name), url));
        let known = ["http://", "https://"].iter().any(|scheme| url.len() > scheme.len() && url.starts_with(scheme));
        let path = url.starts_with('/') && !url.starts_with("//");
        if !(known || path) {
            return Err(format!("{url} is no address: it must begin with http://, https:// or one /"));
        }
        if let Some(bad) = url.chars().find(|c| !c.is_ascii_graphic() || matches!(c, '"' | '<' | '>' | '\\' | '#')) {
            return Err(format!("{} holds {bad:?}, which an address cannot", url.escape_debug()));
        }
        match name {
            Some(name) => drop(self.prefixes.insert(name.to_owned(), url.to_owned())),
            None => self.prefix = Some(url.to_owned()),
        }
        Ok(())
    }

    /// Returns the address of a place in a document of an index; `None` without a prefix, and for a document that does not
    /// lie below the root.
    #[must_use]
    pub fn address(&self, index: &str, document: &str, anchor: Option<&str>) -> Option<String> {
        let prefix = self.prefixes.get(index).or(self.prefix.as_ref())?;
        let path = self.path(document)?;
        let mut url = format!("{}/", prefix.trim_end_matches('/'));
        for (n, part) in path.split('/').enumerate() {
            if n > 0 {
                url.push('/');
            }
            url.extend(utf8_percent_encode(part, ENCODED));
        }
        if let Some(anchor) = anchor.filter(|anchor| !anchor.is_empty()) {
            url.push('#');
            url.extend(utf8_percent_encode(anchor, ENCODED));
        }
        Some(url)
    }

    /// The path behind the prefix.
    fn path<'a>(&self, document: &'a str) -> Option<&'a str> {
        let document = document.strip_prefix("./").unwrap_or(document);
        let root = self.root.trim_start_matches("./").trim_end_matches('/');
        let path = match root {
            "" | "." => document,
            _ => document.strip_prefix(root)?.strip_prefix('/')?,
        };
        if path.starts_with('/') || path.split('/').any(|part| matches!(part, "." | ".." | "")) {
            return None;
        }
        let (folder, file) = path.rsplit_once('/').map_or(("", path), |(folder, file)| (folder, file));
        let ending = file.rsplit_once('.').filter(|(stem, _)| !stem.is_empty());
        let Some((stem, _)) = ending.filter(|(_, ending)| self.strip.iter().any(|strip| strip == ending)) else {
            return Some(path);
        };
        match stem {
            "index" | "README" if folder.is_empty() => Some(""),
            "index" | "README" => path.get(..=folder.len()),
            _ => path.get(..path.len() - (file.len() - stem.len())),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn addresses_are_prefix_and_path() {
        let mut rules = AddressRules::default();
        assert_eq!(rules.address("docs", "a.md", None), None);
        rules.add("https://example.org/docs/").unwrap();
        rules.add("api=/reference").unwrap();
        let of = |rules: &AddressRules, document| rules.address("docs", document, Some("a b"));
        assert_eq!(of(&rules, "guide/a.md").unwrap(), "https://example.org/docs/guide/a.md#a%20b");
        assert_eq!(of(&rules, "a\"><script>.md").unwrap(), "https://example.org/docs/a%22%3E%3Cscript%3E.md#a%20b");
        assert_eq!(of(&rules, "ü?#.md").unwrap(), "https://example.org/docs/%C3%BC%3F%23.md#a%20b");
        for outside in ["/etc/passwd", "../a.md", "a/../b.md", "a//b.md", ""] {
            assert_eq!(of(&rules, outside), None, "{outside}");
        }
        assert_eq!(rules.address("api", "a.md", None).unwrap(), "/reference/a.md");
        rules.root = "./docs/".into();
        rules.strip = vec!["md".into()];
        for (document, path) in [
            ("docs/guide/start.md", Some("guide/start")),
            ("docs/guide/index.md", Some("guide/")),
            ("docs/index.md", Some("")),
            ("docs/.md", Some(".md")),
            ("docs/a.html", Some("a.html")),
            ("docsother/a.md", None),
            ("src/a.md", None),
        ] {
            assert_eq!(
                rules.address("api", document, None),
                path.map(|path| format!("/reference/{path}")),
                "{document}"
            );
        }
    }

    #[test]
    fn prefixes_that_could_break_a_header_or_a_page_are_refused() {
        for bad in
            ["javascript:alert(1)", "//evil.example", "docs", "https://", "https://a/\r\nSet-Cookie: x", "/a b", "/<"]
        {
            assert!(AddressRules::default().add(bad).is_err(), "{bad:?}");
        }
    }
}
