use pericope_api::TokenCounter;
use pericope_language::{is_unspaced, word_ends};
use unicode_segmentation::UnicodeSegmentation;

use crate::chars::{is_cjk, skip_blank};

/// Runs longer than this, in bytes, count by their length.
const LONG_RUN: usize = 100;
/// Bytes a token in such runs.
const BYTES_A_TOKEN: usize = 4;

/// Counts a word, a punctuation mark or a symbol as one token (`words`).
///
/// - A word is one of Unicode's (UAX 29): `don't` and `3.14` are one.
/// - A character of Han, kana and Hangul is one token each.
/// - A Thai, Lao, Khmer or Burmese word is one token, as a dictionary finds it.
/// - A run of more than 100 bytes without white space and without such characters (base64, minified code, long links)
///   counts one token per 4 bytes, about what subword tokenizers make of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WordCounter;

impl TokenCounter for WordCounter {
    fn name(&self) -> &str {
        "words"
    }

    fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
        let mut at = skip_blank(text, 0);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let (length, plain) = run(rest);
            let (run, end) = (&rest[..length], at + length);
            if run.starts_with(is_south_eastern) {
                south_eastern_words(text, at, end, ends);
            } else if length > LONG_RUN {
                long_run(run, at, ends);
            } else if plain {
                plain_words(run.as_bytes(), at, ends);
            } else {
                unicode_words(run, at, ends);
            }
            at = skip_blank(text, end);
        }
    }
}

/// Length of the first run of `text`, which starts with no white space, and whether all of it is ASCII. A run ends at
/// white space; a character of a script without spaces is a run of its own, and Thai, Lao, Khmer and Burmese letters are.
fn run(text: &str) -> (usize, bool) {
    let blank = |b: &u8| matches!(b, b' ' | b'\t'..=b'\r');
    let ascii = text.bytes().position(|b| blank(&b) || !b.is_ascii()).unwrap_or(text.len());
    if text.as_bytes().get(ascii).is_none_or(u8::is_ascii) {
        return (ascii, true);
    }
    for (at, c) in text[ascii..].char_indices() {
        let at = ascii + at;
        if c.is_whitespace() {
            return (at, at == ascii);
        }
        if is_south_eastern(c) {
            let letters = text[at..].find(|c| !is_south_eastern(c)).unwrap_or(text.len() - at);
            return if at == 0 { (letters, false) } else { (at, at == ascii) };
        }
        if is_cjk(c) {
            return if at == 0 { (c.len_utf8(), false) } else { (at, at == ascii) };
        }
    }
    (text.len(), false)
}

/// Letters of scripts without spaces whose words have several letters.
fn is_south_eastern(c: char) -> bool {
    is_unspaced(c) && c < '\u{3000}'
}

/// The words of letters without spaces; signs that are no word belong to the one before.
fn south_eastern_words(text: &str, from: usize, until: usize, ends: &mut Vec<usize>) {
    let first = ends.len();
    word_ends(&text[..until], from, ends);
    let (mut kept, mut start) = (first, from);
    for at in first..ends.len() {
        let end = ends[at];
        if text[start..end].contains(char::is_alphanumeric) || kept == first {
            ends[kept] = end;
            kept += 1;
        } else {
            ends[kept - 1] = end;
        }
        start = end;
    }
    ends.truncate(kept);
}

fn long_run(run: &str, offset: usize, ends: &mut Vec<usize>) {
    let mut start = 0;
    while start < run.len() {
        let mut end = (start + BYTES_A_TOKEN).min(run.len());
        while !run.is_char_boundary(end) {
            end += 1;
        }
        ends.push(offset + end);
        start = end;
    }
}

fn unicode_words(run: &str, offset: usize, ends: &mut Vec<usize>) {
    ends.extend(run.split_word_bound_indices().map(|(at, word)| offset + at + word.len()));
}

/// The same for ASCII, about ten times as fast: UAX 29's rules that can apply to ASCII without white space.
fn plain_words(run: &[u8], offset: usize, ends: &mut Vec<usize>) {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    for (i, &b) in run.iter().enumerate() {
        let joined = run.get(i + 1).is_some_and(|&next| {
            if word(b) && word(next) {
                return true;
            }
            // A mark between two letters (can't, a.b, a:b) or two digits (1,000, 3.14) joins them; `mark` may be this byte or the next.
            let around = |before: Option<&u8>, mark: u8, after: Option<&u8>| match (before, after) {
                (Some(x), Some(y)) if x.is_ascii_alphabetic() && y.is_ascii_alphabetic() => {
                    matches!(mark, b'\'' | b'.' | b':')
                }
                (Some(x), Some(y)) if x.is_ascii_digit() && y.is_ascii_digit() => {
                    matches!(mark, b'\'' | b'.' | b',' | b';')
                }
                _ => false,
            };
            around(Some(&b), next, run.get(i + 2)) || around(i.checked_sub(1).and_then(|p| run.get(p)), b, Some(&next))
        });
        if !joined {
            ends.push(offset + i + 1);
        }
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::TokenCounter;
    use proptest::prelude::*;

    use super::{WordCounter, plain_words, unicode_words};

    fn tokens(text: &str) -> Vec<&str> {
        let mut ends = Vec::new();
        WordCounter.token_ends(text, &mut ends);
        let starts = std::iter::once(0).chain(ends.iter().copied());
        starts.zip(&ends).map(|(start, &end)| text[start..end].trim()).collect()
    }

    #[test]
    fn words_marks_and_characters() {
        assert_eq!(tokens("Don't panic: it's 3.14!"), ["Don't", "panic", ":", "it's", "3.14", "!"]);
        assert_eq!(tokens("naïve 東京abc 한국"), ["naïve", "東", "京", "abc", "한", "국"]);
        assert_eq!(tokens("👩‍👩‍👧 x"), ["👩‍👩‍👧", "x"]);
        assert_eq!(tokens("API ก่อนสร้างดัชนี x"), ["API", "ก่อน", "สร้าง", "ดัชนี", "x"]);
        assert_eq!(WordCounter.count(&"ก่อนสร้างดัชนี".repeat(20)), 60);
        assert_eq!(tokens(" \n\t"), [""; 0]);
    }

    #[test]
    fn long_runs_count_by_bytes() {
        assert_eq!(WordCounter.count(&"a".repeat(100)), 1);
        assert_eq!(WordCounter.count(&"a".repeat(104)), 26);
        assert_eq!(WordCounter.count(&"漢".repeat(300)), 300);
        assert_eq!(WordCounter.count(&format!("{}漢{}", "a".repeat(90), "b".repeat(90))), 3);
    }

    proptest! {
        #[test]
        fn the_fast_path_is_the_standard(run in "[!-~]{1,30}|[a-b0-1'.,:;_\"-]{1,20}") {
            let (mut fast, mut standard) = (Vec::new(), Vec::new());
            plain_words(run.as_bytes(), 0, &mut fast);
            unicode_words(&run, 0, &mut standard);
            prop_assert_eq!(fast, standard, "{:?}", run);
        }

        #[test]
        fn additive_at_white_space(a in "\\PC{0,30}", b in "\\PC{0,30}") {
            let both = format!("{a} {b}");
            prop_assert_eq!(WordCounter.count(&both), WordCounter.count(&a) + WordCounter.count(&b));
        }
    }
}
