use std::borrow::Cow;
use std::fmt::Write;

/// Returns true for a character that steers a terminal, or turns the direction of the text after it: the control
/// characters (C0, DEL and C1), and U+202A to U+202E and U+2066 to U+2069.
#[must_use]
pub fn is_steering(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns text of several lines with an escape in the place of each [steering character](is_steering): `\u{1b}`.
///
/// Line breaks and tabs stay.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    // A carriage return belongs to the line break after it. Alone it would write over the line.
    let stays = |letter, next| match letter {
        '\n' | '\t' => true,
        '\r' => next == Some('\n'),
        _ => false,
    };
    escaped(text, stays)
}

/// Returns text of one line, as [`visible`] does, with escapes for line breaks and tabs too: `\n`, `\t`.
#[must_use]
pub fn visible_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_, _| false)
}

/// Returns a JSON document with JSON's own escapes for the [steering characters](is_steering) that JSON allows in strings:
/// `\u009b`. It is the same document.
#[must_use]
pub fn visible_json(json: &str) -> Cow<'_, str> {
    // Those below U+0020 stand between values alone.
    let escape = |letter: char| letter >= '\u{7f}' && is_steering(letter);
    if !json.chars().any(escape) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for letter in json.chars() {
        if escape(letter) {
            // Writing into a string does not fail.
            let _ = write!(out, "\\u{:04x}", u32::from(letter));
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

fn escaped(text: &str, stays: impl Fn(char, Option<char>) -> bool) -> Cow<'_, str> {
    if !text.chars().any(is_steering) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if is_steering(letter) && !stays(letter, letters.peek().copied()) {
            out.extend(letter.escape_default());
        } else {
            out.push(letter);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_steers_a_terminal_is_shown_as_text() {
        assert_eq!(visible("a\u{1b}]0;title\u{7}b"), "a\\u{1b}]0;title\\u{7}b");
        assert_eq!(visible("one\r\n\ttwo\rthree"), "one\r\n\ttwo\\rthree");
        assert_eq!(visible_line("a\nb\tc\u{7f}\u{9b}2J\u{202e}d"), "a\\nb\\tc\\u{7f}\\u{9b}2J\\u{202e}d");
        assert!(matches!(visible("plain ünïcode שלום"), Cow::Borrowed(_)));
    }

    #[test]
    fn json_stays_the_same_document() {
        let json = "{\n  \"a\": \"x\u{9b}2J\u{7f}\u{202e}\\u001b\"\n}";
        assert_eq!(visible_json(json), "{\n  \"a\": \"x\\u009b2J\\u007f\\u202e\\u001b\"\n}");
        assert!(matches!(visible_json("{\"ü\": 1}\n"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn nothing_that_steers_is_left(text in any::<String>()) {
            prop_assert!(!visible_line(&text).chars().any(is_steering));
            let left: String = visible(&text).replace("\r\n", "\n");
            prop_assert!(!left.chars().any(|c| is_steering(c) && c != '\n' && c != '\t'));
        }
    }
}
