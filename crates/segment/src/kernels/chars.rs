use pericope_api::Span;

use crate::breaks::{self, Level};
use crate::chars::{skip_blank, trim_end};

/// What the recursive splitter cuts at, in order of preference.
pub(crate) const LEVELS: [Level; 6] =
    [Level::Paragraph, Level::Line, Level::Sentence, Level::Space, Level::Word, Level::Grapheme];

/// Cuts `text` into pieces of at most `chars` characters (Unicode code points; 0 counts as 1). Each piece ends at the
/// last paragraph end that fits, else the last line end, else sentence end, white space, word end, grapheme cluster; a
/// cluster longer than the limit is cut between characters. Pieces have no blank ends.
///
/// ```
/// let text = "One two.\n\nThree four five.";
/// let pieces = pericope_segment::kernels::recursive_chars(text, 12);
/// let pieces: Vec<&str> = pieces.iter().map(|span| span.of(text)).collect();
/// assert_eq!(pieces, ["One two.", "Three four", "five."]);
/// ```
#[must_use]
pub fn recursive_chars(text: &str, chars: usize) -> Vec<Span> {
    let mut spans = Vec::with_capacity(text.len() / chars.saturating_mul(3).max(8) * 4 + 1);
    let mut start = skip_blank(text, 0);
    while start < text.len() {
        let reach = advance(text, start, chars.max(1));
        if reach >= text.len() {
            spans.push(Span::new(start, trim_end(text, start, text.len())));
            break;
        }
        let cut = breaks::best(text, start, reach, &LEVELS);
        spans.push(Span::new(start, trim_end(text, start, cut)));
        start = skip_blank(text, cut);
    }
    spans
}

/// The byte offset `n` characters after `from` (a character boundary), at most `text.len()`.
pub(crate) fn advance(text: &str, from: usize, n: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    let mut left = n;
    // A stretch of `left` bytes holds at most `left` characters, so taking all of it never goes too far.
    while left > 0 && at < bytes.len() {
        let end = at.saturating_add(left).min(bytes.len());
        let stretch = &bytes[at..end];
        left -= if stretch.is_ascii() { stretch.len() } else { starts(stretch) };
        at = end;
        // The rest of the last character, so that the next stretch starts with one.
        while bytes.get(at).is_some_and(|&b| is_continuation(b)) {
            at += 1;
        }
    }
    at
}

/// Number of characters of `text`.
pub(crate) fn count(text: &str) -> usize {
    text.chars().count()
}

fn is_continuation(b: u8) -> bool {
    b & 0xC0 == 0x80
}

/// Bytes that start a character. Written as a sum of bytes per block so that the compiler vectorises it.
fn starts(bytes: &[u8]) -> usize {
    let block = |b: &[u8]| b.iter().map(|&b| u8::from(!is_continuation(b))).sum::<u8>() as usize;
    bytes.chunks(128).map(block).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{advance, recursive_chars};

    fn pieces(text: &str, chars: usize) -> Vec<&str> {
        recursive_chars(text, chars).into_iter().map(|span| span.of(text)).collect()
    }

    #[test]
    fn breaks_in_order_of_preference() {
        let text = "# T\n\nAlpha beta. Gamma.\nDelta\n\nEpsilon";
        assert_eq!(pieces(text, 1000), [text]);
        assert_eq!(pieces(text, 25), ["# T", "Alpha beta. Gamma.\nDelta", "Epsilon"]);
        assert_eq!(pieces(text, 16), ["# T", "Alpha beta.", "Gamma.\nDelta", "Epsilon"]);
        assert_eq!(pieces("abcdef ghi", 4), ["abcd", "ef", "ghi"]);
        assert_eq!(pieces("   \n\t ", 5), [""; 0]);
    }

    #[test]
    fn characters_are_counted_not_bytes() {
        assert_eq!(pieces("ééé ééé", 7), ["ééé ééé"]);
        assert_eq!(pieces("ééé ééé", 6), ["ééé", "ééé"]);
        assert_eq!(advance("aé漢👩b", 0, 4), "aé漢👩".len());
    }

    #[test]
    fn blank_runs_of_any_length_cost_one_pass() {
        let text = format!("a{}b", " ".repeat(3_000_000));
        assert_eq!(recursive_chars(&text, 10).len(), 2);
        let flags = "🇩🇪".repeat(100_000);
        assert_eq!(recursive_chars(&flags, 10).len(), 20_000);
    }

    proptest! {
        #[test]
        fn pieces_fit_and_cover(text in "([a-c]{0,5}|[ \n\r\t.!\u{a0}]{1,3}|é|漢字。|👩‍👩‍👧|🇩🇪){0,60}", chars in 1usize..40) {
            let mut at = 0;
            for span in recursive_chars(&text, chars) {
                prop_assert!(text[at..span.start].trim().is_empty());
                let piece = span.of(&text);
                prop_assert!(!piece.is_empty() && piece.trim() == piece);
                prop_assert!(piece.chars().count() <= chars);
                at = span.end;
            }
            prop_assert!(text[at..].trim().is_empty());
        }

        #[test]
        fn advancing_counts_characters(text in "[a-cé漢👩]{0,300}", n in 0usize..400) {
            let expected: usize = text.chars().take(n).map(char::len_utf8).sum();
            prop_assert_eq!(advance(&text, 0, n), expected);
        }
    }
}
