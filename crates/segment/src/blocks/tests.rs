#![allow(clippy::unwrap_used)]

use pericope_api::{Span, TokenCounter, TokenMap};
use proptest::prelude::*;

use super::super::places::{CUT, Place, places};
use super::{blocks, ends};
use crate::counters::WordCounter;

fn texts(text: &str, limit: usize) -> Vec<&str> {
    blocks(text, &WordCounter, limit).into_iter().map(|span| span.of(text)).collect()
}

#[test]
fn cuts_fall_where_they_cost_least() {
    // A line end before a sentence's, that before a comma, that before any other space.
    assert_eq!(texts("a b c. d\ne f g, h i", 6), ["a b c. d", "e f g, h i"]);
    assert_eq!(texts("a b. c, d e f", 6), ["a b.", "c, d e f"]);
    assert_eq!(texts("a b, c d e f", 5), ["a b,", "c d e f"]);
    assert_eq!(texts("(a \"b.\") c, d", 7), ["(a \"b.\")", "c, d"]);
    // One cut more is dearer than one at a worse place.
    assert_eq!(texts("a. b c d, e f. g", 7), ["a. b c d,", "e f. g"]);
    assert_eq!(texts("a b c", 9), ["a b c"]);
    assert_eq!(texts(" \n\t ", 9), [""; 0]);
    assert_eq!(texts("", 0), [""; 0]);
}

#[test]
fn text_without_spaces_is_cut_at_its_marks() {
    assert_eq!(texts("你好世界。很大，很好吧", 7), ["你好世界。", "很大，很好吧"]);
    assert_eq!(texts("3.14foo/bar", 99), ["3.14foo/bar"]);
    // A run without any mark, of 300 tokens.
    let run = "x".repeat(1_200);
    let found = texts(&run, 63);
    assert!(found.iter().all(|text| WordCounter.count(text) <= 63) && found.concat() == run, "{}", found.len());
}

#[test]
fn time_is_linear_in_a_run_that_never_ends() {
    // In the square of their length these take minutes.
    for run in [")".repeat(200_000), format!("e{}", "\u{301}".repeat(50_000)), "👩\u{200d}".repeat(30_000)] {
        assert_eq!(texts(&run, 63).concat(), run);
    }
}

/// Counts a token for every two bytes of a word, begun anew in each text: cut words have more tokens than whole ones.
struct Pairs;

impl TokenCounter for Pairs {
    fn name(&self) -> &str {
        "pairs"
    }

    fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
        let mut start = 0;
        for (at, c) in text.char_indices().chain([(text.len(), ' ')]) {
            if c.is_whitespace() {
                let word = at - start;
                ends.extend((0..word.div_ceil(2)).map(|i| (start + 2 * i + 2).min(at)));
                start = at + c.len_utf8();
            }
        }
    }
}

/// The least sum of costs of all ways to cut at these places, by trying all.
fn least(places: &[Place], limit: usize) -> Option<u64> {
    let inner = places.len().saturating_sub(1);
    let cost = |chosen: u32| {
        let (mut before, mut sum) = (0, 0);
        for (i, place) in places.iter().enumerate() {
            let is_cut = i < inner && chosen >> i & 1 == 1;
            if is_cut || i == inner {
                if place.tokens - before > limit {
                    return None;
                }
                before = place.tokens;
                sum += if is_cut { CUT + place.cost } else { 0 };
            }
        }
        Some(sum)
    };
    (0..1u32 << inner).filter_map(cost).min()
}

proptest! {
    /// Everything is covered once, in order, and no block is longer than asked for.
    #[test]
    fn blocks_cover_the_text_within_the_limit(
        text in "([a-d,.?!]{0,9}|[文字か。、]{0,12}|[ \n]{1,3}|\\PC){0,40}", limit in 0usize..20, pairs in any::<bool>(),
    ) {
        let counter: &dyn TokenCounter = if pairs { &Pairs } else { &WordCounter };
        let mut before = 0;
        for span in blocks(&text, counter, limit) {
            let block = text.get(span.start..span.end).unwrap();
            prop_assert!(!block.is_empty() && block.trim() == block);
            prop_assert!(text[before..span.start].trim().is_empty());
            let one = block.chars().count() == 1;
            prop_assert!(counter.count(block) <= limit.max(1) || one, "{:?} of {:?}", block, text);
            before = span.end;
        }
        prop_assert!(text[before..].trim().is_empty());
    }

    /// No other way to cut at the same places costs less.
    #[test]
    fn no_cut_is_cheaper(words in prop::collection::vec("[ab]{1,3}[.,]?[ \n]", 1..14), limit in 1usize..12) {
        let text = words.concat();
        let tokens = TokenMap::new(&text, &WordCounter);
        let limit = limit.max(2);
        let places = places(&text, &tokens, limit, &[]);
        let chosen = ends(&places, limit);
        let mut from = 0;
        for &end in &chosen {
            prop_assert!(tokens.count(Span::new(from, end)) <= limit);
            from = end;
        }
        let is_cut = |place: &&Place| chosen.contains(&place.at) && place.at != *chosen.last().unwrap();
        let cost: u64 = places.iter().filter(is_cut).map(|place| CUT + place.cost).sum();
        prop_assert_eq!(Some(cost), least(&places, limit));
    }
}
