//! What ends no sentence in other languages than English: abbreviations and ordinal numbers with a full stop, and what somebody says
//! in Chinese and Japanese.
//!
//! English has to be cut as if none of this was here. What it has as a word too ("the cap.") thus counts only in a text that shows to be
//! in another language ([`Tongue`]), and nothing does that is written in capital letters alone ("UL", "DNA"). Lists are sorted, in lower
//! case, without the last full stop.

use super::abbreviations::{before_numbers, contains};
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

/// The longest abbreviation in Latin letters, in bytes.
const LONGEST_LATIN: usize = 8;

/// No words in English: what they belong to follows.
const NAMES: &[&str] = &[
    "abzgl", "avda", "bijv", "bkz", "bl.a", "bspw", "cfr", "ctra", "d.m.v", "d.v.s", "d.w.z", "dhr", "doç", "dpto",
    "dvs", "dña", "excma", "excmo", "exma", "exmo", "f.eks", "fr.o.m", "ggfs", "gral", "hnos", "hrn", "i.h.b", "i.p.v",
    "ifj", "ilma", "ilmo", "insb", "insbes", "inż", "jhr", "judr", "m.a.w", "m.b.t", "m.in", "mej", "mevr", "mjr",
    "mudr", "např", "nám", "oprac", "phdr", "profa", "pça", "płk", "rndr", "sogen", "srta", "szül", "t.a.v", "t.ex",
    "t.o.m", "tzn", "tzv", "tzw", "tłum", "vö", "yrd", "zob", "zzgl", "özv", "ún", "św",
];

/// The same where a number follows.
const NUMBERS: &[&str] = &[
    "afb", "artt", "blz", "d.lgs", "godz", "núm", "obr", "odst", "pagg", "pág", "rozdz", "roč", "rys", "séc", "tlf",
    "tél", "ziff", "č", "čl", "čís",
];

/// The same of words that English has, too, or that are names of something in it.
const LOCAL_NAMES: &[&str] = &[
    "abp", "avv", "boul", "bp", "dl", "drs", "ds", "esim", "f.d", "fam", "geom", "im", "ing", "jf", "jl", "ks", "ld",
    "lic", "m.n", "mgr", "mons", "mw", "nk", "np", "o.a", "pl", "pza", "rag", "s.k", "sigg", "sv", "t.f", "tj", "trad",
    "ts", "ul", "woj", "zgl", "éd", "örn",
];

/// The same of words that end sentences in some languages, but not with a capital letter.
const LOCAL_TITLES: &[&str] =
    &["av", "bc", "cad", "eng", "fa", "ir", "mah", "on", "sf", "sig", "sn", "sok", "sta", "ste", "sto", "uzm"];

/// The same where a number follows, in digits or in Roman ones (but "I", which is a word in Italian).
const LOCAL_NUMBERS: &[&str] = &[
    "abs", "bd", "cap", "cca", "env", "kap", "kb", "kl", "klo", "max", "min", "mind", "n", "pag", "poz", "sok", "str",
    "t", "tab", "tel", "u",
];

/// Those of French, Vietnamese and Indonesian that are written in capital letters.
const CAPITALS: &[&str] = &["GS", "MM", "PGS", "PT", "TP", "TS"];

/// German abbreviations before a name.
const GERMAN_NAMES: &[&str] = &[
    "allg", "amerik", "dt", "engl", "ev", "franz", "frz", "geb", "gest", "griech", "hl", "ital", "jur", "kath", "kfm",
    "kgl", "lat", "med", "mio", "mrd", "nat", "phil", "rer", "russ", "span", "tsd",
];

/// Abbreviations of two words.
const PAIRS: &[(&str, &str)] = &[
    ("ad", "es"),
    ("al", "sig"),
    ("dal", "sig"),
    ("de", "ex"),
    ("del", "sig"),
    ("f.", "eks"),
    ("h.", "c"),
    ("il", "sig"),
    ("p.", "ej"),
    ("p.", "ex"),
    ("par", "ex"),
    ("por", "ej"),
    ("por", "ex"),
    ("t.", "ex"),
    ("u.", "a"),
];

/// Abbreviations whose second word begins with a capital letter.
const BONDS: &[(&str, &str)] = &[
    ("EE", "UU"),
    ("FF", "AA"),
    ("a", "C"),
    ("apr", "J"),
    ("av", "J"),
    ("d", "C"),
    ("gem", "Abs"),
    ("gem", "Art"),
    ("n", "Chr"),
];

