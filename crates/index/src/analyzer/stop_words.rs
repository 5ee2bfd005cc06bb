//! Words that hold a sentence together, by language.

use std::collections::HashSet;
use std::sync::LazyLock;

use pericope_language::is_function_word;
use pericope_store::Language;

/// English ones, and those that say that something is asked, and what a tokenizer leaves of contractions.
const ENGLISH: &str = "a about again all also am an and any are as at be been being but by can could d did do does \
    doing don down during each few for from further had has have having he her here hers him his how i if in into is \
    isn it its just ll m may me might more most must my no nor not now of off on once only or other our out over own \
    please re s same shall she should so some such t than that the their them then there these they this those \
    through to too up us ve very was we were what when where which while who whom whose why will with would you your";

/// True for a word in lower case, as it stands in a text. The English ones are fewer than those that segmenters leave out: what
/// says little about a topic may be what a query asks for.
pub(super) fn is_one(word: &str, language: Language) -> bool {
    static WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| ENGLISH.split_ascii_whitespace().collect());
    match language {
        Language::English => WORDS.contains(word),
        // The list has none of them.
        Language::Russian if word.contains('ё') => is_function_word(&word.replace('ё', "е"), language),
        _ => is_function_word(word, language),
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, is_one};

    #[test]
    fn languages_have_stop_words_of_their_own() {
        for (language, word, other) in [
            (Language::English, "where", "wo"),
            (Language::German, "für", "mühle"),
            (Language::French, "dans", "moulin"),
            (Language::Swedish, "och", "kvarn"),
            (Language::Russian, "ещё", "ёлка"),
            (Language::Japanese, "の", "索引"),
            (Language::Chinese, "的", "索引"),
            (Language::Thai, "ที่", "ดัชนี"),
        ] {
            assert!(is_one(word, language) && !is_one(other, language), "{language}");
        }
        assert!(!is_one("the", Language::Greek) && !is_one("the", Language::Other), "no list");
    }
}
