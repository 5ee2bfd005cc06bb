//! From a query in plain language to the terms that are looked up.

use std::collections::HashSet;

use crate::Analyzer;

/// More distinct words than this are not looked up: a whole page as a query stays affordable.
const MAX_TERMS: usize = 256;

/// Words that say that something is asked, or hold a sentence together, and what a tokenizer leaves of contractions.
/// They are indexed (phrases need them) but not looked up on their own.
const STOP_WORDS: &str = "a about again all also am an and any are as at be been being but by can could d did do does \
    doing don down during each few for from further had has have having he her here hers him his how i if in into is \
    isn it its just ll m may me might more most must my no nor not now of off on once only or other our out over own \
    please re s same shall she should so some such t than that the their them then there these they this those \
    through to too up us ve very was we were what when where which while who whom whose why will with would you your";

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
    /// Takes a query apart. Nothing in it is an error: a quote that is not closed is no quote.
    ///
    /// Stop words are left out unless there is nothing else.
    #[must_use]
    pub fn parse(query: &str, analyzer: &dyn Analyzer) -> Self {
        let stop: HashSet<&str> = STOP_WORDS.split_ascii_whitespace().collect();
        let (mut content, mut stopped) = (Vec::new(), Vec::new());
        for (quoted, part) in quotes(query) {
            let words = analyze(part, analyzer);
            if quoted && words.len() > 1 {
                content.push(Clause::Phrase(places(words)));
                continue;
            }
            for word in words {
                let is_stop = !quoted && stop.contains(word.surface.to_lowercase().as_str());
                let list = if is_stop { &mut stopped } else { &mut content };
                list.push(Clause::Word(word.text));
            }
        }
        let mut clauses = if content.is_empty() { stopped } else { content };
        let mut seen = HashSet::new();
        clauses.retain(|clause| seen.insert(clause.clone()));
        clauses.truncate(MAX_TERMS);
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
/// together (unless there are no others). Words in double quotes count wholly, as single words.
#[must_use]
pub fn query_words(query: &str, analyzer: &dyn Analyzer) -> Vec<String> {
    Terms::parse(query, analyzer).words().into_iter().map(str::to_owned).collect()
}

/// Returns the analyzed words of a text, with their distances from the first.
#[must_use]
pub fn analyzed(text: &str, analyzer: &dyn Analyzer) -> Vec<(usize, String)> {
    places(analyze(text, analyzer))
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

fn analyze<'a>(text: &'a str, analyzer: &dyn Analyzer) -> Vec<Looked<'a>> {
    let mut words = Vec::new();
    analyzer.analyze(text, &mut |word| {
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
