#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;

use pericope_api::Span;
use pericope_encode::Base;

use super::{PairOptions, Running, pairs_of, path};
use crate::corpus::Record;
use crate::training::judge::data::JudgeText;

fn base() -> Base {
    Base::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/training").display().to_string()).unwrap()
}

fn record() -> Record {
    let line = br#"{"id":"d","title":"T","sentences":["bread flour oven salt dough bread.","flour oven.","violin tune chord score tempo tune.",
        "tune chord.","ridge snow ice rope climb summit."],"boundaries":[2,4],"levels":[1,2],"headings":["Bread","Tune","Ridge > Snow"]}"#;
    Record::parse(line).unwrap()
}

const OPTIONS: PairOptions = PairOptions { headings: 9, sentences: 9, block: 9, query: 20, seed: 3 };

#[test]
fn headings_and_sentences_ask_for_their_sections() {
    let base = base();
    let record = record();
    let running = Running::of(&record);
    assert_eq!(running.text.lines().count(), 5);
    let found = pairs_of(&record, &base.tokens, &OPTIONS);
    assert_eq!(found, pairs_of(&record, &base.tokens, &OPTIONS));
    let (headings, sentences): (Vec<_>, Vec<_>) = found.iter().partition(|one| one.replaced.is_empty());
    // Three sections; of the sentences that ask, the last has nothing beside it.
    assert_eq!((headings.len(), sentences.len()), (3, 2));
    for one in &headings {
        let answer = one.answer.unwrap();
        assert_eq!((answer.first.0, answer.last.0), (one.relevant[0], *one.relevant.last().unwrap()));
        assert_eq!(answer.first.1, 0);
        assert_eq!(answer.last.1 + 1, one.ids(answer.last.0).len());
    }
    for one in &sentences {
        assert!(one.answer.is_none() && !one.relevant.is_empty());
        // What asks is no part of what answers.
        let left: Vec<u32> = one.all().flatten().copied().collect();
        assert!(!left.windows(one.query.len()).any(|window| window == one.query));
        assert!(one.relevant.iter().all(|&i| !one.ids(i).is_empty()));
    }
    let few = pairs_of(&record, &base.tokens, &PairOptions { headings: 1, sentences: 1, ..OPTIONS });
    assert_eq!(few.len(), 2);
    let one_section = Record { boundaries: vec![], levels: vec![], headings: vec![], ..record };
    assert!(pairs_of(&one_section, &base.tokens, &OPTIONS).is_empty());
}

#[test]
fn a_path_has_the_headings_above() {
    let record = record();
    assert_eq!(path(&record, 1), ["T", "Tune"]);
    assert_eq!(path(&record, 2), ["T", "Tune", "Ridge", "Snow"]);
}

#[test]
fn answers_are_found_among_the_tokens() {
    let base = base();
    let text = "bread flour oven. salt dough bread. violin tune chord score.";
    let cut = JudgeText::new(text, &base.tokens, 8);
    let at = |word: &str| text.find(word).unwrap();
    let gold = Span::new(at("dough"), at("tune") + 4);
    let asked = cut.question("salt", &[gold], 9).unwrap();
    let answer = asked.answer.unwrap();
    let all: Vec<u32> = asked.all().flatten().copied().collect();
    let place = |(block, token): (usize, usize)| (0..block).map(|i| asked.ids(i).len()).sum::<usize>() + token;
    let own = &all[place(answer.first)..=place(answer.last)];
    assert_eq!(own, base.tokens.ids(gold.of(text), 99));
    assert_eq!(cut.question("", &[gold], 9), None);
    assert_eq!(cut.question("salt", &[], 9), None);
    let words = Arc::clone(&base.tokens);
    assert_eq!(JudgeText::new("", &words, 8).question("salt", &[gold], 9), None);
}
