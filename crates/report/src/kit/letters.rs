//! What characters take in a page.

use pericope_util::{REPLACEMENT, is_sound};

/// Returns the bytes that a character takes in HTML, escaped.
pub(super) fn bytes_in_html(letter: char) -> usize {
    match letter {
        '&' => "&amp;".len(),
        '<' | '>' => "&lt;".len(),
        '"' => "&quot;".len(),
        other if is_sound(other) => other.len_utf8(),
        _ => REPLACEMENT.len_utf8(),
    }
}
