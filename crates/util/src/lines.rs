/// Returns text on one line: all white space between two words becomes one space, and that around the text goes.
///
/// ```
/// assert_eq!(pericope_util::one_line(" unexpected\n\ttoken "), "unexpected token");
/// ```
#[must_use]
pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns text on [`one_line`], of which at most `most` characters are shown, with ` ...` behind those of a longer one.
///
/// ```
/// assert_eq!(pericope_util::short_line("one\ntwo", 7), "one two");
/// assert_eq!(pericope_util::short_line("one\ntwo", 5), "one t ...");
/// ```
#[must_use]
pub fn short_line(text: &str, most: usize) -> String {
    let line = one_line(text);
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{} ...", line.get(..end).unwrap_or_default()),
        None => line,
    }
}
