//! Front matter: metadata at the very top of a file, YAML between lines of `---` or TOML between lines of `+++`.
//!
//! The Markdown parser is not asked for it, since it finds metadata blocks in the middle of a file as well, where
//! `---` is a rule.

use pericope_api::Span;

use crate::builder::Builder;

/// Hides the front matter that the builder's source begins with, if it does; answers where the text begins, and with the
/// title that the front matter gives.
pub(super) fn skip(builder: &mut Builder<'_>) -> (usize, Option<String>) {
    let from = builder.skip_byte_order_mark();
    let Some(front) = front_matter(&builder.source[from..]) else { return (from, None) };
    builder.hidden(Span::new(from, from + front.len));
    (from + front.len, front.title)
}

/// Front matter at the start of a text.
#[derive(Debug, PartialEq, Eq)]
struct FrontMatter {
    /// Length in bytes, both fences included.
    len: usize,
    /// The value of `title`.
    title: Option<String>,
}

/// The front matter that `text` begins with; `None` where there is none or its end is missing.
fn front_matter(text: &str) -> Option<FrontMatter> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    let fence = first.trim_end();
    let separator = match fence {
        "---" => ':',
        "+++" => '=',
        _ => return None,
    };
    let mut len = first.len();
    // The value of `title`, its lines joined by spaces, and whether the next line may go on with it.
    let mut value: Option<String> = None;
    let mut goes_on = false;
    for line in lines {
        len += line.len();
        let bare = line.trim_end();
        if bare == fence || (fence == "---" && bare == "...") {
            return Some(FrontMatter { len, title: value.as_deref().and_then(scalar) });
        }
        // A rule between paragraphs is followed by an empty line; metadata is not.
        if len == first.len() + line.len() && bare.is_empty() {
            return None;
        }
        if let Some(value) = value.as_mut().filter(|_| goes_on && bare.starts_with([' ', '\t'])) {
            value.push(' ');
            value.push_str(bare.trim_start());
            continue;
        }
        goes_on &= bare.is_empty();
        if value.is_none()
            && let Some((key, found)) = bare.split_once(separator)
            && key.trim_end().trim_matches('"') == "title"
            && !found.trim().is_empty()
        {
            value = Some(found.trim().to_owned());
            goes_on = separator == ':';
        }
    }
    None
}

/// A scalar whose lines are joined: quotes removed, the escapes of JSON undone, else the commonest; the header of a block
/// (`>-`, `|`) removed.
fn scalar(value: &str) -> Option<String> {
    let value = value.trim();
    let text = match value.chars().next()? {
        '"' => serde_json::from_str(value)
            .unwrap_or_else(|_| value[1..].strip_suffix('"').unwrap_or(value).replace("\\\"", "\"")),
        '\'' => value.get(1..)?.strip_suffix('\'').unwrap_or(value).replace("''", "'"),
        '>' | '|' => value.split_once(' ')?.1.to_owned(),
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
        assert_eq!(title("---\ntitle: \"A \\u00e9 \\\"b\\\"\"\n---\n").as_deref(), Some("A é \"b\""));
        assert_eq!(
            title("---\ntitle: >-\n  Folded\n\n  over lines\nx: y\n---\n").as_deref(),
            Some("Folded over lines")
        );
        assert_eq!(title("---\ntitle: Plain\n  text\n- x\n  y\n---\n").as_deref(), Some("Plain text"));
        assert_eq!((title("---\ntitle: |\n---\n"), title("---\ntitle:\n  x: y\n---\n")), (None, None));
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
