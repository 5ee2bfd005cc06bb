#![allow(clippy::unwrap_used, clippy::expect_used)]

use super::{SentenceSplitter, default_splitter};
use crate::work;

fn split<'a>(splitter: &dyn SentenceSplitter, text: &'a str) -> Vec<&'a str> {
    let mut found = Vec::new();
    splitter.split(text, &mut |span| found.push(span.of(text)));
    found
}

fn default(text: &str) -> Vec<&str> {
    split(default_splitter().as_ref(), text)
}

#[test]
fn the_default_has_the_name_of_the_readme() {
    assert_eq!(default_splitter().name(), "icu-refined");
}

#[test]
fn abbreviations_initials_and_numbers_do_not_end_sentences() {
    let whole = [
        "We met Dr. Smith at St. Mary's.",
        "See Fig. 3 and No. 12, e.g. Table 2.",
        "J. R. R. Tolkien wrote it.",
        "Version 2.0.1 costs 3.50 dollars on example.com today.",
        "1. Open the lid.",
        "\"What?\" he asked.",
        "It ran (see v1.Beta) and\nwent on over\nthree lines.",
    ];
    for text in whole {
        assert_eq!(default(text), [text]);
    }
    assert_eq!(default("I said no. Then I left."), ["I said no.", "Then I left."]);
    assert_eq!(default("It was he and I. Then we left."), ["It was he and I.", "Then we left."]);
    assert_eq!(default("He said \"Stop!\" Then he left."), ["He said \"Stop!\"", "Then he left."]);
    assert_eq!(default("So it was . '' Then he left ."), ["So it was . ''", "Then he left ."]);
}

#[test]
fn empty_lines_end_sentences_and_line_ends_do_not() {
    assert_eq!(default("no full stop\n\nNext part"), ["no full stop", "Next part"]);
    assert_eq!(default("no full stop\r\n\r\nNext part"), ["no full stop", "Next part"]);
    assert_eq!(default("one\r\ntwo Dr.\nNo. Three."), ["one\r\ntwo Dr.\nNo.", "Three."]);
}

#[test]
fn scripts_without_spaces_are_split() {
    assert_eq!(default("你好。今天怎么样？很好！"), ["你好。", "今天怎么样？", "很好！"]);
    assert_eq!(default("「行こう。」彼は言った。"), ["「行こう。」", "彼は言った。"]);
    assert_eq!(default("यह एक है। यह दो है।"), ["यह एक है।", "यह दो है।"]);
    assert_eq!(default("Привет. Как дела?"), ["Привет.", "Как дела?"]);
}

#[test]
fn japanese_chinese_and_burmese_sentences_end_at_their_marks() {
    assert_eq!(
        default("工房は朝八時に開きます。機械を使う前に、取扱説明書を読んでください！質問はありますか？"),
        ["工房は朝八時に開きます。", "機械を使う前に、取扱説明書を読んでください！", "質問はありますか？"]
    );
    // What stands in brackets right behind a full stop belongs to the sentence before it (UAX 29, rules SB9 to SB11).
    assert_eq!(
        default("「始めよう。」と言った。（終わり。）次へ。"),
        ["「始めよう。」と言った。（終わり。）", "次へ。"]
    );
    assert_eq!(
        default("图书馆八点开门。Windows 11 也可以。真的吗？"),
        ["图书馆八点开门。", "Windows 11 也可以。", "真的吗？"]
    );
    assert_eq!(default("အလုပ်ရုံ ဖွင့်သည်။ စက် စစ်ပါ။"), ["အလုပ်ရုံ ဖွင့်သည်။", "စက် စစ်ပါ။"]);
    assert_eq!(
        default("រោងជាង\u{200B}បើក\u{200B}ម៉ោង\u{200B}ប្រាំបី។ ពិនិត្យ\u{200B}ម៉ាស៊ីន។"),
        ["រោងជាង\u{200B}បើក\u{200B}ម៉ោង\u{200B}ប្រាំបី។", "ពិនិត្យ\u{200B}ម៉ាស៊ីន។"]
    );
}

#[test]
fn a_japanese_or_chinese_sentence_may_begin_with_a_quote() {
    assert_eq!(
        default("丸のこは危険です。「割刃」は外しません。次に進みます。"),
        ["丸のこは危険です。", "「割刃」は外しません。", "次に進みます。"]
    );
    assert_eq!(
        default("電源を切ります。【注意】次に蓋を開けます。〈図1〉を見てください。［参考］これです。〔注〕あれです。"),
        [
            "電源を切ります。",
            "【注意】次に蓋を開けます。",
            "〈図1〉を見てください。",
            "［参考］これです。",
            "〔注〕あれです。"
        ]
    );
    assert_eq!(default("「行こう！」「はい。」《红楼梦》很好。"), ["「行こう！」", "「はい。」", "《红楼梦》很好。"]);
    assert_eq!(
        default("他走了。“好的。”她说。Yes. 7 more。「次」。"),
        ["他走了。", "“好的。”她说。", "Yes.", "7 more。", "「次」。"]
    );
}

