#![allow(clippy::unwrap_used, clippy::expect_used)]
use proptest::prelude::*;
use tantivy::tokenizer::{AsciiFoldingFilter, Language as Algorithm, LowerCaser, RawTokenizer, Stemmer};
use unicode_normalization::UnicodeNormalization;

use super::*;

fn words(text: &str) -> Vec<(String, usize, usize)> {
    let mut analyzer = text_analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut found = Vec::new();
    while stream.advance() {
        let token = stream.token();
        found.push((token.text.clone(), token.offset_from, token.offset_to));
    }
    found
}

fn texts(text: &str) -> Vec<String> {
    words(text).into_iter().map(|w| w.0).collect()
}

#[test]
fn words_are_folded_and_stemmed() {
    assert_eq!(texts("The Cafés' RUNNING-costs (v2.1)"), ["the", "cafe", "run", "cost", "v2", "1"]);
    assert_eq!(words("é run").last(), Some(&("run".to_owned(), 3, 6)));
}

#[test]
fn unspaced_scripts_become_pairs() {
    assert_eq!(texts("日本語 text 字"), ["日本", "本語", "text", "字"]);
    assert_eq!(texts("abc漢字def"), ["abc", "漢字", "def"]);
}

#[test]
fn endless_words_are_left_out() {
    assert_eq!(texts(&format!("a {} b", "x".repeat(1_000_000))), ["a", "b"]);
}

/// The same by tantivy's own filters, one word at a time.
fn plainly(text: &str) -> Vec<String> {
    let filters = |tokenizer| TextAnalyzer::builder(tokenizer).filter(LowerCaser).filter(AsciiFoldingFilter);
    let mut analyzer = filters(RawTokenizer::default()).filter(Stemmer::new(Algorithm::English)).build();
    let mut stem = |word: &str| {
        let mut stream = analyzer.token_stream(word);
        assert!(stream.advance());
        stream.token().text.clone()
    };
    words(text).into_iter().map(|(_, from, to)| stem(&text[from..to])).collect()
}

#[test]
fn what_is_remembered_is_what_tantivy_makes() {
    let long = "internationalisationalismically".repeat(3);
    let once = format!("Running runs RAN cafés ÇA Straße ﬁne {long} İstanbul ǅ ΣΑΣ x1 ß 日本語 easily generously");
    // More words than are remembered, and each of them twice.
    let many: String = (0..40_000).map(|i| format!("walks{i} walking{} ", i / 2)).collect();
    for text in [format!("{once} {once}"), format!("{many}{many}{once}")] {
        assert_eq!(texts(&text), plainly(&text));
    }
}

proptest! {
    #[test]
    fn any_text_gives_tantivys_words(text in "[a-cA-C\u{e0}-\u{fc} ing]{0,80}|\\PC{0,60}") {
        prop_assert_eq!(texts(&text), plainly(&text));
    }

    #[test]
    fn offsets_name_the_source(text in "\\PC{0,60}") {
        let mut last = 0;
        for (_, from, to) in words(&text) {
            prop_assert!(text.get(from..to).is_some_and(|w| !w.is_empty()));
            prop_assert!(from >= last);
            last = from;
        }
    }
}

fn of(language: Language, text: &str) -> Vec<String> {
    let mut words = Vec::new();
    LanguageAnalyzer::default().analyze(text, language, &mut |word| words.push(word.text.to_owned()));
    words
}

#[test]
fn each_language_has_its_stems() {
    let same = [
        (Language::German, "die Häuser, des Hauses", "die haus des haus"),
        (Language::German, "Mühlen Muehle MÜHLE", "muhl muhl muhl"),
        (Language::German, "Straßen Strasse neue Quellen", "strass strass neu quell"),
        (Language::French, "régler", "regl"),
        (Language::Spanish, "bibliotecas biblioteca", "bibliotec bibliotec"),
        (Language::Russian, "указатели указателя", "указател указател"),
        (Language::Other, "Żółte RUNNING", "zolte running"),
    ];
    for (language, text, stems) in same {
        assert_eq!(of(language, text).join(" "), stems, "{language}: {text}");
    }
    for (language, one, other) in [
        (Language::Turkish, "IŞIKLAR İŞ", "ışıklar iş"),
        (Language::French, "Réglages", "reglage"),
        (Language::Swedish, "kvarnar", "kvarnen"),
        (Language::Dutch, "fabrieken", "fabriek"),
    ] {
        assert_eq!(of(language, one), of(language, other), "{language}: {one}, {other}");
    }
    for language in Language::all() {
        assert_eq!(of(language, "x1 42"), ["x1", "42"], "{language}");
    }
}

