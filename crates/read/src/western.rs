//! Text in the languages of Western Europe with few letters and signs beyond ASCII. A detector that counts letters has
//! too little to go by there: it takes `±3 mm` for Polish and `5 µm` for Chinese.

use encoding_rs::WINDOWS_1252;

/// So few bytes beyond ASCII tell a detector nothing,
const FEW: usize = 8;
/// nor do fewer than one in so many.
const SPARSE: usize = 50;
/// Longest name of a unit of measurement behind `µ`.
const LONGEST_UNIT: usize = 3;

/// What the bytes beyond ASCII are, read as windows-1252.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Western {
    /// Signs, each where such signs stand.
    Signs,
    /// Letters too, as Western languages put them into their words.
    Letters,
    /// The same, and none that Slavic languages, Hungarian and Romanian could have in such places.
    Certain,
}

/// True where next to all of it is ASCII.
pub(crate) fn is_sparse(bytes: &[u8]) -> bool {
    let foreign = bytes.iter().filter(|b| !b.is_ascii()).count();
    foreign < FEW || foreign * SPARSE < bytes.len()
}

/// True where no two bytes beyond ASCII touch: text in an encoding with characters of two bytes has some that do.
pub(crate) fn is_scattered(bytes: &[u8]) -> bool {
    !bytes.windows(2).any(|pair| pair.iter().all(|b| !b.is_ascii()))
}

/// True where a byte beyond ASCII and the one after it are more like a character of two bytes than like a letter or a sign
/// before what may stand there: kana of Shift_JIS, and signs of ASCII that hardly follow a letter.
pub(crate) fn has_pairs(bytes: &[u8]) -> bool {
    bytes.windows(2).any(|pair| match *pair {
        [0x82 | 0x83, 0x40..=0x7e] => true,
        [first, second] => {
            first > 0x80 && matches!(second, b'@' | b'[' | b'\\' | b'^' | b'_' | b'`' | b'{' | b'|' | b'~')
        }
        _ => false,
    })
}

/// What windows-1252 makes of text that is ASCII but for a few bytes; `None` where that is nothing that Western languages
/// write, and where there are more such bytes.
pub(crate) fn western(bytes: &[u8]) -> Option<Western> {
    if !is_sparse(bytes) {
        return None;
    }
    let (text, _) = WINDOWS_1252.decode_without_bom_handling(bytes);
    if text.matches('«').count() != text.matches('»').count() {
        return None;
    }
    let nordic = text.contains(['å', 'Å']) || (text.contains(['æ', 'Æ']) && text.contains(['ø', 'Ø']));
    // Notes are numbered from one.
    let notes = text.contains('¹');
    // `è.` is the Czech for `No.`
    let mut certain = !text.contains("è.") && !text.contains("È.");
    let mut found = Western::Signs;
    let mut before = [None, None];
    for (at, c) in text.char_indices() {
        if !c.is_ascii() && !is_letter(c) && !is_in_place(before, c, &text[at + c.len_utf8()..], notes) {
            return None;
        }
        before = [before[1], Some(c)];
    }
    for word in text.split(|c: char| !is_letter(c)).filter(|word| !word.is_ascii()) {
        if !is_word(word, nordic) {
            return None;
        }
        certain = certain && is_certain(&word.to_lowercase());
        found = if certain { Western::Certain } else { Western::Letters };
    }
    Some(found)
}

/// True for letters of words, which `µ` and the signs of ordinal numbers are not.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !matches!(c, 'µ' | 'ª' | 'º' | 'ˆ')
}

/// True where a sign stands between what it may stand between. In words of other encodings such bytes are letters.
fn is_in_place(before: [Option<char>; 2], sign: char, rest: &str, notes: bool) -> bool {
    let after = rest.chars().next();
    let left = before[1].is_some_and(is_letter);
    let right = after.is_some_and(is_letter);
    let is_digit = |c: Option<char>| c.is_some_and(|c| c.is_ascii_digit());
    match sign {
        // The same in nearly all encodings of one byte.
        '\u{a0}' | '\u{ad}' | '–' | '—' | '‘' | '’' | '“' | '”' | '„' | '…' | '•' | '·' | '€' | '™' => {
            true
        }
        '±' | '§' | '£' | '¥' | '¢' | '¶' | '÷' | '¼' | '½' | '¾' | '©' => !left && !right,
        // In windows-1251 it is the sign for `No.`
        '¹' => !left && !right && !rest.trim_start().starts_with(|c: char| c.is_ascii_digit()),
        '×' => !left,
        '®' => !right,
        '«' | '»' => !(left && right),
        '°' => {
            let unit = rest.starts_with(['C', 'F', 'K']) && !rest.chars().nth(1).is_some_and(is_letter);
            (!left || matches!(before[1], Some('n' | 'N'))) && (!right || unit)
        }
        // `cm²`, `10³`.
        '²' | '³' => {
            let metre = before[1] == Some('m') && before[0].is_none_or(|c| !is_letter(c) || "cdkm".contains(c));
            let note = notes && before[1].is_none_or(char::is_whitespace);
            !right && (note || metre || is_digit(before[1]) || before[1] == Some(')'))
        }
        'µ' => !left && rest.chars().take_while(|&c| is_letter(c)).count() <= LONGEST_UNIT,
        'º' | 'ª' => !right && (is_digit(before[1]) || matches!(before[1], Some('n' | 'N' | '.'))),
        '¿' | '¡' => !left && !after.is_some_and(char::is_lowercase),
        _ => false,
    }
}