#[test]
fn german_dates_and_abbreviations_do_not_end_sentences() {
    for text in [
        "Am 3. März war er bis zum 12. August 1933 dort, z. B. im Werk.",
        "Es ist verloren, vgl. Abb. 3 im Anhang, i. d. R. bei rd. 40.000 Stück, d. h. immer.",
        "See Smith et al. (2020) and Eq. (4) for it.",
        "La Dra. López vive en Madrid, i. d. R. allein, d. h. Kosten entstehen.",
    ] {
        assert_eq!(default(text), [text]);
    }
    assert_eq!(default("Es waren 3. Die Kiste fehlt."), ["Es waren 3.", "Die Kiste fehlt."]);
    // English has some of these words, too.
    assert_eq!(default("I got 12. August was hot."), ["I got 12.", "August was hot."]);
    assert_eq!(default("He left . August came ."), ["He left .", "August came ."]);
    assert_eq!(default("I met Al. He was nice."), ["I met Al.", "He was nice."]);
    assert_eq!(default("He said no. (2) Then he left."), ["He said no.", "(2) Then he left."]);
    assert_eq!(default("It was he and I. A. Smith knew."), ["It was he and I.", "A. Smith knew."]);
}

/// A text a paragraph, a sentence a line.
#[test]
fn sentences_of_many_languages_are_found() {
    let mut language = "";
    for paragraph in include_str!("languages.txt").split("\n\n") {
        let mut sentences: Vec<&str> = paragraph.lines().collect();
        if let Some(name) = sentences[0].strip_prefix("# ") {
            language = name;
            sentences.remove(0);
        }
        let between = if language.ends_with("without spaces") { "" } else { " " };
        assert_eq!(default(&sentences.join(between)), sentences, "{language}");
    }
}

#[test]
fn english_is_split_as_if_there_were_no_other_language() {
    for (text, sentences) in [
        ("It fell in World War II. Then it rose.", 2),
        ("He wore a cap. Max. and min. are set. I am 12. My name is Tom.", 4),
        ("Use the env. 5 of them are set. It has a gem. Art is long. Close the tab. 3 are left.", 6),
        ("The ul. Then the np. Here DNA. And UL. The end of the list is near.", 5),
        ("See 410 U.S. 113 (1973) and 5 U.S.C. 552 for it.", 1),
        ("He left the U.S. 5 years ago. She stayed.", 3),
        ("The phone has an eSIM. It works. We set o.a. Then m.n. The loop set f.d. A Sigg. I met Örn. He left.", 8),
        ("It is a list. Here α; Β is one. It has a constant κ. Water has another.", 4),
    ] {
        assert_eq!(default(text).len(), sentences, "{:?}", default(text));
    }
}

#[test]
fn text_without_capital_letters_has_sentences_too() {
    let text = "hi. this is tom. how can i help you today? my router (v. 2) keeps rebooting.\nit did not help. is the light \
                green? \"yes?\" he said. it is e.g. red.";
    assert_eq!(
        default(text),
        [
            "hi.",
            "this is tom.",
            "how can i help you today?",
            "my router (v. 2) keeps rebooting.",
            "it did not help.",
            "is the light green?",
            "\"yes?\" he said.",
            "it is e.g. red."
        ]
    );
    let text = "john f. kennedy spoke at 9 a.m. to 5 p.m. in the u.s. and canada, etc. and more. so... i think it was he. who knows? \
                nobody at all.";
    assert_eq!(default(text).len(), 4, "{:?}", default(text));
    // Elsewhere a small letter goes on with the sentence.
    for text in [
        "The Yahoo! page of approx. five words was here, see foo. bar in the file of the same name.",
        "a list item in small letters alone, with sizes, colours etc. and more than eighty letters in all of it",
    ] {
        assert_eq!(default(text), [text]);
    }
    // The end of a long text goes on as it began.
    let long =
        "it rained all day. we stayed in and read the old books again. nobody came. ".repeat(400) + "so it was. yes.";
    assert_eq!(default(&long).len(), 3 * 400 + 2);
}

