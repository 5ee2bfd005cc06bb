//! Abbreviations of other languages than English, and the words around them that decide. Sorted, in lower case, without the last full
//! stop, where nothing else is said.

/// The longest abbreviation in Latin letters, in bytes.
pub(super) const LONGEST_LATIN: usize = 8;

/// No words in English: what they belong to follows.
pub(super) const NAMES: &[&str] = &[
    "abzgl", "avda", "bijv", "bkz", "bl.a", "bspw", "cfr", "ctra", "d.m.v", "d.v.s", "d.w.z", "dhr", "doç", "dpto",
    "dvs", "dña", "excma", "excmo", "exma", "exmo", "f.eks", "fr.o.m", "ggfs", "gral", "hnos", "hrn", "i.h.b", "i.p.v",
    "ifj", "ilma", "ilmo", "insb", "insbes", "inż", "jhr", "judr", "m.a.w", "m.b.t", "m.in", "mej", "mevr", "mjr",
    "mudr", "např", "nám", "oprac", "phdr", "profa", "pça", "płk", "rndr", "sogen", "srta", "szül", "t.a.v", "t.ex",
    "t.o.m", "tzn", "tzv", "tzw", "tłum", "vö", "yrd", "zob", "zzgl", "özv", "ún", "św",
];

/// The same where a number follows.
pub(super) const NUMBERS: &[&str] = &[
    "afb", "artt", "blz", "d.lgs", "godz", "núm", "obr", "odst", "pagg", "pág", "rozdz", "roč", "rys", "séc", "tlf",
    "tél", "ziff", "č", "čl", "čís",
];

/// The same of words that English has, too, or that are names of something in it.
pub(super) const LOCAL_NAMES: &[&str] = &[
    "abp", "avv", "boul", "bp", "dl", "drs", "ds", "esim", "f.d", "fam", "geom", "im", "ing", "jf", "jl", "ks", "ld",
    "lic", "m.n", "mgr", "mons", "mw", "nk", "np", "o.a", "pl", "pza", "rag", "s.k", "sigg", "sv", "t.f", "tj", "trad",
    "ts", "ul", "woj", "zgl", "éd", "örn",
];

/// The same of words that end sentences in some languages, but not with a capital letter.
pub(super) const LOCAL_TITLES: &[&str] =
    &["av", "bc", "cad", "eng", "fa", "ir", "mah", "on", "sf", "sig", "sn", "sok", "sta", "ste", "sto", "uzm"];

/// The same where a number follows, in digits or in Roman ones (but "I", which is a word in Italian).
pub(super) const LOCAL_NUMBERS: &[&str] = &[
    "abs", "bd", "cap", "cca", "env", "kap", "kb", "kl", "klo", "max", "min", "mind", "n", "pag", "poz", "sok", "str",
    "t", "tab", "tel", "u",
];

/// Those of French, Vietnamese and Indonesian that are written in capital letters.
pub(super) const CAPITALS: &[&str] = &["GS", "MM", "PGS", "PT", "TP", "TS"];

/// German abbreviations before a name.
pub(super) const GERMAN_NAMES: &[&str] = &[
    "allg", "amerik", "dt", "engl", "ev", "franz", "frz", "geb", "gest", "griech", "hl", "ital", "jur", "kath", "kfm",
    "kgl", "lat", "med", "mio", "mrd", "nat", "phil", "rer", "russ", "span", "tsd",
];

/// Abbreviations of two words.
pub(super) const PAIRS: &[(&str, &str)] = &[
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
pub(super) const BONDS: &[(&str, &str)] = &[
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
pub(super) const OTHER_LETTERS: &[&str] = &[
    "βλ", "δηλ", "δρ", "κ", "κα", "κος", "λ.χ", "π.χ", "πρβλ", "акад", "англ", "бул", "вж", "вул", "г", "гр", "греч",
    "д", "див", "им", "исп", "итал", "кит", "лат", "м", "напр", "нем", "о", "оз", "пер", "пл", "пос", "прим", "проф",
    "р", "св", "см", "ср", "т.е", "т.к", "т.н", "т.ч", "тов", "укр", "ул", "фр", "яп", "ім",
];

/// The same in Hindi: titles.
pub(super) const INDIAN: &[&str] = &["डॉ", "प्रो", "श्री", "श्रीमती"];

/// The same where a number follows.
pub(super) const OTHER_NUMBERS: &[&str] = &[
    "αρ", "κεφ", "σελ", "буд", "вып", "гл", "д", "кв", "корп", "ок", "оф", "п", "пп", "рис", "с", "ст", "стр", "т",
    "табл", "тел", "фиг", "ч",
];

/// Words that begin Russian and Bulgarian sentences, before which "им." is a pronoun.
pub(super) const RUSSIAN_STARTERS: &[&str] = &[
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
pub(super) const SLAVIC_STARTERS: &[&str] = &[
    "a", "ale", "ani", "bo", "bol", "bola", "byl", "byla", "bylo", "był", "była", "było", "co", "czy", "dlatego", "do",
    "gdy", "i", "ja", "jak", "jednak", "jen", "ještě", "kde", "když", "keď", "kiedy", "na", "nebo", "nie", "nikdo",
    "nikt", "o", "od", "on", "ona", "one", "oni", "pak", "po", "potem", "potom", "preto", "pro", "proto", "tak",
    "také", "ten", "teraz", "teď", "to", "tu", "u", "už", "v", "ve", "w", "więc", "wszyscy", "wtedy", "z", "za", "že",
];

/// What German counts by, never by a number of them: "3. Auflage". English has none of these words.
pub(super) const COUNTED: &[&str] = &[
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
pub(super) const DETERMINERS: &[&str] = &[
    "am", "beim", "das", "dem", "den", "der", "des", "die", "ihre", "ihrem", "ihren", "ihrer", "im", "ins", "seine",
    "seinem", "seinen", "seiner", "vom", "zum", "zur",
];

/// Words that begin German sentences, and hardly ever what is counted.
pub(super) const GERMAN_STARTERS: &[&str] = &[
    "aber", "alle", "als", "am", "an", "auch", "auf", "bald", "bei", "beide", "da", "dabei", "daher", "damals",
    "damit", "danach", "dann", "das", "dazu", "dem", "den", "denn", "der", "des", "die", "dies", "diese", "dieser",
    "doch", "dort", "durch", "ein", "eine", "einer", "er", "es", "für", "heute", "hier", "ich", "ihr", "ihre", "im",
    "in", "jede", "jeder", "jedoch", "jetzt", "kein", "keine", "leider", "man", "mein", "meine", "mit", "nach",
    "nichts", "niemand", "noch", "nun", "nur", "ob", "oder", "ohne", "sein", "seine", "seit", "sie", "so", "später",
    "und", "unser", "unsere", "viele", "von", "vor", "was", "weil", "wenn", "wer", "wie", "wir", "wo", "zu", "zuerst",
    "zum", "zur", "zwar",
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::abbreviations::LONGEST;

    #[test]
    fn lists_are_sorted_and_fit_the_buffer() {
        for list in [
            COUNTED,
            DETERMINERS,
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
}
