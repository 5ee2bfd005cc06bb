use std::borrow::Cow;

use crate::is_steering;

/// Stands for a character that may not stand in a page or a feed.
pub const REPLACEMENT: char = '\u{fffd}';

/// Returns false for what no page or feed may hold: control characters and non-characters, which HTML and XML do not allow
/// at all, and characters that turn the direction of the text after them, which would reach beyond their own place
/// ([`is_steering`]). Tabs and line ends may stand there.
#[must_use]
pub fn is_sound(letter: char) -> bool {
    match letter {
        '\t' | '\n' | '\r' => true,
        '\u{fdd0}'..='\u{fdef}' => false,
        // The last two of each plane are non-characters.
        other => !is_steering(other) && (u32::from(other) & 0xfffe) != 0xfffe,
    }
}

/// Returns the text with [`REPLACEMENT`] for each character that is not sound ([`is_sound`]).
#[must_use]
pub fn sound(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_sound) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|letter| if is_sound(letter) { letter } else { REPLACEMENT }).collect())
}

#[cfg(test)]
mod tests {
    use super::sound;

    #[test]
    fn control_and_direction_characters_are_replaced() {
        assert_eq!(sound("plain ünïcode\n\ttext"), "plain ünïcode\n\ttext");
        assert_eq!(
            sound("a\u{0}b\u{1b}[31m\u{7f}\u{85}\u{202e}\u{ffff}"),
            "a\u{fffd}b\u{fffd}[31m\u{fffd}\u{fffd}\u{fffd}\u{fffd}"
        );
    }
}
