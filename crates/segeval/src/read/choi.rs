//! Choi's layout: one tokenised sentence a line, a line of equals signs before, between and after the segments.

use super::{Segmented, from_segments};

/// Equals signs that make a line a separator (the data sets write ten).
const LEAST: usize = 6;

/// True for a line of equals signs alone.
pub(super) fn is_separator(line: &str) -> bool {
    let line = line.trim();
    line.len() >= LEAST && line.bytes().all(|b| b == b'=')
}

/// A file's document.
pub(super) fn parse(id: &str, text: &str) -> Result<Segmented, String> {
    let mut segments: Vec<Vec<&str>> = vec![Vec::new()];
    let mut separators = 0;
    for line in text.lines() {
        if is_separator(line) {
            separators += 1;
            segments.push(Vec::new());
        } else if let Some(segment) = segments.last_mut() {
            segment.push(line);
        }
    }
    if separators == 0 {
        return Err("it has no line of '=========='".into());
    }
    from_segments(id, &segments)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::parse;

    #[test]
    fn separators_may_stand_around_and_repeat() {
        let text = "==========\nThe jury said .\nIt did .\n==========\n==========\r\nAnother topic .\n==========\n";
        let one = parse("1/3-11/0", text).unwrap();
        assert_eq!((one.document.len(), one.reference.after()), (3, &[2][..]));
        assert_eq!(one.document.sentence(2), "Another topic .");
        assert!(parse("x", "no separator\n== short\n").is_err());
    }
}
