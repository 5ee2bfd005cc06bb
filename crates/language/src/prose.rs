use crate::english::says_nothing;
use crate::{Language, SAMPLE_BYTES, detect, is_function_word};

/// Words from which on a text is English without further questions, where one in [`ENGLISH_ONE_IN`] of them says so.
const ENOUGH: usize = 128;
/// English prose has one English function word of several letters in two to three words, documentation of options and names one
/// in four; in texts of its neighbours (Danish, Dutch, Norwegian, Portuguese) it is less than one in ten.
const ENGLISH_ONE_IN: usize = 4;
/// A text in another alphabet that has so many among its words quotes that alphabet.
const QUOTED_ONE_IN: usize = 8;
/// A text in Latin letters has at least one function word of its own language in so many words: prose of any of them has three times
/// as many.
const OWN_ONE_IN: usize = 16;
/// And at least so many: a title of five words holds one by chance.
const OWN_LEAST: usize = 3;

/// Returns the language in which the words of a text, given in parts, are to be compared: English, unless the text is clearly in
/// another one.
///
/// The first [`SAMPLE_BYTES`] are looked at, or less: it costs next to nothing where the text is English. Another language is one that
/// [`detect`] names, and whose function words show: more of them than English ones. Where the alphabet tells (Greek, Russian,
/// Japanese), it is enough that there are hardly any English ones. Code, names, numbers, texts of a few words, and languages in
/// Latin letters that have no stemmer count as English.
///
/// ```
/// use pericope_language::{Language, prose_language};
///
/// let german = ["Die Werkstatt öffnet um acht Uhr,", "und die Maschinen werden vor dem Einschalten geprüft."];
/// assert_eq!(prose_language(german), Language::German);
/// assert_eq!(prose_language(["set path none", "Linux, Windows, Berlin, Paris"]), Language::English);
/// ```
#[must_use]
pub fn prose_language<S: AsRef<str>>(parts: impl IntoIterator<Item = S>) -> Language {
    let mut sample = String::new();
    let (mut words, mut english, mut lower) = (0, 0, String::new());
    for part in parts {
        if sample.len() >= SAMPLE_BYTES {
            break;
        }
        let part = part.as_ref();
        // One part may be a book.
        let part = &part[..part.floor_char_boundary((SAMPLE_BYTES - sample.len()).min(part.len()))];
        for word in runs(part) {
            words += 1;
            english += usize::from(is_one(word, &mut lower, says_nothing));
            if words >= ENOUGH && english * ENGLISH_ONE_IN >= words {
                return Language::English;
            }
        }
        sample.push_str(part);
        sample.push(' ');
    }
    if english * ENGLISH_ONE_IN >= words {
        return Language::English;
    }
    let Some(found) = detect(&sample) else { return Language::English };
    let shows = match found {
        Language::English | Language::Other => false,
        _ if is_latin(found) => {
            let listed = |word: &str| is_function_word(word, found);
            let own = runs(&sample).filter(|word| is_one(word, &mut lower, listed)).count();
            own >= OWN_LEAST && own * OWN_ONE_IN >= words && own > english
        }
        _ => english * QUOTED_ONE_IN < words,
    };
    if shows { found } else { Language::English }
}

/// What stands between white space, without the marks around it.
fn runs(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split_whitespace().map(|run| run.trim_matches(|c: char| !c.is_alphanumeric()));
    runs.filter(|run| !run.is_empty())
}

/// True for a word of several letters that is on a list. Single letters are on the lists of all languages.
fn is_one(word: &str, lower: &mut String, listed: impl Fn(&str) -> bool) -> bool {
    if word.len() < 2 || word.chars().nth(1).is_none() {
        return false;
    }
    lower.clear();
    lower.extend(word.chars().flat_map(char::to_lowercase));
    listed(lower.as_str())
}

/// True for languages in the letters that English has.
fn is_latin(language: Language) -> bool {
    matches!(
        language,
        Language::Danish
            | Language::Dutch
            | Language::English
            | Language::Finnish
            | Language::French
            | Language::German
            | Language::Hungarian
            | Language::Italian
            | Language::Norwegian
            | Language::Portuguese
            | Language::Romanian
            | Language::Spanish
            | Language::Swedish
            | Language::Turkish
    )
}

#[cfg(test)]
mod tests {
    use super::prose_language;
    use crate::{Language, SAMPLE_BYTES};

    fn of(text: &str) -> Language {
        prose_language([text])
    }

    #[test]
    fn function_words_show_the_language() {
        for (language, text) in [
            (Language::German, "Bevor ein Verzeichnis entsteht, wird jedes Schriftstück in Abschnitte geteilt."),
            (Language::French, "Avant de construire un index, on découpe chaque document en passages autonomes."),
            (
                Language::Spanish,
                "Antes de crear un índice, cada documento se divide en pasajes que se entienden solos.",
            ),
            (Language::Russian, "Прежде чем строить указатель, каждый документ делят на самостоятельные части."),
            (Language::Japanese, "索引を作る前に、文書を見出しごとに分けます。APIの説明も同じです。"),
            (Language::Chinese, "建立索引之前，先按标题把文档分成段落。"),
            (Language::Korean, "색인을 만들기 전에 문서를 제목별로 나눕니다."),
            (Language::Thai, "ก่อนสร้างดัชนีต้องแบ่งเอกสารออกเป็นส่วนตามหัวข้อ"),
        ] {
            assert_eq!(of(text), language, "{text}");
        }
    }

    #[test]
    fn what_is_unclear_is_english() {
        let names = "Lorenzo Bianchi, Giulia Romano, Matteo Esposito, Francesca Colombo, Alessandro Ricci; ".repeat(8);
        let options =
            "prefix suffix --verbose libssl kubectl namespace configmap ingress replicas tolerations ".repeat(40);
        let japanese = "見出し、段落、文書、索引";
        let quoted =
            format!("The words for heading, paragraph, document and index are {japanese}, as they are in the table.");
        let polish = "Przed utworzeniem indeksu każdy dokument dzieli się na samodzielne fragmenty.";
        for text in ["", "42", "OK", "1 2 3, 4. 5", &names, &options, &quoted, polish] {
            assert_eq!(of(text), Language::English, "{text}");
        }
    }

    #[test]
    fn english_with_much_of_another_language_is_english() {
        let english =
            "Every phrase below is read aloud before the next one is shown, and then it is said by the whole class. ";
        let phrases = "Wie geht es Ihnen? Wo ist der Bahnhof? Können Sie mir bitte helfen? Ich möchte nach München. ";
        assert_eq!(of(&format!("{english}{phrases}").repeat(20)), Language::English);
        assert_eq!(of(&phrases.repeat(20)), Language::German);
    }

    #[test]
    fn the_parts_of_a_text_are_its_beginning() {
        let german = "Die Mühle steht am Bach, und das Rad wird vom Wasser gedreht. ";
        let english = "The mill stands by the brook, and its wheel is turned by the water. ";
        let after = [german.repeat(SAMPLE_BYTES / german.len() + 1), english.repeat(1000)];
        assert_eq!(prose_language(&after), Language::German);
        assert_eq!(prose_language([english.repeat(1000), german.repeat(1000)]), Language::English);
        assert_eq!(prose_language(german.repeat(5).split_inclusive(' ')), Language::German);
    }
}
