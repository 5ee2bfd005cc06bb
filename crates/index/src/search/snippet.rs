//! Which piece of a chunk to show, and what to mark in it.

use std::collections::HashMap;

use pericope_api::Span;
use tantivy::tokenizer::{TextAnalyzer, TokenStream};
use tantivy::{Searcher, Term};

use super::Terms;
use crate::analyzer::text_analyzer;
use crate::sinks::TextIndex;

/// Characters of a snippet.
const WIDTH: usize = 240;
/// What a word counts when the snippet shows it already.
const REPEATED: f64 = 0.1;

/// Marks the words of one query in texts, and says which piece of a text shows most of them.
pub struct Highlighter {
    analyzer: TextAnalyzer,
    /// Number and weight of each analyzed word.
    words: HashMap<String, (usize, f64)>,
}

/// A word of the query in a text: bytes, characters before its first and last byte, which word.
struct Match {
    span: Span,
    chars: (usize, usize),
    word: usize,
    weight: f64,
}

impl Highlighter {
    /// Weights the query's words by their rarity in the index.
    pub(crate) fn new(text: &TextIndex, searcher: &Searcher, terms: &Terms) -> Self {
        let all = searcher.num_docs() as f64;
        let weight = |word: &str| {
            let holders = text.frequency(searcher, &Term::from_field_text(text.fields.text, word)) as f64;
            (1.0 + (all - holders).max(0.0) / (holders + 0.5)).ln().max(1e-3)
        };
        Self::weighted(terms.words().into_iter().map(|word| (word.to_owned(), weight(word))))
    }

    /// For words as [`query_words`](crate::query_words) gives them, each with its weight (above 0): how much it is worth
    /// to show it.
    pub fn weighted(words: impl IntoIterator<Item = (String, f64)>) -> Self {
        let words = words.into_iter().enumerate().map(|(i, (word, weight))| (word, (i, weight))).collect();
        Self { analyzer: text_analyzer(), words }
    }

    /// The piece to show (about 240 characters) and all marks of a text: the query's words, in order, without overlap.
    pub fn mark(&mut self, text: &str) -> (Span, Vec<Span>) {
        let matches = self.matches(text);
        let window = self.best_window(&matches).unwrap_or((Span::new(0, 0), 0));
        let mut highlights: Vec<Span> = Vec::with_capacity(matches.len());
        for found in matches {
            match highlights.last_mut() {
                Some(last) if found.span.start < last.end => last.end = last.end.max(found.span.end),
                _ => highlights.push(found.span),
            }
        }
        (around(text, window.0, WIDTH.saturating_sub(window.1)), highlights)
    }

    fn matches(&mut self, text: &str) -> Vec<Match> {
        let mut matches = Vec::new();
        if self.words.is_empty() {
            return matches;
        }
        let (mut at, mut chars) = (0, 0);
        let mut stream = self.analyzer.token_stream(text);
        while stream.advance() {
            let token = stream.token();
            let Some(&(word, weight)) = self.words.get(token.text.as_str()) else { continue };
            let span = Span::new(token.offset_from, token.offset_to);
            chars += Span::new(at, span.start).of(text).chars().count();
            at = span.start;
            let until = chars + span.of(text).chars().count();
            matches.push(Match { span, chars: (chars, until), word, weight });
        }
        matches
    }

    /// The run of matches within [`WIDTH`] characters that is worth most (the first of equals), and its width.
    fn best_window(&self, matches: &[Match]) -> Option<(Span, usize)> {
        let mut counts = vec![0usize; self.words.len()];
        let (mut value, mut best, mut end) = (0.0, None::<(f64, usize, usize)>, 0);
        let worth = |found: &Match, count: usize| if count == 0 { found.weight } else { found.weight * REPEATED };
        for (start, first) in matches.iter().enumerate() {
            while let Some(next) = matches.get(end).filter(|m| end == start || m.chars.1 <= first.chars.0 + WIDTH) {
                value += worth(next, counts[next.word]);
                counts[next.word] += 1;
                end += 1;
            }
            // A hair's breadth, since sums that should be equal differ by what was added and taken away.
            if best.is_none_or(|(most, ..)| value > most + 1e-9) {
                best = Some((value, start, end));
            }
            counts[first.word] -= 1;
            value -= worth(first, counts[first.word]);
        }
        let (_, start, end) = best?;
        let (first, last) = (matches.get(start)?, matches.get(end - 1)?);
        Some((first.span.hull(&last.span), last.chars.1 - first.chars.0))
    }
}

