//! Queries taken apart and texts marked, by the analyzer of an index.

use std::sync::Arc;

use pericope_api::Span;
use pericope_index::EnglishAnalyzer;
use pericope_store::{Clause, Highlighter, Language, SNIPPET_CHARS, Terms, query_words};
use proptest::prelude::*;

fn parse(query: &str) -> Terms {
    Terms::parse(query, &EnglishAnalyzer::default(), &[Language::English])
}

fn word(text: &str) -> Clause {
    Clause::Word(text.into())
}

#[test]
fn a_question_is_its_content_words() {
    let terms = parse("What's the best way to re-index running pods?");
    assert_eq!(terms.clauses, ["best", "way", "index", "run", "pod"].map(word));
    assert_eq!(
        query_words("Where do pods run, \"to the pod\"?", &EnglishAnalyzer::default(), &[Language::English]),
        ["pod", "run", "to", "the"]
    );
}

#[test]
fn stop_words_alone_are_looked_up() {
    assert_eq!(parse("To be or not to be").clauses, ["to", "be", "or", "not"].map(word));
}

#[test]
fn quotes_make_phrases() {
    let phrase = |words: &[(usize, &str)]| Clause::Phrase(words.iter().map(|&(i, w)| (i, w.to_owned())).collect());
    assert_eq!(
        parse("fish \"out of the water\" ?").clauses,
        [word("fish"), phrase(&[(0, "out"), (1, "of"), (2, "the"), (3, "water")])]
    );
    assert_eq!(parse("“who”").clauses, [word("who")]);
    assert_eq!(parse("5\" pipe").clauses, ["5", "pipe"].map(word));
}

proptest! {
    #[test]
    fn no_text_is_an_error(query in "\\PC{0,40}") {
        let terms = parse(&query);
        prop_assert!(terms.clauses.len() <= 256);
    }
}

fn highlighter(words: &[(&str, f64)]) -> Highlighter {
    Highlighter::new(Arc::new(EnglishAnalyzer::default()), words.iter().map(|&(w, weight)| (w.to_owned(), weight)))
}

#[test]
fn the_rare_words_are_shown() {
    let filler = "lorem ipsum dolor sit amet ".repeat(20);
    let text = format!("index here. {filler} the index keeps segments of vectors. {filler}");
    let (snippet, marks) = highlighter(&[("index", 1.0), ("segment", 2.0)]).mark(&text, Language::English);
    assert!(snippet.of(&text).contains("index keeps segments"));
    assert!(snippet.of(&text).chars().count() <= SNIPPET_CHARS);
    assert!(snippet.of(&text).chars().count() > SNIPPET_CHARS - 20);
    let marked: Vec<&str> = marks.iter().map(|m| m.of(&text)).collect();
    assert_eq!(marked, ["index", "index", "segments"]);
}

#[test]
fn without_a_match_the_start_is_shown() {
    let text = format!("First words {}", "and more ".repeat(100));
    let (snippet, marks) = highlighter(&[("zebra", 1.0)]).mark(&text, Language::English);
    assert_eq!(snippet.start, 0);
    assert!(marks.is_empty() && snippet.len() > 200);
}

#[test]
fn a_short_text_is_shown_whole() {
    let text = "A zebra, at the end: zebras.";
    assert_eq!(highlighter(&[("zebra", 1.0)]).mark(text, Language::English).0, Span::new(0, text.len()));
}

#[test]
fn overlapping_pairs_are_one_mark() {
    let text = "検索は日本語です";
    let (_, marks) = highlighter(&[("日本", 1.0), ("本語", 1.0)]).mark(text, Language::English);
    assert_eq!(marks.iter().map(|m| m.of(text)).collect::<Vec<_>>(), ["日本語"]);
}

proptest! {
    #[test]
    fn spans_fit_any_text(text in "[a-z日本é \\n.]{0,900}", word in "[a-z]{1,2}") {
        let (snippet, marks) = highlighter(&[(&word, 1.0), ("日本", 2.0)]).mark(&text, Language::English);
        prop_assert!(text.get(snippet.start..snippet.end).is_some());
        prop_assert!(snippet.of(&text).chars().count() <= SNIPPET_CHARS);
        for pair in marks.windows(2) {
            prop_assert!(pair[0].end <= pair[1].start);
        }
        for mark in marks {
            prop_assert!(!mark.of(&text).is_empty());
        }
    }
}
