use whatlang::Lang;

use crate::Language;

/// The most of a text that is looked at, in bytes.
pub const SAMPLE_BYTES: usize = 4096;

/// A letter of a script without spaces says as much as so many of an alphabet.
const DENSITY: usize = 3;
/// whatlang is believed where it is sure, and about texts of so many characters always.
const LONG: usize = 200;
/// Japanese has at least one kana in so many letters, Chinese has none.
const KANA_ONE_IN: usize = 20;

/// Letters by the scripts that settle the language.
#[derive(Default)]
struct Scripts {
    han: usize,
    kana: usize,
    hangul: usize,
    thai: usize,
    lao: usize,
    khmer: usize,
    burmese: usize,
    /// Letters of all other scripts.
    other: usize,
}

impl Scripts {
    fn of(text: &str) -> Self {
        let mut found = Self::default();
        for c in text.chars().filter(|c| c.is_alphabetic()) {
            *match c {
                '\u{e00}'..='\u{e7f}' => &mut found.thai,
                '\u{e80}'..='\u{eff}' => &mut found.lao,
                '\u{1000}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aa7f}' => &mut found.burmese,
                '\u{1780}'..='\u{17ff}' => &mut found.khmer,
                '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9f}' => &mut found.kana,
                '\u{3005}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => {
                    &mut found.han
                }
                '\u{20000}'..='\u{323af}' => &mut found.han,
                '\u{1100}'..='\u{11ff}' | '\u{3130}'..='\u{318f}' | '\u{ac00}'..='\u{d7af}' => &mut found.hangul,
                _ => &mut found.other,
            } += 1;
        }
        found
    }

    /// The language that the scripts alone settle.
    fn language(&self) -> Option<Language> {
        let east = self.han + self.kana;
        let eastern = if self.kana * KANA_ONE_IN >= east { Language::Japanese } else { Language::Chinese };
        let all = [
            (east, eastern),
            (self.hangul, Language::Korean),
            (self.thai, Language::Thai),
            (self.lao, Language::Lao),
            (self.khmer, Language::Khmer),
            (self.burmese, Language::Burmese),
        ];
        let total: usize = all.iter().map(|(letters, _)| letters).sum();
        let (_, most) = all.into_iter().max_by_key(|(letters, _)| *letters)?;
        (total > 0 && total * DENSITY >= self.other).then_some(most)
    }
}

/// True where at least one in four runs of characters is a word of two letters or more: numbers, identifiers and single letters
/// are of no language, and whatlang would name one all the same.
fn has_words(text: &str) -> bool {
    let is_word = |run: &str| run.chars().filter(|c| c.is_alphabetic()).count() > 1 && !run.contains(char::is_numeric);
    let (words, runs) =
        text.split_whitespace().fold((0, 0), |(words, runs), run| (words + usize::from(is_word(run)), runs + 1));
    words * 4 >= runs.max(1)
}

/// Returns the language of a text, by the first [`SAMPLE_BYTES`] of it; `None` where they do not say, as a few words
/// seldom do.
///
/// Chinese, Japanese, Korean, Thai, Lao, Khmer and Burmese are known by their scripts; the others by whatlang, where it is
/// sure or the text has 200 characters. Of numbers and identifiers alone nothing is said.
#[must_use]
pub fn detect(text: &str) -> Option<Language> {
    let sample = &text[..text.floor_char_boundary(SAMPLE_BYTES.min(text.len()))];
    if let Some(language) = Scripts::of(sample).language() {
        return Some(language);
    }
    if !has_words(sample) {
        return None;
    }
    let is_long = sample.chars().nth(LONG - 1).is_some();
    let found = whatlang::detect(sample).filter(|found| is_long || found.is_reliable())?;
    Some(match found.lang() {
        Lang::Ara => Language::Arabic,
        Lang::Dan => Language::Danish,
        Lang::Nld => Language::Dutch,
        Lang::Eng => Language::English,
        Lang::Fin => Language::Finnish,
        Lang::Fra => Language::French,
        Lang::Deu => Language::German,
        Lang::Ell => Language::Greek,
        Lang::Hun => Language::Hungarian,
        Lang::Ita => Language::Italian,
        Lang::Nob => Language::Norwegian,
        Lang::Por => Language::Portuguese,
        Lang::Ron => Language::Romanian,
        Lang::Rus => Language::Russian,
        Lang::Spa => Language::Spanish,
        Lang::Swe => Language::Swedish,
        Lang::Tam => Language::Tamil,
        Lang::Tur => Language::Turkish,
        _ => Language::Other,
    })
}

#[cfg(test)]
mod tests {
    use super::detect;
    use crate::Language;

    #[test]
    fn numbers_and_identifiers_are_of_no_language() {
        let table: String = (0..200).map(|i| format!("w{i} {} x ", i * 7)).collect();
        assert_eq!(detect(&table), None);
        assert_eq!(detect(&"1 2 3, 4. ".repeat(100)), None);
        assert_eq!(detect(""), None);
    }

    #[test]
    fn scripts_and_words_say_the_language() {
        let texts = [
            (
                Language::English,
                "Before an index is made, every document is cut into passages that stand on their own.",
            ),
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
            (Language::Lao, "ກ່ອນສ້າງດັດສະນີຕ້ອງແບ່ງເອກະສານ"),
            (Language::Khmer, "មុនពេលបង្កើតលិបិក្រម ត្រូវបែងចែកឯកសារ"),
            (Language::Burmese, "အညွှန်းမလုပ်ခင် စာရွက်စာတမ်းကို ခွဲပါ"),
            (Language::Other, "Przed utworzeniem indeksu każdy dokument dzieli się na samodzielne fragmenty."),
        ];
        for (language, text) in texts {
            assert_eq!(detect(text), Some(language), "{text}");
        }
        for text in ["", "42", "OK", "--- *** ---"] {
            assert_eq!(detect(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_few_foreign_letters_change_nothing() {
        let text = "The Japanese word for an index is 索引, and that for a document is 文書. Both are read from left to right.";
        assert_eq!(detect(text), Some(Language::English));
    }
}
