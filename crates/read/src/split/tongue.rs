//! The language of a text, as far as the rules of sentences ask for it: English, German, or another one in Latin letters. Lists are
//! sorted, in lower case.

use super::abbreviations::contains;
use crate::work;

/// So much of a window says what language it is in, in bytes.
const SAMPLE: usize = 2048;
/// A text in another language has at least one of the words that hold its sentences together in so many.
const OWN_ONE_IN: usize = 12;

/// Such words of English that its neighbours lack.
const ENGLISH: &[&str] = &[
    "and", "are", "be", "can", "for", "from", "have", "if", "it", "my", "not", "of", "or", "that", "the", "they",
    "this", "to", "which", "will", "with", "you",
];

/// Such words of German that English lacks.
const GERMAN: &[&str] = &[
    "auf", "aus", "bei", "das", "dem", "den", "der", "des", "die", "ein", "eine", "einer", "er", "für", "ihre", "im",
    "ist", "mit", "nach", "nicht", "seit", "sich", "sie", "und", "vom", "von", "vor", "werden", "wird", "wurde", "zu",
    "zum", "zur", "über",
];

/// Such words of other languages in Latin letters.
const OTHERS: &[&str] = &[
    "att", "az", "bir", "che", "con", "da", "dan", "dans", "de", "dei", "del", "della", "dengan", "det", "di", "du",
    "een", "egy", "el", "en", "es", "est", "et", "gli", "het", "hän", "il", "ile", "ja", "je", "jest", "jsou", "la",
    "las", "le", "les", "los", "na", "nem", "nie", "niet", "och", "og", "oli", "ovat", "par", "por", "pour", "przy",
    "på", "que", "qui", "se", "som", "sur", "są", "um", "una", "une", "untuk", "van", "ve", "voor", "yang", "za",
    "zijn", "è", "és", "în", "și",
];

/// The language of a window, which is looked at once, and only where a rule asks.
#[derive(Clone, Copy)]
pub(super) struct Tongue<'t> {
    sample: &'t str,
    known: Option<(bool, bool)>,
}

impl<'t> Tongue<'t> {
    pub(super) fn of(window: &'t str) -> Self {
        Self { sample: &window[..window.floor_char_boundary(SAMPLE)], known: None }
    }

    /// True for text that is in Latin letters and clearly not English.
    pub(super) fn is_foreign(&mut self) -> bool {
        self.look().0
    }

    /// True for German text.
    pub(super) fn is_german(&mut self) -> bool {
        self.look().1
    }

    fn look(&mut self) -> (bool, bool) {
        if let Some(known) = self.known {
            return known;
        }
        work::looked(self.sample.len());
        let (mut words, mut english, mut german, mut others) = (0, 0, 0, 0);
        for word in self.sample.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
            words += 1;
            english += usize::from(contains(ENGLISH, word));
            german += usize::from(contains(GERMAN, word));
            others += usize::from(contains(OTHERS, word) || word.contains(is_of_others));
        }
        let own = german + others;
        let foreign = own > 2 * english && own * OWN_ONE_IN >= words;
        let known = (foreign, foreign && german > others);
        self.known = Some(known);
        known
    }
}

/// Letters that neither English nor German has.
fn is_of_others(c: char) -> bool {
    !c.is_ascii() && !matches!(c, 'ä' | 'ö' | 'ü' | 'Ä' | 'Ö' | 'Ü' | 'ß')
}

#[cfg(test)]
mod tests {
    use super::super::abbreviations::LONGEST;
    use super::{ENGLISH, GERMAN, OTHERS, Tongue};

    #[test]
    fn lists_are_sorted_and_fit_the_buffer() {
        for list in [ENGLISH, GERMAN, OTHERS] {
            assert!(list.is_sorted(), "{list:?}");
            assert!(list.iter().all(|word| word.len() <= LONGEST && !word.contains(char::is_uppercase)), "{list:?}");
        }
    }

    #[test]
    fn english_with_foreign_names_is_english() {
        for text in [
            "The house of the Duke de la Torre stands in the Calle del Sol, and it is open.",
            "Set env. 5 values are read.",
            "I am 12. My name is Tom.",
            "",
        ] {
            assert!(!Tongue::of(text).is_foreign(), "{text}");
        }
        assert!(Tongue::of("Die Werkstatt ist in der Hauptstraße.").is_german());
        let mut french = Tongue::of("Le musée est dans la rue de Lyon.");
        assert!(french.is_foreign() && !french.is_german());
    }
}
