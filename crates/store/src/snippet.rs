//! The piece of a chunk to show, and the words to mark in it.

use std::collections::HashMap;
use std::sync::Arc;

use pericope_api::Span;
use pericope_language::Language;

use crate::Analyzer;

/// The number of characters in a snippet, at most, unless the words that it shows are longer.
pub const SNIPPET_CHARS: usize = 240;
/// What a word counts when the snippet shows it already.
const REPEATED: f64 = 0.1;

/// Marks the words of one query in texts, and says which piece of a text shows most of them.
pub struct Highlighter {
    analyzer: Arc<dyn Analyzer>,
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
    /// Returns a highlighter for analyzed words (see [`query_words`](crate::query_words)), each with its weight (above
    /// 0): how much it is worth to show it.
    pub fn new(analyzer: Arc<dyn Analyzer>, words: impl IntoIterator<Item = (String, f64)>) -> Self {
        let words = words.into_iter().enumerate().map(|(i, (word, weight))| (word, (i, weight))).collect();
        Self { analyzer, words }
    }

    /// Returns the piece to show (about 240 characters) and all marks of a text in this language: the query's words, in order,
    /// without overlap.
    #[must_use]
    pub fn mark(&self, text: &str, language: Language) -> (Span, Vec<Span>) {
        let matches = self.matches(text, language);
        let window = self.best_window(&matches).unwrap_or((Span::new(0, 0), 0));
        let mut highlights: Vec<Span> = Vec::with_capacity(matches.len());
        for found in matches {
            match highlights.last_mut() {
                Some(last) if found.span.start < last.end => last.end = last.end.max(found.span.end),
                _ => highlights.push(found.span),
            }
        }
        (around(text, window.0, SNIPPET_CHARS.saturating_sub(window.1)), highlights)
    }

    fn matches(&self, text: &str, language: Language) -> Vec<Match> {
        let mut matches = Vec::new();
        if self.words.is_empty() {
            return matches;
        }
        let (mut at, mut chars) = (0, 0);
        self.analyzer.analyze_stored(text, language, &mut |found| {
            let Some(&(word, weight)) = self.words.get(found.text) else { return };
            let span = found.span;
            chars += Span::new(at, span.start).of(text).chars().count();
            at = span.start;
            let until = chars + span.of(text).chars().count();
            matches.push(Match { span, chars: (chars, until), word, weight });
        });
        matches
    }

    /// The run of matches within [`SNIPPET_CHARS`] characters that is worth most (the first of equals), and its width.
    fn best_window(&self, matches: &[Match]) -> Option<(Span, usize)> {
        let mut counts = vec![0usize; self.words.len()];
        let (mut value, mut best, mut end) = (0.0, None::<(f64, usize, usize)>, 0);
        let worth = |found: &Match, count: usize| if count == 0 { found.weight } else { found.weight * REPEATED };
        for (start, first) in matches.iter().enumerate() {
            while let Some(next) =
                matches.get(end).filter(|m| end == start || m.chars.1 <= first.chars.0 + SNIPPET_CHARS)
            {
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