/// True for a word that a Western language may have.
fn is_word(word: &str, nordic: bool) -> bool {
    if matches!(word, "à" | "À" | "è" | "È" | "é" | "É" | "ó" | "á") {
        return true;
    }
    let letters: Vec<char> = word.chars().collect();
    let at = |i: usize| letters.get(i).copied();
    // A capital within a word in small letters, three such letters in a row, and none of any other kind: other encodings.
    let capital = |pair: &[char]| pair[0].is_lowercase() && pair[1].is_uppercase() && !pair[1].is_ascii();
    let row = |three: &[char]| three.iter().all(|c| !c.is_ascii());
    if letters.windows(2).any(capital) || letters.windows(3).any(row) || letters.iter().all(|c| !c.is_ascii()) {
        return false;
    }
    let lower = word.to_lowercase();
    let small = |c: Option<char>| c.map(|c| c.to_lowercase().next().unwrap_or(c));
    (0..letters.len()).filter(|&i| at(i).is_some_and(|c| !c.is_ascii())).all(|i| {
        let before = i.checked_sub(1).and_then(|i| small(at(i)));
        is_at_home(small(at(i)), before, small(at(i + 1)), &lower, nordic)
    })
}

/// True where a letter stands as in words of Western languages. Those that are the same in windows-1250 may stand anywhere;
/// the others are letters of Polish, Czech, Hungarian or Romanian there.
fn is_at_home(letter: Option<char>, before: Option<char>, after: Option<char>, word: &str, nordic: bool) -> bool {
    const VOWELS: &str = "aeiouyáéíóú";
    let is = |c: Option<char>, letters: &str| c.is_some_and(|c| letters.contains(c));
    match letter {
        Some('á' | 'â' | 'ä' | 'ç' | 'é' | 'ë' | 'í' | 'î' | 'ó' | 'ô' | 'ö' | 'ú' | 'ü' | 'ß' | 'š' | 'ž' | 'å') => {
            true
        }
        Some('æ' | 'ø') => nordic,
        // Voilà, città.
        Some('à') => after.is_none(),
        // Pão, mãe; põe.
        Some('ã') => is(after, "oe"),
        Some('õ') => is(after, "e"),
        // Même, être, rêve.
        Some('ê') => before != Some('i') && is(after, "tmvnlr"),
        // Père, très.
        Some('è') => before.is_some() && !is(before, "ae") && after.is_some() && !is(after, VOWELS),
        // Naïve, maïs.
        Some('ï') => is(before, VOWELS) && after.is_some() && !is(after, VOWELS),
        Some('ñ') => is(after, VOWELS),
        // Œuvre, œil.
        Some('œ') => is(after, "ui"),
        Some('ù') => matches!(word, "où" | "più"),
        Some('û') => is(before, "o") || word.starts_with("sûr") || word.starts_with("brûl") || word == "dû",
        _ => false,
    }
}

/// True for a word, in small letters, that is none in the languages for which ISO-8859-2 and windows-1250 are: each letter
/// that is another one there stands where that one does not.
fn is_certain(word: &str) -> bool {
    word.char_indices().filter(|(_, c)| !c.is_ascii()).all(|(at, c)| {
        let (before, after) = (&word[..at], &word[at + c.len_utf8()..]);
        match c {
            // The same there.
            'á' | 'â' | 'ä' | 'ç' | 'é' | 'ë' | 'í' | 'î' | 'ó' | 'ô' | 'ö' | 'ú' | 'ü' | 'ß' | 'š' | 'ž' => {
                true
            }
            'à' => after.is_empty(),
            'å' => matches!(word, "på" | "så" | "få" | "då" | "når" | "från" | "också"),
            'ã' => matches!(after, "o" | "os" | "e" | "es"),
            'õ' => after == "es",
            // Polish has the letter before `t` and `l`.
            'ê' => {
                after.starts_with(['m', 'v', 'n'])
                    || matches!(
                        word,
                        "être" | "êtes" | "tête" | "têtes" | "fête" | "fêtes" | "forêt" | "intérêt" | "fenêtre"
                    )
            }
            'è' => is_french(word, before, after),
            // Not `buďte`, `buďme`, `loďka`, `loďstvo`.
            'ï' => match before.chars().next_back() {
                Some('a') => after.starts_with(['v', 's', 'f', 'q', 'r', 'l', 'w', 'b', 'n', 'd', 'c']),
                Some('o') => after.starts_with(['n', 's', 'q', 'c', 'd']) && !before.ends_with("lo"),
                _ => false,
            },
            'ñ' => {
                word.ends_with("año")
                    || word.ends_with("años")
                    || word.starts_with("señor")
                    || word.starts_with("españ")
            }
            'œ' => after.starts_with(['u', 'i']),
            'ù' => matches!(word, "où" | "più"),
            'û' => matches!(before, "co" | "go" | "ao" | "vo") || matches!(word, "sûr" | "sûre" | "sûrs" | "dû"),
            _ => false,
        }
    })
}

