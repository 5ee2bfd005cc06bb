//! Bounds on what a document repeats: each section and chunk carries its headings, each chunk its title.

use crate::inline::Inline;

/// Longest heading in characters. What is longer is text.
pub(crate) const LONGEST_HEADING: usize = 300;
/// Longest title in characters. A longer one is cut, and ends with an ellipsis.
pub(crate) const LONGEST_TITLE: usize = 300;
/// Longest anchor in bytes. A section has no longer one.
pub(crate) const LONGEST_ANCHOR: usize = 300;
/// Longest labels before a heading, in bytes, with all that stands between: what is longer is no part of the heading.
pub(crate) const LONGEST_LABEL: usize = 400;
/// Longest id of a document in a JSON line, in bytes.
pub(crate) const LONGEST_ID: usize = 1_000;
/// Longest text in bytes that stands for a reference (a substitution, an attribute).
pub(crate) const LONGEST_VALUE: usize = 4_096;

/// True where the text of a block is short enough for a heading. Runs of blanks count as one.
pub(crate) fn is_heading(inline: &Inline<'_>, source: &str) -> bool {
    let (mut count, mut blank) = (0, true);
    for c in inline.chars(source) {
        let now = c.is_whitespace();
        count += usize::from(!now || !blank);
        blank = now;
        if count > LONGEST_HEADING + 1 {
            return false;
        }
    }
    count - usize::from(blank && count > 0) <= LONGEST_HEADING
}

/// `title`, cut where it is too long.
pub(crate) fn title(mut title: String) -> String {
    if title.chars().nth(LONGEST_TITLE).is_some() {
        let end = title.char_indices().nth(LONGEST_TITLE - 1).map_or(0, |(at, _)| at);
        title.truncate(title[..end].trim_end().len());
        title.push('…');
    }
    title
}

/// `value` up to the longest length of a value, at a character boundary.
pub(crate) fn value(value: &str) -> &str {
    &value[..value.floor_char_boundary(LONGEST_VALUE)]
}

/// What references may still add to a document: a few bytes that repeat a long text must not become gigabytes.
#[derive(Debug)]
pub(crate) struct Allowance {
    left: usize,
}

impl Allowance {
    /// Makes the allowance of a document of `bytes` bytes: eight times as many, and a little for the smallest.
    pub(crate) fn new(bytes: usize) -> Self {
        Self { left: bytes.saturating_mul(8).saturating_add(64 * 1024) }
    }

    /// Takes the length of `text` off; false where too little is left, and the reference is to stand as written.
    pub(crate) fn spend(&mut self, text: &str) -> bool {
        let left = self.left.checked_sub(text.len());
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::{Allowance, LONGEST_TITLE, title, value};

    #[test]
    fn titles_are_cut_at_a_character() {
        for short in [String::new(), " As  it is ".to_owned(), "é".repeat(LONGEST_TITLE)] {
            assert_eq!(title(short.clone()), short);
        }
        assert_eq!(title("é".repeat(LONGEST_TITLE + 1)), "é".repeat(LONGEST_TITLE - 1) + "…");
        assert_eq!(title("a".repeat(LONGEST_TITLE - 2) + "   b"), "a".repeat(LONGEST_TITLE - 2) + "…");
    }

    #[test]
    fn values_end_between_characters() {
        assert_eq!(value("short"), "short");
        assert_eq!(value(&"é".repeat(3_000)).len(), 4_096);
        assert_eq!(value(&format!("a{}", "é".repeat(3_000))).len(), 4_095);
    }

    #[test]
    fn an_allowance_ends() {
        let mut allowance = Allowance::new(0);
        let text = "x".repeat(60_000);
        assert!(allowance.spend(&text));
        assert!(!allowance.spend(&text));
        assert!(allowance.spend("short"));
    }
}
