#![allow(clippy::unwrap_used)]

use std::fmt::Write as _;
use std::sync::Arc;

use pericope_api::{TokenCounter, TokenMap};
use proptest::prelude::*;

use super::WordPiece;
use crate::tokens::WordPieceCounter;

/// A tokenizer with a small vocabulary of our own, in which some words are whole, some are cut and some unknown.
fn small() -> WordPiece {
    let words = "the cat sat on mat an ##s ##ing ##er un ##know ##n 2 ##0 ##2 20 é e ##e 文 字 か ##か . , ! - ' [ ] \
                 a b c d ##a ##b ##c ##d на ##т $ 한";
    let mut vocabulary = String::from(r#""[PAD]":0,"[UNK]":1,"[CLS]":2,"[SEP]":3,"[MASK]":4"#);
    for (word, id) in words.split_whitespace().zip(5..) {
        write!(vocabulary, ",{}:{id}", serde_json::to_string(word).unwrap()).unwrap();
    }
    let added: Vec<String> = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
        .iter()
        .enumerate()
        .map(|(id, token)| {
            format!(
                r#"{{"id":{id},"content":"{token}","single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":true}}"#
            )
        })
        .collect();
    let text = format!(
        r###"{{"version":"1.0","truncation":{{"max_length":8,"strategy":"LongestFirst","stride":0}},"padding":null,
        "added_tokens":[{}],
        "normalizer":{{"type":"BertNormalizer","clean_text":true,"handle_chinese_chars":true,"strip_accents":null,"lowercase":true}},
        "pre_tokenizer":{{"type":"BertPreTokenizer"}},"post_processor":null,"decoder":null,
        "model":{{"type":"WordPiece","unk_token":"[UNK]","continuing_subword_prefix":"##","max_input_chars_per_word":100,
        "vocab":{{{vocabulary}}}}}}}"###,
        added.join(",")
    );
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tokenizer.json");
    std::fs::write(&path, text).unwrap();
    WordPiece::load(&path).unwrap()
}

/// The real vocabulary, where it is installed.
#[track_caller]
fn minilm() -> Option<WordPiece> {
    let dir = crate::testing::minilm()?;
    Some(WordPiece::load(&dir.file("tokenizer.json")).unwrap())
}

/// Ids and ends by the plain tokenizer.
fn plain(pieces: &WordPiece, text: &str) -> (Vec<u32>, Vec<usize>) {
    let encoding = pieces.tokenizer().encode(text, false).unwrap();
    (encoding.get_ids().to_vec(), encoding.get_offsets().iter().map(|&(_, end)| end).collect())
}

fn check(pieces: &WordPiece, text: &str) {
    let (ids, ends) = plain(pieces, text);
    let encoded = pieces.encode(text, usize::MAX);
    assert_eq!(encoded[1..encoded.len() - 1], ids, "ids of {text:?}");
    let located = pieces.located(text, usize::MAX);
    assert_eq!(located.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids, "located ids of {text:?}");
    assert_eq!(located.iter().map(|(_, range)| range.end).collect::<Vec<_>>(), ends, "located ends in {text:?}");
    assert!(located.iter().all(|(_, range)| range.start <= range.end), "{text:?}");
    let mut own = Vec::new();
    pieces.ends(text, |end| own.push(end));
    assert_eq!(own, ends, "ends in {text:?}");
    assert!(own.is_sorted());
}