/// True for `è` as French words have it; where Slavic words have `č`, other letters follow.
fn is_french(word: &str, before: &str, after: &str) -> bool {
    if before.is_empty() {
        return after.is_empty();
    }
    if matches!(word, "pièce" | "pièces" | "nièce" | "nièces" | "crème" | "système" | "thème" | "problème" | "deuxième")
    {
        return true;
    }
    !before.ends_with(['a', 'e', 'o', 'u', 'y', 'á', 'é', 'í', 'ó', 'ú', 'ý'])
        && matches!(
            after,
            "re" | "res" | "rement" | "s" | "ve" | "ves" | "gle" | "gles" | "tre" | "tres" | "que" | "ques" | "cle"
        )
}

#[cfg(test)]
mod tests {
    use encoding_rs::{BIG5, EUC_JP, GBK, ISO_8859_2, KOI8_R, SHIFT_JIS, WINDOWS_1250, WINDOWS_1251, WINDOWS_1252};

    use super::{Western, has_pairs, is_scattered, western};

    #[test]
    fn signs_and_words_of_western_languages_are_known() {
        for (text, expected) in [
            ("The flow tolerance is ±3 mm at all points.", Western::Signs),
            ("A gap of 5 µm or 5µm, 20 °C and 3 m² cost £5 (§ 3).", Western::Signs),
            ("It’s “quoted” – « so »", Western::Signs),
            ("© 2020 Pump® …", Western::Signs),
            ("A naïve view of the œuvre: maïs, café, crème, où, voilà.", Western::Certain),
            ("¹ See note. ² ibid.", Western::Signs),
            ("El año pasado, señor.", Western::Certain),
            ("Größe und Übermaß", Western::Certain),
            ("A rêve à Noël", Western::Certain),
            ("Não sei.", Western::Certain),
            ("En stor gård.", Western::Letters),
        ] {
            let (bytes, _, replaced) = WINDOWS_1252.encode(text);
            assert!(!replaced);
            assert_eq!(western(&bytes), Some(expected), "{text}");
        }
    }

    #[test]
    fn words_of_other_encodings_are_none() {
        for (text, encoding) in [
            ("Pompa tłoczy.", WINDOWS_1250),
            ("Wodę pompuje się.", WINDOWS_1250),
            ("Dzień dobry.", WINDOWS_1250),
            ("To jest ważne.", ISO_8859_2),
            ("Są tu.", ISO_8859_2),
            ("Čerpadlo.", WINDOWS_1250),
            ("Při práci.", WINDOWS_1250),
            ("A gép nagyon jó ősszel.", WINDOWS_1250),
            ("Насос", WINDOWS_1251),
            ("Насос", KOI8_R),
            ("水泵", GBK),
            ("水泵", BIG5),
            ("ポンプ", SHIFT_JIS),
            ("ポンプ", EUC_JP),
        ] {
            let (bytes, _, replaced) = encoding.encode(text);
            assert!(!replaced, "{text}");
            assert_eq!(western(&bytes), None, "{text}");
        }
        assert_eq!(western("ä".repeat(99).as_bytes()), None);
    }

    #[test]
    fn slavic_words_are_not_certain() {
        for text in [
            "Zwierzęta w zoo.",
            "Tętno pacjenta.",
            "Chętnie to zrobimy.",
            "Specifični zahtjevi.",
            "Pomočnik.",
            "Dĺžka.",
            "Zmena účtu a hlavičky.",
            "Cena je 5 Kč. Tel. č. 12.",
            "Na krabičce.",
            "Buďte tam.",
            "Loďka.",
            "Kuchyňa.",
        ] {
            let (bytes, _, replaced) = WINDOWS_1250.encode(text);
            assert!(!replaced, "{text}");
            assert!(!matches!(western(&bytes), Some(Western::Signs | Western::Certain)), "{text}");
        }
    }

    #[test]
    fn bytes_that_touch() {
        assert!(is_scattered(b"5 \xb5m, \xb13") && !is_scattered(b"x\xb5\xb5"));
        assert!(has_pairs(b"\x83e") && has_pairs(b"\xa4@") && !has_pairs(b"5 \xb5m, caf\xe9. \x93It\x94"));
    }
}