/// Abbreviations in other letters than Latin ones: what they belong to follows.
const OTHER_LETTERS: &[&str] = &[
    "βλ", "δηλ", "δρ", "κ", "κα", "κος", "λ.χ", "π.χ", "πρβλ", "акад", "англ", "бул", "вж", "вул", "г", "гр", "греч",
    "д", "див", "им", "исп", "итал", "кит", "лат", "м", "напр", "нем", "о", "оз", "пер", "пл", "пос", "прим", "проф",
    "р", "св", "см", "ср", "т.е", "т.к", "т.н", "т.ч", "тов", "укр", "ул", "фр", "яп", "ім",
];

/// The same in Hindi: titles.
const INDIAN: &[&str] = &["डॉ", "प्रो", "श्री", "श्रीमती"];

/// The same where a number follows.
const OTHER_NUMBERS: &[&str] = &[
    "αρ", "κεφ", "σελ", "буд", "вып", "гл", "д", "кв", "корп", "ок", "оф", "п", "пп", "рис", "с", "ст", "стр", "т",
    "табл", "тел", "фиг", "ч",
];

/// Words that begin Russian and Bulgarian sentences, before which "им." is a pronoun.
const RUSSIAN_STARTERS: &[&str] = &[
    "а",
    "в",
    "вот",
    "все",
    "вы",
    "да",
    "если",
    "за",
    "затем",
    "и",
    "как",
    "когда",
    "мы",
    "на",
    "не",
    "никто",
    "но",
    "ну",
    "однако",
    "он",
    "она",
    "они",
    "по",
    "после",
    "потом",
    "с",
    "так",
    "там",
    "те",
    "то",
    "тогда",
    "той",
    "тут",
    "ты",
    "тя",
    "у",
    "что",
    "это",
    "я",
];

/// Words that begin sentences in Polish, Czech and Slovak, before which "im." and "nám." are pronouns.
const SLAVIC_STARTERS: &[&str] = &[
    "a", "ale", "ani", "bo", "bol", "bola", "byl", "byla", "bylo", "był", "była", "było", "co", "czy", "dlatego", "do",
    "gdy", "i", "ja", "jak", "jednak", "jen", "ještě", "kde", "když", "keď", "kiedy", "na", "nebo", "nie", "nikdo",
    "nikt", "o", "od", "on", "ona", "one", "oni", "pak", "po", "potem", "potom", "preto", "pro", "proto", "tak",
    "také", "ten", "teraz", "teď", "to", "tu", "u", "už", "v", "ve", "w", "więc", "wszyscy", "wtedy", "z", "za", "že",
];

/// What German counts by, never by a number of them: "3. Auflage". English has none of these words.
const COUNTED: &[&str] = &[
    "auflage",
    "ausgabe",
    "bundesliga",
    "etage",
    "halbjahr",
    "jahrestag",
    "jahrhundert",
    "jahrhunderts",
    "jahrtausend",
    "kapitel",
    "lebensjahr",
    "obergeschoss",
    "quartal",
    "weltkrieg",
    "weltkriegs",
];

/// German words before an ordinal number.
const DETERMINERS: &[&str] = &[
    "am", "beim", "das", "dem", "den", "der", "des", "die", "ihre", "ihrem", "ihren", "ihrer", "im", "ins", "seine",
    "seinem", "seinen", "seiner", "vom", "zum", "zur",
];

/// Words that begin German sentences, and hardly ever what is counted.
const GERMAN_STARTERS: &[&str] = &[
    "aber", "alle", "als", "am", "an", "auch", "auf", "bald", "bei", "beide", "da", "dabei", "daher", "damals",
    "damit", "danach", "dann", "das", "dazu", "dem", "den", "denn", "der", "des", "die", "dies", "diese", "dieser",
    "doch", "dort", "durch", "ein", "eine", "einer", "er", "es", "für", "heute", "hier", "ich", "ihr", "ihre", "im",
    "in", "jede", "jeder", "jedoch", "jetzt", "kein", "keine", "leider", "man", "mein", "meine", "mit", "nach",
    "nichts", "niemand", "noch", "nun", "nur", "ob", "oder", "ohne", "sein", "seine", "seit", "sie", "so", "später",
    "und", "unser", "unsere", "viele", "von", "vor", "was", "weil", "wenn", "wer", "wie", "wir", "wo", "zu", "zuerst",
    "zum", "zur", "zwar",
];

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

