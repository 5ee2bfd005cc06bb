//! Abbreviations of English, German and a few neighbours whose full stop does not end a sentence; those that English must not know are
//! in `foreign`. Sorted, in lower case, without the last full stop.

/// Followed by a name or by what they introduce, so hardly ever at the end of a sentence.
const NEVER_FINAL: &[&str] = &[
    "adm", "approx", "bldg", "brig", "bzw", "capt", "cf", "cmdr", "col", "cpl", "d.h", "dept", "dott", "dr", "dra",
    "e.g", "eg", "esp", "evtl", "fr", "gen", "ggf", "gov", "hon", "i.e", "ie", "inkl", "lt", "maj", "messrs", "mlle",
    "mme", "mr", "mrs", "ms", "mt", "mx", "op", "pres", "prof", "rep", "rev", "sen", "sgt", "sog", "sr", "sra", "st",
    "supt", "u.a", "v", "vgl", "viz", "vs", "z.b",
];

/// Abbreviations where a number follows; elsewhere they are words ("no.") or may end a sentence.
const BEFORE_NUMBERS: &[&str] = &[
    "abb", "apr", "art", "aug", "ca", "ch", "chap", "dec", "ed", "eq", "eqs", "feb", "fig", "figs", "jan", "jul",
    "jun", "mar", "no", "nos", "nov", "nr", "núm", "oct", "p", "par", "pp", "proc", "pt", "pág", "rd", "s", "sec",
    "sect", "sep", "sept", "v", "ver", "vol", "vols",
];

/// True for an abbreviation that stands before what it belongs to: `Dr`, `e.g`.
pub(super) fn never_final(word: &str) -> bool {
    contains(NEVER_FINAL, word)
}

/// True for an abbreviation that a number belongs to: `Fig`, `no`.
pub(super) fn before_numbers(word: &str) -> bool {
    contains(BEFORE_NUMBERS, word)
}

/// Abbreviations behind which a number may stand in brackets: `Eq. (4)`, `et al. (2020)`.
const BEFORE_BRACKETS: &[&str] = &["abb", "al", "chap", "eq", "eqs", "fig", "figs", "sec", "sect"];

/// True for an abbreviation that a number in brackets belongs to.
pub(super) fn before_brackets(word: &str) -> bool {
    contains(BEFORE_BRACKETS, word)
}

/// Abbreviations that a sentence goes on behind where a small letter follows. Elsewhere that letter says it.
const WITHIN: &[&str] = &[
    "co", "corp", "ed", "est", "etc", "ft", "inc", "incl", "jr", "ltd", "max", "min", "no", "ph.d", "resp", "tel",
    "usw",
];

/// True for an abbreviation inside of a sentence in a text without capital letters.
pub(super) fn within(word: &str) -> bool {
    contains(WITHIN, word)
}

/// Months in German, which stand behind the number of a day with a full stop.
const MONTHS: &[&str] = &[
    "April",
    "August",
    "Dezember",
    "Februar",
    "Januar",
    "Juli",
    "Juni",
    "Mai",
    "März",
    "November",
    "Oktober",
    "September",
];

/// True for the German name of a month: `12. August`.
pub(super) fn is_month(word: &str) -> bool {
    MONTHS.binary_search(&word).is_ok()
}

/// True for a name of a month that English has, too.
pub(super) fn is_english_month(word: &str) -> bool {
    matches!(word, "April" | "August" | "November" | "September")
}

/// Words that stand before the number of a day in German, in small letters.
pub(super) fn before_days(word: &str) -> bool {
    ["ab", "am", "bis", "dem", "den", "der", "seit", "und", "vom", "zum"]
        .iter()
        .any(|one| word.eq_ignore_ascii_case(one))
}

/// Initials that are no person's. A sentence may end with them, but a name follows more often ("the U.S. Senate").
const PLACES: &[&str] = &["a.d", "a.m", "b.c", "d.c", "e.u", "l.a", "p.m", "u.k", "u.n", "u.s", "u.s.a"];

/// Words that begin sentences and hardly ever names.
const STARTERS: &[&str] = &[
    "a", "after", "all", "although", "an", "and", "as", "at", "because", "before", "both", "but", "by", "during",
    "each", "even", "every", "for", "from", "he", "her", "here", "his", "how", "however", "i", "if", "in", "it", "its",
    "many", "more", "most", "my", "no", "not", "now", "on", "once", "one", "only", "or", "other", "our", "over", "she",
    "since", "so", "some", "such", "that", "the", "their", "then", "there", "these", "they", "this", "those", "though",
    "through", "thus", "to", "two", "under", "until", "up", "we", "what", "when", "where", "which", "while", "who",
    "why", "with", "you", "your",
];

/// True for an abbreviated name of a country, a town or a time.
pub(super) fn is_place(word: &str) -> bool {
    contains(PLACES, word)
}

/// True for a word that is likelier to begin a sentence than to go on with a name.
pub(super) fn is_starter(word: &str) -> bool {
    contains(STARTERS, word)
}

/// The longest word of a list, in bytes.
pub(super) const LONGEST: usize = 24;

/// True where a sorted list in lower case holds the word, in either case.
pub(super) fn contains(list: &[&str], word: &str) -> bool {
    let mut buffer = [0u8; LONGEST];
    let Some(lower) = lowered(word, &mut buffer) else { return false };
    list.binary_search_by(|entry| entry.as_bytes().cmp(lower)).is_ok()
}

/// The word in lower case; `None` where it does not fit.
fn lowered<'b>(word: &str, buffer: &'b mut [u8; LONGEST]) -> Option<&'b [u8]> {
    if word.len() > LONGEST {
        return None;
    }
    if word.is_ascii() {
        let lower = buffer.get_mut(..word.len())?;
        lower.copy_from_slice(word.as_bytes());
        lower.make_ascii_lowercase();
        return Some(lower);
    }
    let mut len = 0;
    for c in word.chars().flat_map(char::to_lowercase) {
        let place = buffer.get_mut(len..len + c.len_utf8())?;
        len += c.encode_utf8(place).len();
    }
    buffer.get(..len)
}

#[cfg(test)]
mod tests {
    use super::{
        BEFORE_BRACKETS, BEFORE_NUMBERS, LONGEST, MONTHS, NEVER_FINAL, PLACES, STARTERS, WITHIN, before_numbers,
        is_month, never_final,
    };

    #[test]
    fn lists_are_sorted_and_fit_the_buffer() {
        for list in [NEVER_FINAL, BEFORE_BRACKETS, BEFORE_NUMBERS, PLACES, STARTERS, WITHIN] {
            assert!(list.is_sorted());
            assert!(list.iter().all(|word| word.len() <= LONGEST && !word.bytes().any(|b| b.is_ascii_uppercase())));
        }
    }

    #[test]
    fn months_are_sorted() {
        assert!(MONTHS.is_sorted() && is_month("März") && !is_month("Montag"));
    }

    #[test]
    fn case_does_not_matter() {
        assert!(never_final("Dr") && never_final("I.e") && before_numbers("Fig") && before_numbers("PÁG"));
        assert!(!never_final("etc") && !never_final("a-very-long-word") && !before_numbers(""));
    }
}