#[test]
fn dictionaries_find_the_words_of_texts_in_any_language() {
    for language in [Language::Japanese, Language::English, Language::German] {
        assert_eq!(of(language, "索引を作る API。"), ["索引", "を", "作る", "api"]);
    }
    assert_eq!(of(Language::Japanese, "サーバーとサーバ、ＡＰＩ"), ["サーバ", "と", "サーバ", "api"]);
    // What the dictionary does not know is given in pairs, as in the middle of a sentence.
    assert_eq!(of(Language::Japanese, "除湿機を動かす")[..3], ["除湿", "湿機", "を"]);
    assert_eq!(of(Language::Thai, "ก่อนสร้างดัชนี"), ["ก่อน", "สร้าง", "ดัชนี"]);
    assert_eq!(of(Language::Korean, "색인을 abc漢字"), ["색인", "인을", "abc", "漢字"]);
}

#[test]
fn english_words_are_those_of_earlier_indexes() {
    let text = "The Cafés' RUNNING-costs (v2.1) generously, ÇA Straße ﬁne";
    assert_eq!(of(Language::English, text), texts(text));
}

/// Everything that an analyzer says of the words of a stored text.
fn all_of(analyzer: &dyn Analyzer, language: Language, text: &str) -> Vec<(String, Span, usize)> {
    let mut words = Vec::new();
    analyzer.analyze_stored(text, language, &mut |word| words.push((word.text.to_owned(), word.span, word.position)));
    words
}

fn stored(language: Language, text: &str) -> Vec<String> {
    all_of(&LanguageAnalyzer::default(), language, text).into_iter().map(|(word, ..)| word).collect()
}

proptest! {
    #[test]
    fn plain_texts_have_the_words_that_they_had(text in "([ -~]|[a-zäéß ]{1,8}|[–“”…€索引をก]){0,60}", n in 0usize..26) {
        let language = Language::all().nth(n).unwrap();
        let words = |rules| -> Vec<(String, usize, usize, usize)> {
            let mut tokenizer = WordTokenizer::by(rules, language);
            let mut stream = tokenizer.token_stream(&text);
            let mut words = Vec::new();
            while let Some(token) = stream.next() {
                words.push((token.text.clone(), token.offset_from, token.offset_to, token.position));
            }
            words
        };
        prop_assert_eq!(words(Rules::Composed), words(Rules::Source));
        if language == Language::English {
            prop_assert_eq!(words(Rules::Stored), words(Rules::Source));
        }
    }
}

#[test]
fn words_have_their_marks() {
    for (text, words) in [
        ("प्रेम, प्रकार", vec!["प्रेम", "प्रकार"]),
        ("தமிழ் மொழி", vec!["தமிழ்", "மொழி"]),
        ("за\u{301}мок", vec!["замок"]),
        ("1\u{fe0f}\u{20e3} step", vec!["1", "step"]),
    ] {
        assert_eq!(of(Language::Other, text), words);
    }
}

#[test]
fn letters_and_their_marks_are_the_words_that_they_make() {
    for (language, text) in [
        (Language::German, "Die Mühle für Öl"),
        (Language::Other, "Tiếng Việt"),
        (Language::Korean, "물과 색인을"),
        (Language::Japanese, "ガイドでバスが"),
        (Language::Russian, "Йод мой"),
    ] {
        let apart: String = text.nfd().collect();
        assert_ne!(apart, text);
        assert_eq!(of(language, &apart), of(language, text));
        // The bytes are those of the source.
        let spans = |text: &str| -> Vec<String> {
            let words = all_of(&LanguageAnalyzer::default(), language, text);
            words.into_iter().map(|(_, span, _)| span.of(text).nfc().collect()).collect()
        };
        assert_eq!(spans(&apart), spans(text));
    }
    assert!(LanguageAnalyzer::default().is_stop_word("fu\u{308}r", Language::German));
}

