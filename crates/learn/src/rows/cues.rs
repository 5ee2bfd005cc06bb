//! Words that say how a sentence stands beside its neighbours: those that it begins and ends with.
//!
//! A sentence vector says what a sentence is about, and little of how it goes on from the one before: "However", "This", "To install".
//! A model can learn a vector for each number here.

use pericope_segment::random::fnv1a;

/// Cues of a sentence.
pub(crate) const CUES: usize = 6;

/// Numbers that a cue can have: words share them by chance.
pub(crate) const BUCKETS: usize = 8192;

/// Words whose form the last cue tells.
const FORMS: usize = 4;

/// The cues of a sentence: its first, second and third word, the first two together, the last word, and the form of the first four words
/// and of the end. Words are in lower case, without the marks around them.
pub(crate) fn cues(text: &str) -> [u32; CUES] {
    let mut words = text.split_whitespace();
    let mut next = || words.next().unwrap_or_default();
    let first: [&str; FORMS] = [next(), next(), next(), next()];
    let last = text.split_whitespace().next_back().unwrap_or_default();
    let word = |word: &str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        if inner.is_empty() { word.to_owned() } else { inner.to_lowercase() }
    };
    let forms: String = first.iter().map(|word| form(word)).chain(last.chars().next_back()).collect();
    let [one, two, three, _] = first.map(word);
    let both = format!("{one} {two}");
    let found = [one, two, three, both, word(last), forms];
    let mut place = 0;
    found.map(|cue| {
        place += 1;
        (fnv1a(place, cue.bytes()) % BUCKETS as u64) as u32
    })
}

/// A letter for the form of a word: none, a number, a name in code, capitals, a capital, small letters, marks alone.
fn form(word: &str) -> char {
    let letters = || word.chars().filter(|c| c.is_alphabetic());
    let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
    match letters().next() {
        _ if word.is_empty() => '-',
        _ if inner.is_empty() => '.',
        _ if inner.contains(['_', '/', '(', '=', '<', '.', ':']) || word.contains('`') => 'c',
        None => '0',
        Some(_) if letters().count() > 1 && letters().all(char::is_uppercase) => 'A',
        Some(first) if first.is_uppercase() => 'B',
        Some(_) => 'a',
    }
}

#[cfg(test)]
mod tests {
    use super::{BUCKETS, cues, form};

    #[test]
    fn the_first_and_last_words_tell_sentences_apart() {
        let [one, two] = [cues("However, the ship sails."), cues("\u{201c}however the Ship sank!")];
        assert_eq!(one[..4], two[..4]);
        assert_ne!(one[4], two[4]);
        assert_ne!(one[5], two[5]);
        // A word is another cue in another place.
        let twice = cues("no no no no");
        assert!(twice[0] != twice[1] && twice[1] != twice[2]);
        for text in ["", " ", "…", "a", "ﬁ \u{1f600}"] {
            assert!(cues(text).iter().all(|&cue| (cue as usize) < BUCKETS), "{text:?}");
        }
        assert_ne!(cues("Set x"), cues("Set"));
    }

    #[test]
    fn words_have_forms() {
        let found: String =
            ["", "--", "12", "3.5", "`x`", "a_b", "HTTP", "Ship", "A", "ship,", "(see)"].map(form).iter().collect();
        assert_eq!(found, "-.0cccABBaa");
    }
}
