//! What kind of character stands where.

/// True for scripts written without spaces between words, one token a character: Han, kana, bopomofo, Hangul, Yi, and
/// the full-width forms.
pub(crate) fn is_cjk(c: char) -> bool {
    matches!(u32::from(c),
        0x1100..=0x11FF | 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3021..=0x3029 | 0x3031..=0x3035 | 0x3038..=0x303C
        | 0x3041..=0x4DBF | 0x4E00..=0xA4CF | 0xA960..=0xA97F | 0xAC00..=0xD7FF | 0xF900..=0xFAFF
        | 0xFF66..=0xFFDC | 0x1B000..=0x1B16F | 0x20000..=0x3FFFF)
}

/// The first byte at or after `from` (at most `text.len()`) that starts a character which is no white space.
pub(crate) fn skip_blank(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t'..=b'\r') => at += 1,
            Some(b) if b.is_ascii() => return at,
            None => return text.len(),
            Some(_) => match text.get(at..).and_then(|rest| rest.chars().next()) {
                Some(c) if c.is_whitespace() => at += c.len_utf8(),
                _ => return at,
            },
        }
    }
}

/// `end` without the white space before it, never before `start`.
pub(crate) fn trim_end(text: &str, start: usize, end: usize) -> usize {
    start + text.get(start..end).map_or(0, |piece| piece.trim_end().len())
}

/// True where a tokenizer sees the same words whether it reads on or not: at the ends of the text and beside a space, a
/// tab or a line end. Token counts are additive at such places.
pub(crate) fn is_clean(text: &str, at: usize) -> bool {
    let blank = |b: Option<&u8>| matches!(b, None | Some(b' ' | b'\t' | b'\n' | b'\r'));
    let bytes = text.as_bytes();
    blank(bytes.get(at)) || blank(at.checked_sub(1).and_then(|before| bytes.get(before)))
}

/// The greatest character boundary at or before `at`.
pub(crate) fn floor(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    (0..=at).rev().find(|&p| text.is_char_boundary(p)).unwrap_or(0)
}

/// The end of the character that starts at `at`; `text.len()` where there is none.
pub(crate) fn next(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(text.len(), |c| at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::{is_clean, skip_blank, trim_end};

    #[test]
    fn blanks_of_every_width_are_skipped() {
        let text = " \t\r\n\u{a0}\u{2003}\u{3000}x\u{2028} ";
        let at = skip_blank(text, 0);
        assert_eq!(&text[at..=at], "x");
        assert_eq!(skip_blank(text, at + 1), text.len());
        assert_eq!(trim_end(text, at, text.len()), at + 1);
    }

    #[test]
    fn clean_places_touch_white_space() {
        let clean: Vec<usize> = (0..=5).filter(|&at| is_clean("ab cd", at)).collect();
        assert_eq!(clean, [0, 2, 3, 5]);
    }
}
