//! Words of scripts that put no spaces between them.

use crate::dictionaries;

/// The longest stretch that is looked up at once, in bytes: memory stays bounded, and so does what a cut in it can spoil.
const PIECE: usize = 16 * 1024;

/// True for letters (and their signs) of scripts that put no spaces between words, and whose words a dictionary knows: Han,
/// kana, Thai, Lao, Khmer and Burmese. Korean has spaces.
#[must_use]
pub fn is_unspaced(c: char) -> bool {
    // Everything below Thai is spaced: the common case costs one comparison.
    c >= '\u{e00}'
        && match c {
            // The sign of the baht, marks of paragraphs.
            '\u{e3f}' | '\u{e4f}' | '\u{e5a}'..='\u{e5b}' => false,
            '\u{e00}'..='\u{eff}' => true,                             // Thai, Lao
            '\u{104a}'..='\u{104f}' => false,                          // Myanmar: full stops and the like
            '\u{1000}'..='\u{109f}' => true,                           // Myanmar
            '\u{17d4}'..='\u{17db}' => false,                          // Khmer: full stops and the like
            '\u{1780}'..='\u{17ff}' => true,                           // Khmer
            '\u{3005}' | '\u{3007}' => true,                           // marks of repetition, zero
            '\u{30a0}' | '\u{30fb}' => false,                          // the hyphen and the dot between katakana
            '\u{3041}'..='\u{30ff}' => true,                           // Hiragana, Katakana
            '\u{31f0}'..='\u{31ff}' => true,                           // Katakana, small
            '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' => true, // Han
            '\u{f900}'..='\u{faff}' => true,                           // Han, compatibility
            '\u{ff66}'..='\u{ff9f}' => true,                           // Katakana, half width
            '\u{20000}'..='\u{323af}' => true,                         // Han, further extensions
            _ => false,
        }
}

/// Appends where each word of the run of unspaced letters that begins at byte `from` ends, in bytes of the text and in order.
/// The last one is the end of the run. Nothing where no such letter stands there.
///
/// A run is a longest stretch of letters of which [`is_unspaced`] is true. Time is linear in its length.
pub fn word_ends(text: &str, from: usize, ends: &mut Vec<usize>) {
    let rest = text.get(from..).unwrap_or("");
    let length = rest.find(|c| !is_unspaced(c)).unwrap_or(rest.len());
    let mut start = 0;
    while start < length {
        let end = rest.floor_char_boundary((start + PIECE).min(length));
        let piece = &rest[start..end];
        ends.extend(dictionaries::ends(piece).map(|at| from + start + at));
        start = end;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{is_unspaced, word_ends};

    fn words(text: &str) -> Vec<&str> {
        let mut ends = Vec::new();
        word_ends(text, 0, &mut ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(&ends).map(|(start, &end)| &text[start..end]).collect()
    }

    #[test]
    fn dictionaries_find_words() {
        assert_eq!(words("索引を作る"), ["索引", "を", "作る"]);
        assert_eq!(words("全文检索的结果"), ["全文", "检索", "的", "结果"]);
        assert_eq!(words("ก่อนสร้างดัชนี"), ["ก่อน", "สร้าง", "ดัชนี"]);
        assert_eq!(words("ພາສາລາວ").concat(), "ພາສາລາວ");
        assert_eq!(words("サーバーを再開。次"), ["サーバー", "を", "再開"], "a run ends at a full stop");
        assert!(words("word 語").is_empty());
    }

    proptest! {
        #[test]
        fn a_run_is_covered(
            run in "[\u{e01}-\u{e3a}\u{e40}-\u{e4e}\u{e81}-\u{eae}ぁ-ゖァ-ヺ一-鿿\u{1000}-\u{1021}\u{1780}-\u{17a2}]{1,60}",
            after in "[ a-z。]{0,3}",
        ) {
            let text = format!("{run}{after}");
            let mut ends = Vec::new();
            word_ends(&text, 0, &mut ends);
            prop_assert_eq!(ends.last(), Some(&run.len()));
            prop_assert!(ends.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(ends.iter().all(|&end| text.is_char_boundary(end)));
            prop_assert!(run.chars().all(is_unspaced));
        }
    }

    #[test]
    fn long_runs_are_covered_too() {
        let text = "検索".repeat(20_000);
        let mut ends = Vec::new();
        word_ends(&text, 0, &mut ends);
        assert_eq!(ends.last(), Some(&text.len()));
    }
}
