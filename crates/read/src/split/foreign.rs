//! What ends no sentence in other languages than English: abbreviations and ordinal numbers with a full stop.
//!
//! English has to be cut as if none of this was here. What it has as a word too ("the cap.") thus counts only in a text that shows to be
//! in another language ([`Tongue`]), and nothing does that is written in capital letters alone ("UL", "DNA").

mod lists;

use lists::{
    BONDS, CAPITALS, COUNTED, DETERMINERS, GERMAN_NAMES, GERMAN_STARTERS, INDIAN, LOCAL_NAMES, LOCAL_NUMBERS,
    LOCAL_TITLES, LONGEST_LATIN, NAMES, NUMBERS, OTHER_LETTERS, OTHER_NUMBERS, PAIRS, RUSSIAN_STARTERS,
    SLAVIC_STARTERS,
};

use super::abbreviations::{before_numbers, contains};
use super::tongue::Tongue;

/// A word before a full stop, and what is around it.
#[derive(Clone, Copy)]
pub(super) struct Place<'t> {
    pub(super) word: &'t str,
    /// What stands before the word, back to white space.
    pub(super) previous: &'t str,
    /// What follows the full stop and the white space behind it.
    pub(super) after: &'t str,
    /// The letters that begin it.
    pub(super) next_word: &'t str,
}

/// True where the full stop belongs to an abbreviation of another language, or to an ordinal number.
pub(super) fn is_abbreviation(place: Place<'_>, tongue: &mut Tongue<'_>) -> bool {
    let Place { word, previous, after, next_word } = place;
    let next = after.chars().next().unwrap_or(' ');
    let Some(first) = word.chars().next() else { return false };
    // "в 1850 г. (ныне музей)".
    if next == '(' && matches!(word, "r" | "г" | "р") && is_year(previous) {
        return true;
    }
    if first.is_numeric() || is_roman(word) {
        return is_ordinal(place, tongue);
    }
    if ('\u{370}'..'\u{e00}').contains(&first) {
        return is_other(place);
    }
    let behind = &after[next_word.len()..];
    if PAIRS.iter().any(|&(one, two)| two == word && previous.eq_ignore_ascii_case(one))
        || BONDS.iter().any(|&(one, two)| one == word && two == next_word && behind.starts_with(['.', '-']))
        || (word == "gem" && next == '§')
    {
        return true;
    }
    let digit = next.is_ascii_digit();
    if digit && is_street(word) {
        return true;
    }
    // "l'art. 5", "Dipl.-Ing. Berg".
    let bare = word.rsplit(['\'', '\u{2019}', '-']).next().unwrap_or(word);
    if bare.len() > LONGEST_LATIN {
        return false;
    }
    if matches!(bare, "im" | "nám") && begins_with(SLAVIC_STARTERS, place) {
        return false;
    }
    if word.len() > 1 && !word.contains(char::is_lowercase) {
        return CAPITALS.contains(&word) && tongue.is_foreign();
    }
    if contains(NAMES, word) || (digit && contains(NUMBERS, word)) {
        return true;
    }
    // Behind a number it is a unit.
    let local = contains(LOCAL_NAMES, bare)
        || (bare.starts_with(char::is_uppercase) && contains(LOCAL_TITLES, bare))
        || ((digit || (is_roman(next_word) && next_word != "I"))
            && (contains(LOCAL_NUMBERS, bare) || contains(NUMBERS, bare) || before_numbers(bare)));
    if local && !previous.ends_with(|c: char| c.is_ascii_digit()) && tongue.is_foreign() {
        return true;
    }
    contains(GERMAN_NAMES, bare) && !contains(GERMAN_STARTERS, next_word) && tongue.is_german()
}

/// The same for a word in Greek, Cyrillic or Indian letters, which English does not have.
fn is_other(place: Place<'_>) -> bool {
    let Place { word, previous, after, next_word } = place;
    // Behind a number it is a unit ("1990 г."), "т. д." and "т. п." end a list, and "π.Χ." ends a date.
    let counts = previous.ends_with(|c: char| c.is_ascii_digit())
        || is_roman(previous)
        || matches!(previous, "кв." | "куб." | "тыс.");
    if after.starts_with(|c: char| c.is_ascii_digit()) && contains(OTHER_NUMBERS, word) {
        return true;
    }
    if previous == "т." && word.chars().nth(1).is_none() {
        return matches!(word, "е" | "к" | "н" | "ч");
    }
    // A pronoun and a whale, but in "(нем. Wien)" and "(кит. 北京)".
    let is_foreign = next_word.starts_with(|c: char| c.is_alphabetic() && !('\u{400}'..='\u{52f}').contains(&c));
    if matches!(word, "нем" | "кит") && !is_foreign {
        return false;
    }
    // A Greek letter in English is a quantity: "the constant κ. Water has".
    let quantity = word.chars().nth(1).is_none() && after.starts_with(|c: char| c.is_ascii());
    !counts
        && !quantity
        && word != "π.Χ"
        && (contains(OTHER_LETTERS, word.rsplit('-').next().unwrap_or(word)) || contains(INDIAN, word))
        && !(matches!(word, "им" | "Им") && begins_with(RUSSIAN_STARTERS, place))
}

/// True where one of the words follows, and not an initial: "им. В. И. Ленина".
fn begins_with(starters: &[&str], place: Place<'_>) -> bool {
    contains(starters, place.next_word) && !place.after[place.next_word.len()..].starts_with('.')
}

/// True for the number in "Am 1. Tag", "3. Auflage", "im XX. Jahrhundert".
fn is_ordinal(place: Place<'_>, tongue: &mut Tongue<'_>) -> bool {
    let Place { word, previous, after, next_word } = place;
    if is_date(previous, word, after) {
        return true;
    }
    if !next_word.starts_with(char::is_uppercase) || !(is_roman(word) || word.parse::<u16>().is_ok_and(|n| n < 1000)) {
        return false;
    }
    contains(COUNTED, next_word)
        || (contains(DETERMINERS, previous) && !contains(GERMAN_STARTERS, next_word) && tongue.is_german())
}

/// True for the day and for the month in "3. 5. 2020".
fn is_date(previous: &str, word: &str, after: &str) -> bool {
    let (number, behind) = digits(after);
    let is_day = is_year(digits(behind.strip_prefix(". ").unwrap_or("")).0) && is_upto(12, number);
    let is_month = is_year(number) && previous.strip_suffix('.').is_some_and(|day| is_upto(31, day));
    (is_day && is_upto(31, word)) || (is_month && is_upto(12, word))
}

/// True for the number of a day or month.
fn is_upto(most: u8, word: &str) -> bool {
    digits(word).1.is_empty() && word.parse::<u8>().is_ok_and(|number| (1..=most).contains(&number))
}

/// The digits at the start of a text, and what follows them.
pub(super) fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len())
}

/// True for a Roman number.
pub(super) fn is_roman(word: &str) -> bool {
    (1..=7).contains(&word.len()) && word.bytes().all(|b| matches!(b, b'I' | b'V' | b'X' | b'L' | b'C'))
}

/// True for the number of a year.
fn is_year(word: &str) -> bool {
    word.len() == 4 && word.bytes().all(|b| b.is_ascii_digit())
}

/// True for the German name of a street: `Hauptstr`.
fn is_street(word: &str) -> bool {
    word.len() > 5 && (word.ends_with("str") || word.ends_with("-Str")) && word.starts_with(char::is_uppercase)
}