#[test]
fn a_long_thai_sentence_ends_at_a_space() {
    let clause = "โรงงานเปิดทำการทุกวันตั้งแต่เวลาแปดโมงเช้าจนถึงเวลาห้าโมงเย็นและปิดในวันหยุดราชการ";
    // Short clauses stay together.
    assert_eq!(default("ห้องสมุดเปิดทุกวัน เข้าชมได้ฟรี").len(), 1);
    let text = format!("{clause} {clause} API 2.0 {clause} {clause}");
    let found = default(&text);
    assert!((2..=3).contains(&found.len()), "{found:?}");
    assert!(found.iter().all(|sentence| sentence.ends_with("ราชการ")), "{found:?}");
}

/// Inputs on which a regular expression or a look-ahead could take quadratic time. Each byte is looked at a few times.
#[test]
fn long_and_odd_inputs_take_linear_time() {
    let n = 200_000;
    let inputs = [
        ("no punctuation", "word ".repeat(n / 5)),
        ("no white space", "x".repeat(n)),
        ("full stops", "a. ".repeat(n / 3)),
        ("capital full stops", "A. ".repeat(n / 3)),
        ("bare full stops", ".".repeat(n)),
        ("spaces", format!("a.{}b", " ".repeat(n))),
        ("line ends", format!("a.{}b", "\n".repeat(n))),
        ("carriage returns", format!("a.{}b", "\r".repeat(n))),
        ("brackets", format!("a. {}", "( ".repeat(n / 2))),
        ("closing brackets", format!("a. {}", ") ".repeat(n / 2))),
        ("quotes", "\"".repeat(n)),
        ("commas", format!("a. {}", ", ".repeat(n / 2))),
        ("ideographs", "漢".repeat(n / 3)),
        ("thai", "ก".repeat(n / 3)),
        ("thai words", "กา ".repeat(n / 7)),
        ("closing lines", format!("x.\n{}", ")\n".repeat(n / 2))),
        ("quoted lines", format!("a\n{}", "'\n".repeat(n / 2))),
        ("greek questions", "αβ; Β ".repeat(n / 9)),
        ("tibetan", "ཀ། ".repeat(n / 7)),
        ("ordinal numbers", "der 1. Tag ".repeat(n / 11)),
        ("combining marks", format!("a{}", "\u{301}".repeat(n / 2))),
    ];
    let splitter = default_splitter();
    for (what, text) in &inputs {
        work::take();
        let (mut sentences, mut at) = (0, 0);
        splitter.split(text, &mut |span| {
            assert!(span.start >= at && text[at..span.start].trim().is_empty());
            (sentences, at) = (sentences + 1, span.end);
        });
        assert!(text[at..].trim().is_empty());
        assert!(sentences >= 1);
        let looked = work::take();
        assert!(looked <= 8 * text.len(), "{what}: {looked} bytes for {}", text.len());
    }
}

mod properties {
    use proptest::prelude::*;

    use super::super::icu::Icu;
    use super::super::windows::{BreakFinder, WindowedSplitter};
    use super::super::{SentenceSplitter, default_splitter};

    /// Proposes any offsets at all.
    struct Anywhere(Vec<usize>);

    impl BreakFinder for Anywhere {
        fn find_breaks(&self, _: &str, sink: &mut dyn FnMut(usize)) {
            self.0.iter().copied().for_each(sink);
        }
    }

    fn tile(splitter: &dyn SentenceSplitter, text: &str) -> Result<(), TestCaseError> {
        let mut at = 0;
        splitter.split(text, &mut |span| {
            assert!(text[at..span.start].trim().is_empty(), "{}", splitter.name());
            assert_eq!(span.of(text).trim(), span.of(text));
            assert!(!span.is_empty());
            at = span.end;
        });
        prop_assert!(text[at..].trim().is_empty(), "{}", splitter.name());
        Ok(())
    }

    proptest! {
        #[test]
        fn sentences_tile_any_text(
            text in "(\\PC|[ \n\r.!?…。'\")]){0,80}",
            breaks in proptest::collection::vec(0..120usize, 0..12),
        ) {
            tile(default_splitter().as_ref(), &text)?;
            tile(&WindowedSplitter::new("icu", Icu::new()), &text)?;
            tile(&WindowedSplitter::new("any", Anywhere(breaks.clone())), &text)?;
            tile(&WindowedSplitter::new("any-refined", Anywhere(breaks.clone())).refined(), &text)?;
            let mut ascending = breaks;
            ascending.sort_unstable();
            tile(&WindowedSplitter::new("ascending", Anywhere(ascending.clone())), &text)?;
            tile(&WindowedSplitter::new("ascending-refined", Anywhere(ascending)).refined(), &text)?;
        }
    }
}
