//! A writer of Markdown: blocks with an empty line between them, and texts that cannot become markup.

use pericope_util::{REPLACEMENT, is_sound};

/// A piece of Markdown on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Inline(String);

impl<T: AsRef<str>> From<T> for Inline {
    fn from(text: T) -> Self {
        Self(escaped(text.as_ref()))
    }
}

/// Returns a text in bold.
pub(crate) fn strong(text: &str) -> Inline {
    Inline(format!("**{}**", escaped(text)))
}

/// Returns a link to an address of our own making.
pub(crate) fn link(text: &str, address: &str) -> Inline {
    Inline(format!("[{}]({address})", escaped(text)))
}

impl std::ops::Add for Inline {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + &other.0)
    }
}

/// A document on its way.
#[derive(Debug, Default)]
pub(crate) struct Markdown {
    out: String,
}

impl Markdown {
    /// Adds a heading; `level` from 1.
    pub fn heading(&mut self, level: usize, text: &str) {
        self.block(&format!("{} {}", "#".repeat(level), escaped(text)));
    }

    /// Adds a paragraph.
    pub fn paragraph(&mut self, text: impl Into<Inline>) {
        self.block(&text.into().0);
    }

    /// Adds a quotation.
    pub fn quote(&mut self, text: &str) {
        self.block(&format!("> {}", escaped(text)));
    }

    /// Adds a list; nothing where there is no line.
    pub fn bullets<T: Into<Inline>>(&mut self, lines: impl IntoIterator<Item = T>) {
        let lines: Vec<String> = lines.into_iter().map(|line| format!("- {}", line.into().0)).collect();
        if !lines.is_empty() {
            self.block(&lines.join("\n"));
        }
    }

    /// Adds a table. `align` has `l` for a column set to the left and `r` for one to the right; columns beyond it are set to
    /// the right.
    pub fn table<T: Into<Inline>>(&mut self, align: &str, head: &[&str], rows: impl IntoIterator<Item = Vec<T>>) {
        let line = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let sides = align.chars().chain(std::iter::repeat('r'));
        let rules = sides.take(head.len()).map(|side| if side == 'l' { "---" } else { "--:" }.to_owned());
        let mut lines = vec![line(head.iter().map(|text| escaped(text)).collect()), line(rules.collect())];
        lines.extend(rows.into_iter().map(|row| line(row.into_iter().map(|cell| cell.into().0).collect())));
        self.block(&lines.join("\n"));
    }

    /// Returns the document, which ends with a line end.
    pub fn finish(self) -> String {
        self.out
    }

    fn block(&mut self, text: &str) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        self.out.push_str(text);
        self.out.push('\n');
    }
}

/// Breaks a word without a place to see: what stands on both sides is neither an address nor a name that services link.
const JOINER: char = '\u{2060}';

/// Text that Markdown shows as it is, on one line: nothing in it becomes markup, HTML, or the end of a table's cell. Nor do
/// services make links or mentions of it: [`JOINER`] breaks up `@name`, `www.` and `://`.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for (at, letter) in text.char_indices() {
        match letter {
            '@' => out.extend(['@', JOINER]),
            ':' if text[at..].starts_with("://") => out.extend([':', JOINER]),
            '.' if ends_with_www(&text[..at]) => out.extend([JOINER, '.']),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' => {
                out.push('\\');
                out.push(letter);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '\t' | '\n' | '\r' => out.push(' '),
            other => out.push(if is_sound(other) { other } else { REPLACEMENT }),
        }
    }
    out
}

/// Whether a text ends with `www`, as a word of its own or not.
fn ends_with_www(text: &str) -> bool {
    text.len().checked_sub(3).and_then(|at| text.get(at..)).is_some_and(|end| end.eq_ignore_ascii_case("www"))
}

#[cfg(test)]
mod tests {
    use super::{Markdown, escaped, link, strong};

    #[test]
    fn nothing_in_a_text_is_markup() {
        assert_eq!(escaped("a|b\n<script> *x* [y](z) \u{1b}"), "a\\|b &lt;script&gt; \\*x\\* \\[y\\](z) \u{fffd}");
    }

    #[test]
    fn services_link_nothing_in_a_text() {
        for (text, shown) in [
            ("ask @org/team", "ask @\u{2060}org/team"),
            ("a.b@c.example", "a.b@\u{2060}c.example"),
            ("see https://a.example/x, HTTP://B.example", "see https:\u{2060}//a.example/x, HTTP:\u{2060}//B.example"),
            ("www.a.example and WWW.b.example", "www\u{2060}.a.example and WWW\u{2060}.b.example"),
            ("at 10:30, in 1.5 s. éww.", "at 10:30, in 1.5 s. éww."),
        ] {
            assert_eq!(escaped(text), shown);
        }
    }

    #[test]
    fn a_table_has_one_line_a_row() {
        let mut out = Markdown::default();
        out.heading(2, "T");
        out.table("l", &["a", "b"], [vec!["x|y", "1\n2"]]);
        out.paragraph(strong("s") + " ".into() + link("t", "u"));
        assert_eq!(out.finish(), "## T\n\n| a | b |\n| --- | --: |\n| x\\|y | 1 2 |\n\n**s** [t](u)\n");
    }
}