/// `window` and up to `spare` characters around it, a third of them before, cut between words.
fn around(text: &str, window: Span, spare: usize) -> Span {
    let start = back(text, window.start, spare / 3);
    let used = Span::new(start, window.start).of(text).chars().count();
    let end = forth(text, window.end, spare - used);
    let unused = spare.saturating_sub(used + Span::new(window.end, end).of(text).chars().count());
    // At the end of a text there is more room before.
    let start = if end == text.len() { back(text, window.start, used + unused) } else { start };
    Span::new(start, end).trimmed(text)
}

/// Up to `count` characters to the left of `at`, from the start of a word where there is one.
fn back(text: &str, at: usize, count: usize) -> usize {
    let head = text.get(..at).unwrap_or("");
    let Some((from, _)) = head.char_indices().rev().take(count).last() else { return at };
    if from == 0 || head[..from].ends_with(char::is_whitespace) {
        return from;
    }
    head[from..].find(char::is_whitespace).map_or(from, |space| from + space)
}

/// Up to `count` characters to the right of `at`, to the end of a word where there is one.
fn forth(text: &str, at: usize, count: usize) -> usize {
    let tail = text.get(at..).unwrap_or("");
    let until = tail.char_indices().nth(count).map_or(tail.len(), |(i, _)| i);
    if until == tail.len() || tail[until..].starts_with(char::is_whitespace) {
        return at + until;
    }
    at + tail[..until].rfind(char::is_whitespace).unwrap_or(until)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use proptest::prelude::*;

    use super::*;

    fn highlighter(words: &[(&str, f64)]) -> Highlighter {
        Highlighter::weighted(words.iter().map(|&(w, weight)| (w.to_owned(), weight)))
    }

    #[test]
    fn the_rare_words_are_shown() {
        let filler = "lorem ipsum dolor sit amet ".repeat(20);
        let text = format!("index here. {filler} the index keeps segments of vectors. {filler}");
        let (snippet, marks) = highlighter(&[("index", 1.0), ("segment", 2.0)]).mark(&text);
        assert!(snippet.of(&text).contains("index keeps segments"));
        assert!(snippet.of(&text).chars().count() <= WIDTH);
        assert!(snippet.of(&text).chars().count() > WIDTH - 20);
        let marked: Vec<&str> = marks.iter().map(|m| m.of(&text)).collect();
        assert_eq!(marked, ["index", "index", "segments"]);
    }

    #[test]
    fn without_a_match_the_start_is_shown() {
        let text = format!("First words {}", "and more ".repeat(100));
        let (snippet, marks) = highlighter(&[("zebra", 1.0)]).mark(&text);
        assert_eq!(snippet.start, 0);
        assert!(marks.is_empty() && snippet.len() > 200);
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        let text = "A zebra, at the end: zebras.";
        assert_eq!(highlighter(&[("zebra", 1.0)]).mark(text).0, Span::new(0, text.len()));
    }

    #[test]
    fn overlapping_pairs_are_one_mark() {
        let text = "検索は日本語です";
        let (_, marks) = highlighter(&[("日本", 1.0), ("本語", 1.0)]).mark(text);
        assert_eq!(marks.iter().map(|m| m.of(text)).collect::<Vec<_>>(), ["日本語"]);
    }

    proptest! {
        #[test]
        fn spans_fit_any_text(text in "[a-z日本é \\n.]{0,900}", word in "[a-z]{1,2}") {
            let (snippet, marks) = highlighter(&[(&word, 1.0), ("日本", 2.0)]).mark(&text);
            prop_assert!(text.get(snippet.start..snippet.end).is_some());
            prop_assert!(snippet.of(&text).chars().count() <= WIDTH);
            for pair in marks.windows(2) {
                prop_assert!(pair[0].end <= pair[1].start);
            }
            for mark in marks {
                prop_assert!(!mark.of(&text).is_empty());
            }
        }
    }
}
