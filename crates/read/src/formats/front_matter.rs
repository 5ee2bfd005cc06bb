//! Front matter: metadata at the very top of a file, YAML between lines of `---` or TOML between lines of `+++`.
//!
//! The Markdown parser is not asked for it, since it finds metadata blocks in the middle of a file as well, where
//! `---` is a rule.

/// Front matter at the start of a text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FrontMatter {
    /// Length in bytes, both fences included.
    pub(super) len: usize,
    /// The value of `title`.
    pub(super) title: Option<String>,
}

/// The front matter that `text` begins with; `None` where there is none or its end is missing.
pub(super) fn front_matter(text: &str) -> Option<FrontMatter> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    let fence = first.trim_end();
    let separator = match fence {
        "---" => ':',
        "+++" => '=',
        _ => return None,
    };
    let mut len = first.len();
    let mut title = None;
    for line in lines {
        len += line.len();
        let bare = line.trim_end();
        if bare == fence || (fence == "---" && bare == "...") {
            return Some(FrontMatter { len, title });
        }
        // A rule between paragraphs is followed by an empty line; metadata is not.
        if len == first.len() + line.len() && bare.is_empty() {
            return None;
        }
        if title.is_none()
            && let Some((key, value)) = bare.split_once(separator)
            && key.trim_end().trim_matches('"') == "title"
        {
            title = scalar(value);
        }
    }
    None
}

/// A scalar on one line: quotes removed, the commonest escapes undone. Block scalars (`>`, `|`) give nothing.
fn scalar(value: &str) -> Option<String> {
    let value = value.trim();
    let text = match value.chars().next()? {
        '"' => value.get(1..)?.strip_suffix('"').unwrap_or(value).replace("\\\"", "\""),
        '\'' => value.get(1..)?.strip_suffix('\'').unwrap_or(value).replace("''", "'"),
        '>' | '|' => return None,
        _ => value.split(" #").next().unwrap_or(value).to_owned(),
    };
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{FrontMatter, front_matter};

    #[test]
    fn titles_of_yaml_and_toml() {
        let title = |text: &str| front_matter(text).and_then(|f| f.title);
        assert_eq!(title("---\ntitle: A title # note\n---\n").as_deref(), Some("A title"));
        assert_eq!(title("---\nx: 1\ntitle: \"A \\\"b\\\"\"\n...\n").as_deref(), Some("A \"b\""));
        assert_eq!(title("---\r\ntitle: 'It''s'\r\n---\r\n").as_deref(), Some("It's"));
        assert_eq!(title("+++\ntitle = \"T\"\n+++").as_deref(), Some("T"));
        assert_eq!(title("---\ntitle: >\n  folded\n---\n"), None);
        assert_eq!(title("---\nnested:\n  title: no\n---\n"), None);
    }

    #[test]
    fn rules_are_no_front_matter() {
        assert_eq!(front_matter("---\n\nText\n\n---\n"), None);
        assert_eq!(front_matter("---\nnever closed\n"), None);
        assert_eq!(front_matter("text\n---\n"), None);
        assert_eq!(front_matter("---\n---\nx"), Some(FrontMatter { len: 8, title: None }));
    }
}