/// So many characters has what follows a quote and says who said it, at most.
const SAID: usize = 14;
/// How it ends in Chinese, in no order.
const SAYS: &[&str] = &[
    "说", "說", "问", "問", "答", "喊", "叫", "嚷", "说道", "說道", "问道", "問道", "答道", "喊道", "叫道", "笑道",
    "叹道", "嘆道", "他道", "她道",
];
/// What ends like it, and says nothing.
const SAYS_NOT: &[&str] = &[
    "小说", "小說", "听说", "聽說", "据说", "據說", "传说", "傳說", "学说", "學說", "访问", "訪問", "顾问", "顧問",
    "学问", "學問", "疑问", "疑問",
];

/// True where the sentence goes on behind a closing quote of Chinese or Japanese: 「行こう。」と言った。 “好的。”她说。
pub(super) fn goes_on_behind_quote(after: &str) -> bool {
    if after.starts_with("って") || after.starts_with('を') {
        return true;
    }
    if let Some(rest) = after.strip_prefix('と') {
        // Not ところで, とても, とにかく: a particle is followed by a word in Kanji or by one of a few others.
        return !rest.starts_with(|c: char| ('\u{3041}'..='\u{3096}').contains(&c))
            || rest.starts_with(['い', 'だ', 'の', 'か', 'お', 'さ']);
    }
    let mut clause = after.char_indices().take(SAID);
    let Some((end, mark)) = clause.find(|&(_, c)| !c.is_alphanumeric()) else { return false };
    let said = &after[..end];
    matches!(mark, '。' | '，')
        && SAYS.iter().any(|verb| said.ends_with(verb))
        && !SAYS_NOT.iter().any(|word| said.ends_with(word))
        && !said.ends_with("的回答")
}

/// True for the semicolon that is a question mark in Greek: two letters of it before, a capital one behind.
pub(super) fn asks(body: &str, next: char) -> bool {
    body.ends_with([';', '\u{37e}'])
        && body.chars().rev().skip(1).take(2).filter(|&c| is_greek(c)).count() == 2
        && (next == '«' || (next.is_uppercase() && is_greek(next)))
}

fn is_greek(c: char) -> bool {
    (('\u{370}'..'\u{400}').contains(&c) || ('\u{1f00}'..'\u{2000}').contains(&c)) && c.is_alphabetic()
}

#[cfg(test)]
mod tests {
    use super::super::abbreviations::LONGEST;
    use super::{
        COUNTED, DETERMINERS, ENGLISH, GERMAN, GERMAN_NAMES, GERMAN_STARTERS, INDIAN, LOCAL_NAMES, LOCAL_NUMBERS,
        LOCAL_TITLES, LONGEST_LATIN, NAMES, NUMBERS, OTHER_LETTERS, OTHER_NUMBERS, OTHERS, RUSSIAN_STARTERS,
        SLAVIC_STARTERS, Tongue,
    };

    #[test]
    fn lists_are_sorted_and_fit_the_buffer() {
        for list in [
            COUNTED,
            DETERMINERS,
            ENGLISH,
            GERMAN,
            GERMAN_NAMES,
            GERMAN_STARTERS,
            INDIAN,
            LOCAL_NAMES,
            LOCAL_NUMBERS,
            LOCAL_TITLES,
            NAMES,
            NUMBERS,
            OTHER_LETTERS,
            OTHER_NUMBERS,
            OTHERS,
            RUSSIAN_STARTERS,
            SLAVIC_STARTERS,
        ] {
            assert!(list.is_sorted(), "{list:?}");
            assert!(list.iter().all(|word| word.len() <= LONGEST && !word.contains(char::is_uppercase)), "{list:?}");
        }
    }

    #[test]
    fn no_latin_abbreviation_is_longer_than_the_longest() {
        for list in [NAMES, NUMBERS, LOCAL_NAMES, LOCAL_TITLES, LOCAL_NUMBERS, GERMAN_NAMES] {
            assert!(list.iter().all(|word| word.len() <= LONGEST_LATIN), "{list:?}");
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
