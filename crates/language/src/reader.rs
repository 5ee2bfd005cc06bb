use std::borrow::Cow;

use rust_stemmers::Stemmer;
use unicode_segmentation::UnicodeSegmentation;

use crate::stems::algorithm;
use crate::{Language, is_function_word, is_unspaced, word_ends};

/// Marks at which a word ends, outside of English: they part it from its article (`l'eau`) or its ending (`İstanbul'da`).
const APOSTROPHES: [char; 2] = ['\'', '’'];

/// Reads the words of texts in one language, and what they say about the topic: their stems.
///
/// Words are Unicode's (UAX 29). Words of scripts without spaces are those that a dictionary finds ([`word_ends`]), Korean ones are
/// given as overlapping pairs of syllables, and an apostrophe ends a word. English is read by Unicode's rules alone.
///
/// ```
/// use pericope_language::{Language, WordReader};
///
/// let reader = WordReader::of(Language::German);
/// let (mut stems, mut lower) = (Vec::new(), String::new());
/// reader.each("Die Mühlen, 1999", |_, word| {
///     reader.lower(word, &mut lower);
///     stems.extend(reader.stem(&lower).map(String::from));
/// });
/// assert_eq!(stems, ["muhl"]);
/// ```
pub struct WordReader {
    language: Language,
    stemmer: Option<Stemmer>,
}

impl WordReader {
    /// Makes the reader of a language.
    #[must_use]
    pub fn of(language: Language) -> Self {
        Self { language, stemmer: algorithm(language).map(Stemmer::create) }
    }

    /// Calls `each` with the first byte of each word of a text, and the word, in order. Korean words overlap.
    pub fn each<'t>(&self, text: &'t str, mut each: impl FnMut(usize, &'t str)) {
        if self.language == Language::English {
            text.unicode_word_indices().for_each(|(at, word)| each(at, word));
            return;
        }
        let (mut at, mut ends) = (0, Vec::new());
        while at < text.len() {
            let rest = &text[at..];
            let spaced = rest.find(is_unspaced).unwrap_or(rest.len());
            for (from, word) in rest[..spaced].unicode_word_indices() {
                self.parts(at + from, word, &mut each);
            }
            at += spaced;
            ends.clear();
            word_ends(text, at, &mut ends);
            for &end in &ends {
                let word = &text[at..end];
                if word.contains(char::is_alphanumeric) {
                    each(at, word);
                }
                at = end;
            }
        }
    }

    /// The parts of a word of letters with spaces, which begins at byte `at` of its text.
    fn parts<'t>(&self, at: usize, word: &'t str, each: &mut impl FnMut(usize, &'t str)) {
        let mut start = 0;
        for (end, mark) in word.match_indices(APOSTROPHES) {
            self.part(at + start, &word[start..end], each);
            start = end + mark.len();
        }
        self.part(at + start, &word[start..], each);
    }

    fn part<'t>(&self, at: usize, word: &'t str, each: &mut impl FnMut(usize, &'t str)) {
        let mut pairs = word.char_indices().zip(word.char_indices().skip(1)).peekable();
        if self.language == Language::Korean && pairs.peek().is_some() && word.chars().all(is_hangul) {
            pairs.for_each(|((from, _), (to, last))| each(at + from, &word[from..to + last.len_utf8()]));
        } else if word.contains(char::is_alphanumeric) {
            each(at, word);
        }
    }

    /// Replaces `lower` by a word in lower case.
    pub fn lower(&self, word: &str, lower: &mut String) {
        lower.clear();
        match self.language {
            // The letters i with and without a dot are two.
            Language::Turkish => word.chars().for_each(|c| match c {
                'I' => lower.push('ı'),
                'İ' => lower.push('i'),
                _ => lower.extend(c.to_lowercase()),
            }),
            _ if word.is_ascii() => {
                lower.push_str(word);
                lower.make_ascii_lowercase();
            }
            _ => lower.extend(word.chars().flat_map(char::to_lowercase)),
        }
    }

    /// Returns the stem of a word in lower case, the word itself where its language has no stemmer; `None` for words without a
    /// letter (a year or a figure's number joins sentences that have nothing else in common), and for
    /// [function words](is_function_word) and single letters, which say nothing about the topic. A single Han character or
    /// syllable of Hangul is a word.
    #[must_use]
    pub fn stem<'w>(&self, lower: &'w str) -> Option<Cow<'w, str>> {
        if !lower.contains(char::is_alphabetic) || is_function_word(lower, self.language) {
            return None;
        }
        if self.language != Language::English && is_letter(lower) {
            return None;
        }
        Some(self.stemmer.as_ref().map_or(Cow::Borrowed(lower), |stemmer| stemmer.stem(lower)))
    }
}

/// True for a single character of a script whose words have several: below Han and Hangul.
fn is_letter(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c < '\u{3100}') && chars.next().is_none()
}

fn is_hangul(c: char) -> bool {
    ('\u{ac00}'..='\u{d7af}').contains(&c)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Language, UnicodeSegmentation, WordReader};

    fn words(language: Language, text: &str) -> Vec<&str> {
        let mut words = Vec::new();
        WordReader::of(language).each(text, |at, word| {
            assert_eq!(text.get(at..at + word.len()), Some(word));
            words.push(word);
        });
        words
    }

    fn stems(language: Language, text: &str) -> String {
        let reader = WordReader::of(language);
        let (mut stems, mut lower) = (Vec::new(), String::new());
        reader.each(text, |_, word| {
            reader.lower(word, &mut lower);
            stems.extend(reader.stem(&lower).map(String::from));
        });
        stems.join(" ")
    }

    #[test]
    fn each_language_has_its_words_and_stems() {
        for (language, text, expected) in [
            (Language::English, "The ship's sails weren't 30 feet; SHIPS sail", "ship sail feet ship sail"),
            (Language::German, "Die Häuser und des Hauses, geht's?", "haus haus geht"),
            (Language::French, "l'eau d'un moulin", "eau moulin"),
            (Language::Japanese, "索引を作る API。", "索引 作る api"),
            (Language::Thai, "ก่อนสร้างดัชนี", "ก่อน สร้าง ดัชนี"),
            (Language::Korean, "색인을 물", "색인 인을 물"),
            (Language::Other, "Żółte ŁÓDKI w 1999", "żółte łódki"),
        ] {
            assert_eq!(stems(language, text), expected, "{language}");
        }
        assert_eq!(stems(Language::Turkish, "IŞIKLAR İŞ"), stems(Language::Turkish, "ışıklar iş"));
    }

    #[test]
    fn what_the_dictionary_does_not_know_is_read_by_characters() {
        assert_eq!(words(Language::Japanese, "除湿機を")[3..], ["を"]);
        assert_eq!(stems(Language::Japanese, "除湿機を"), "除 湿 機");
    }

    proptest! {
        #[test]
        fn english_words_are_unicodes(text in "(\\PC|[a-z'’ ぁ-ん一-龯]){0,60}") {
            prop_assert_eq!(words(Language::English, &text), text.unicode_words().collect::<Vec<_>>());
        }

        #[test]
        fn words_come_in_order_in_every_language(text in "(\\PC|[ぁ-ん一-龯가-힣ก-ฮ่้ a-zä'’]){0,60}", n in 0usize..26) {
            let language = Language::all().nth(n).unwrap_or_default();
            let mut last = 0;
            WordReader::of(language).each(&text, |at, word| {
                assert!(at >= last && text[at..].starts_with(word));
                last = at;
            });
        }
    }
}
