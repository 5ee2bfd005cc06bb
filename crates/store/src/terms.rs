//! From a query in plain language to the terms that are looked up.

use std::collections::HashSet;

use pericope_language::Language;

use crate::Analyzer;

/// More distinct words than this, a language, are not looked up: a whole page as a query stays affordable.
const MAX_TERMS: usize = 256;

/// One thing to look up.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Clause {
    /// An analyzed word.
    Word(String),
    /// Analyzed words at these distances from the first.
    Phrase(Vec<(usize, String)>),
}

/// The clauses of a query, distinct, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Terms {
    /// The clauses.
    pub clauses: Vec<Clause>,
}

impl Terms {
    /// Takes a query apart, in each of `languages`: those of the texts that are searched. Nothing in it is an error: a quote
    /// that is not closed is no quote.
    ///
    /// A word is looked up in the form that it has in each language. Stop words are left out unless there is nothing else:
    /// those of the language that more of the query's words are stop words of than of any other, since nobody says which
    /// language a query is in. They are indexed (phrases need them).
    #[must_use]
    pub fn parse(query: &str, analyzer: &dyn Analyzer, languages: &[Language]) -> Self {
        let parts = quotes(query);
        let stopping = stopping(&parts, analyzer, languages);
        let (mut content, mut stopped) = (Vec::new(), Vec::new());
        for (quoted, part) in parts {
            for &language in languages {
                let words = analyze(part, analyzer, language);
                if quoted && words.len() > 1 {
                    content.push(Clause::Phrase(places(words)));
                    continue;
                }
                for word in words {
                    let is_stop = !quoted && is_stop(word.surface, analyzer, &stopping);
                    let list = if is_stop { &mut stopped } else { &mut content };
                    list.push(Clause::Word(word.text));
                }
            }
        }
        let mut clauses = if content.is_empty() { stopped } else { content };
        let mut seen = HashSet::new();
        clauses.retain(|clause| seen.insert(clause.clone()));
        clauses.truncate(MAX_TERMS.saturating_mul(languages.len()));
        Self { clauses }
    }

    /// Returns the analyzed words, those of phrases included, distinct and in order.
    #[must_use]
    pub fn words(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let all = self.clauses.iter().flat_map(|clause| match clause {
            Clause::Word(word) => vec![word.as_str()],
            Clause::Phrase(words) => words.iter().map(|(_, word)| word.as_str()).collect(),
        });
        all.filter(|word| seen.insert(*word)).collect()
    }
}

/// Returns the words that a query looks for: analyzed, distinct, in order, without those that only hold a sentence
/// together (unless there are no others). Words in double quotes count wholly, as single words. As [`Terms::parse`], in
/// each of `languages`.
#[must_use]
pub fn query_words(query: &str, analyzer: &dyn Analyzer, languages: &[Language]) -> Vec<String> {
    Terms::parse(query, analyzer, languages).words().into_iter().map(str::to_owned).collect()
}

/// Returns the analyzed words of a text, with their distances from the first.
#[must_use]
pub fn analyzed(text: &str, analyzer: &dyn Analyzer, language: Language) -> Vec<(usize, String)> {
    places(analyze(text, analyzer, language))
}

/// The languages of which most of a query's words are stop words, those in quotes aside; none where there is no such word.
fn stopping(parts: &[(bool, &str)], analyzer: &dyn Analyzer, languages: &[Language]) -> Vec<Language> {
    let count = |language: &Language| -> usize {
        let plain = parts.iter().filter(|(quoted, _)| !quoted);
        let words = plain.flat_map(|(_, part)| analyze(part, analyzer, *language));
        words.filter(|word| is_stop(word.surface, analyzer, &[*language])).count()
    };
    if let [only] = languages {
        return vec![*only];
    }
    let counts: Vec<usize> = languages.iter().map(count).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    languages
        .iter()
        .zip(counts)
        .filter(|(_, count)| most > 0 && *count == most)
        .map(|(language, _)| *language)
        .collect()
}

fn is_stop(word: &str, analyzer: &dyn Analyzer, languages: &[Language]) -> bool {
    let lower = word.to_lowercase();
    languages.iter().any(|&language| analyzer.is_stop_word(&lower, language))
}

fn places(words: Vec<Looked<'_>>) -> Vec<(usize, String)> {
    let first = words.first().map_or(0, |w| w.position);
    words.into_iter().map(|w| (w.position.wrapping_sub(first), w.text)).collect()
}

struct Looked<'a> {
    text: String,
    surface: &'a str,
    position: usize,
}

fn analyze<'a>(text: &'a str, analyzer: &dyn Analyzer, language: Language) -> Vec<Looked<'a>> {
    let mut words = Vec::new();
    analyzer.analyze(text, language, &mut |word| {
        let surface = text.get(word.span.start..word.span.end).unwrap_or("");
        words.push(Looked { text: word.text.to_owned(), surface, position: word.position });
    });
    words
}

/// The parts of a query outside and inside double quotes (straight or typographic).
fn quotes(query: &str) -> Vec<(bool, &str)> {
    let mut parts = Vec::new();
    let mut rest = query;
    while let Some(open) = rest.find(['"', '“', '„', '”']) {
        let width = rest[open..].chars().next().map_or(1, char::len_utf8);
        let inside = &rest[open + width..];
        let Some(close) = inside.find(['"', '”', '“']) else { break };
        let width = inside[close..].chars().next().map_or(1, char::len_utf8);
        parts.push((false, &rest[..open]));
        parts.push((true, &inside[..close]));
        rest = &inside[close + width..];
    }
    parts.push((false, rest));
    parts
}
