#![allow(clippy::unwrap_used, clippy::expect_used)]
use proptest::prelude::*;
use tantivy::tokenizer::{AsciiFoldingFilter, Language as Algorithm, LowerCaser, RawTokenizer, Stemmer};

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

proptest! {
    #[test]
    fn offsets_name_the_source_in_every_language(text in "(\\PC|[ぁ-ん一-龯가-힣ก-ฮ่้ a-zä]){0,60}", n in 0usize..26) {
        let language = Language::all().nth(n).unwrap();
        let (mut last, mut position) = (0, None);
        LanguageAnalyzer::default().analyze(&text, language, &mut |word| {
            let source = &text[word.span.start..word.span.end];
            assert!(source.contains(char::is_alphanumeric) && word.span.start >= last);
            assert_eq!(word.position, position.map_or(0, |before: usize| before + 1));
            (last, position) = (word.span.start, Some(word.position));
        });
        // Through tantivy it is the same.
        let mut through = Vec::new();
        let mut analyzer = TextAnalyzer::from(HintedTokenizer::default());
        let text = hinted(&text, language);
        let mut stream = analyzer.token_stream(&text);
        while stream.advance() {
            through.push(stream.token().text.clone());
        }
        prop_assert_eq!(through, of(language, without_hint(&text).1));
    }
}