const VARIED: &[&str] = &[
    "",
    " \t\r\n",
    "The cat sat on the mat, unknown to the cats.",
    "The CAT's unknowns... 2020-20-2 $2,20!",
    "Éé e\u{301} E\u{301}\u{327} naïve",
    "文字 文字か、か文字。 한국어 한",
    "на нат НАТ \u{422}\u{0}x a\u{200b}b a\u{ad}b",
    "emoji 😀😀 👩\u{200d}💻 cat😀cat",
    "[CLS] cat[SEP] [sep] [MASK][MASK] [ MASK ] [[PAD]]",
    "a≠b ≠\u{338} ;\u{37e} `\u{1fef}",
    "İSTANBUL ß ﬁ Ǆ ǅ K Å",
    "\u{feff}cat\u{2028}cat\u{2029}cat\u{a0}cat\u{3000}cat\u{1680}",
    "العربية مرحبا بالعالم هَذَا",
    "ไทยภาษา हिन्दी नमस्ते বাংলা",
    "豈更車 \u{2f800} \u{20000}",
    "x\u{300}\u{301}\u{302} !\u{301} \u{301} \u{301}\u{301}a",
    "https://example.org/a?b=c&d#e fn main() { let x = vec![0u8; 1 << 20]; }",
];

#[test]
fn equals_the_plain_tokenizer() {
    for pieces in [Some(small()), minilm()].iter().flatten() {
        for text in VARIED {
            check(pieces, text);
        }
        let all = VARIED.join(" ").repeat(3);
        check(pieces, &all);
        let mut characters = String::new();
        for c in (0..0x3_0000).filter_map(char::from_u32).filter(|c| !matches!(c, '\u{b}' | '\u{c}' | '\u{85}')) {
            characters.push(c);
            if characters.chars().count() == 90 {
                check(pieces, &characters);
                characters.clear();
            }
        }
    }
}

#[test]
fn truncation_keeps_the_first_tokens() {
    let pieces = small();
    let text = "the cat sat on the mat ".repeat(100);
    let all = pieces.encode(&text, usize::MAX);
    assert_eq!(all.len(), 602);
    let cut = pieces.encode(&text, 256);
    assert_eq!(cut.len(), 256);
    assert_eq!(cut[..255], all[..255]);
    assert_eq!(cut[255], 3);
    assert_eq!(pieces.encode("", 256), [2, 3]);
}

#[test]
fn a_word_without_end_counts_by_its_bytes() {
    let pieces = Arc::new(small());
    let counter = WordPieceCounter::new(Arc::clone(&pieces));
    assert_eq!(counter.count(&"a".repeat(100)), 100);
    assert_eq!(counter.count(&"a".repeat(101)), 26);
    assert_eq!(counter.count(&"a".repeat(10_000_000)), 2_500_000);
    let wide = "か".repeat(1_001);
    let mut ends = Vec::new();
    counter.token_ends(&wide, &mut ends);
    assert_eq!(ends.len(), 751);
    assert!(ends.iter().all(|&end| wide.is_char_boundary(end)) && ends.is_sorted());
    assert_eq!(ends.last(), Some(&wide.len()));
    // The model itself reads one unknown token.
    assert_eq!(pieces.encode(&"a".repeat(101), 256), [2, 1, 3]);
    assert_eq!(pieces.encode(&wide, 256), [2, 1, 3]);
    // A hundred letters under three accents each are still a word.
    assert_eq!(pieces.encode(&"a\u{301}\u{302}\u{303}".repeat(100), 256).len(), 102);
}

proptest! {
    #[test]
    fn additive_over_white_space(left in "\\PC{0,40}", right in ".{0,40}", white in "[ \\t\\n\\x0b\\x0c\u{85}\u{2003}]") {
        let counter = WordPieceCounter::new(Arc::new(small()));
        let whole = format!("{left}{white}{right}");
        prop_assert_eq!(counter.count(&whole), counter.count(&left) + counter.count(&right));
        let map = TokenMap::new(&whole, &counter);
        prop_assert_eq!(map.ends().len(), counter.count(&whole));
    }

    #[test]
    fn equals_the_plain_tokenizer_on_any_text(text in "([a-dA-D ]|[the cats]|[\u{b5}-\u{17f}]|[\u{300}-\u{310}]|[文字か한]|[\\[\\]CLSEPMASK]|.){0,60}") {
        prop_assume!(!text.contains(['\u{b}', '\u{c}', '\u{85}']));
        check(&small(), &text);
    }
}