#[test]
fn what_is_not_seen_cuts_no_word() {
    for joiner in ['\u{ad}', '\u{2060}', '\u{200c}', '\u{200d}'] {
        assert_eq!(of(Language::English, &format!("Silben{joiner}trennung")), of(Language::English, "Silbentrennung"));
    }
    assert_eq!(of(Language::English, "left\u{200b}right"), ["left", "right"]);
}

#[test]
fn katakana_of_half_width_are_katakana() {
    assert_eq!(of(Language::Japanese, "ｻｰﾊﾞｰのｶﾞｲﾄﾞ"), of(Language::Japanese, "サーバーのガイド"));
}

#[test]
fn russian_words_are_written_with_either_letter() {
    assert_eq!(of(Language::Russian, "Ёлки съёмка"), of(Language::Russian, "Елки съемка"));
}

#[test]
fn stored_words_are_found_with_their_accents_and_without() {
    for (language, text, bare) in [
        (Language::Spanish, "configuración", "configuracion"),
        (Language::Portuguese, "organização", "organizacao"),
        (Language::Italian, "qualità", "qualita"),
        (Language::Romanian, "informații", "informatii"),
        (Language::Turkish, "ışıklar", "isiklar"),
    ] {
        let [with, without] = [text, bare].map(|word| of(language, word).remove(0));
        assert_ne!(with, without, "{language}");
        let words = all_of(&LanguageAnalyzer::default(), language, &format!("a {text} 1"));
        let held: Vec<(&str, usize)> = words.iter().map(|(word, _, position)| (word.as_str(), *position)).collect();
        assert_eq!(held[1..3], [(with.as_str(), 1), (without.as_str(), 1)], "{language}");
        assert_eq!(held.last(), Some(&("1", 2)), "{language}");
    }
    assert_eq!(stored(Language::Spanish, "casas año"), of(Language::Spanish, "casas año"), "one form is enough");
}

#[test]
fn korean_words_are_found_by_their_first_syllable() {
    assert_eq!(stored(Language::Korean, "물과 불을 색인은"), ["물과", "물", "불을", "불", "색인", "색", "인은"]);
    assert_eq!(of(Language::Korean, "물과 물"), ["물과", "물"]);
}

#[test]
fn the_words_of_earlier_indexes_are_what_they_were() {
    let analyzer = analyzer_named("pericope-2").unwrap();
    let words = |language, text| -> Vec<String> {
        all_of(analyzer.as_ref(), language, text).into_iter().map(|(word, ..)| word).collect()
    };
    assert_eq!(words(Language::German, "Mu\u{308}hle Sil\u{ad}be"), ["mu", "hle", "sil", "be"]);
    assert_ne!(words(Language::Russian, "ёлка"), words(Language::Russian, "елка"));
    assert_eq!(words(Language::Korean, "물과"), ["물과"]);
    assert_eq!(words(Language::Spanish, "configuración"), of(Language::Spanish, "configuración"));
}

proptest! {
    #[test]
    fn offsets_name_the_source_in_every_language(
        text in "(\\PC|[ぁ-ん一-龯가-힣ก-ฮ่้ a-zä\u{300}-\u{308}\u{ad}ｦ-ﾟ\u{1100}-\u{1175}]){0,60}",
        n in 0usize..26,
    ) {
        let language = Language::all().nth(n).unwrap();
        let words = all_of(&LanguageAnalyzer::default(), language, &text);
        let mut last = None;
        for (_, span, position) in &words {
            assert!(text[span.start..span.end].contains(char::is_alphanumeric));
            match last {
                // A further form of the same word.
                Some((at, before)) if at == *position => assert!(span.start >= before),
                Some((at, before)) => assert!(*position == at + 1 && span.start >= before),
                None => assert_eq!(*position, 0),
            }
            last = Some((*position, span.start));
        }
        // Through tantivy it is the same.
        let mut through = Vec::new();
        let mut analyzer = TextAnalyzer::from(HintedTokenizer::by(Rules::Stored));
        let text = hinted(&text, language);
        let mut stream = analyzer.token_stream(&text);
        while stream.advance() {
            through.push(stream.token().text.clone());
        }
        prop_assert_eq!(through, words.into_iter().map(|(word, ..)| word).collect::<Vec<_>>());
        // A query has one form of each word.
        let mut position = 0;
        LanguageAnalyzer::default().analyze(without_hint(&text).1, language, &mut |word| {
            assert_eq!(word.position, position);
            position += 1;
        });
    }
}
