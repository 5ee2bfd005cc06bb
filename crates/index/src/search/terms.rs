//! From a query in plain language to the terms that are looked up.

use std::collections::HashSet;

use tantivy::tokenizer::TokenStream;

use crate::analyzer::text_analyzer;

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
pub(crate) enum Clause {
    /// An analyzed word.
    Word(String),
    /// Analyzed words at these distances from the first.
    Phrase(Vec<(usize, String)>),
}

/// The clauses of a query, distinct, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Terms {
    pub clauses: Vec<Clause>,
}

impl Terms {
    /// Takes a query apart. Nothing in it is an error: a quote that is not closed is no quote.
    ///
    /// Stop words are left out unless there is nothing else.
    pub fn parse(query: &str) -> Self {
        let stop: HashSet<&str> = STOP_WORDS.split_ascii_whitespace().collect();
        let (mut content, mut stopped) = (Vec::new(), Vec::new());
        for (quoted, part) in quotes(query) {
            let words = analyze(part);
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

    /// The analyzed words, those of phrases included, distinct and in order.
    pub fn words(&self) -> Vec<&str> {
        let mut seen = HashSet::new();
        let all = self.clauses.iter().flat_map(|clause| match clause {
            Clause::Word(word) => vec![word.as_str()],
            Clause::Phrase(words) => words.iter().map(|(_, word)| word.as_str()).collect(),
        });
        all.filter(|word| seen.insert(*word)).collect()
    }
}

/// The words that a query looks for, as [`text_analyzer`] makes them: distinct, in order, without those that only hold a
/// sentence together (unless there are no others). What stands in double quotes counts wholly, as single words.
///
/// For stores that search by words alone; [`IndexReader::search`](crate::IndexReader::search) does this by itself.
#[must_use]
pub fn query_words(query: &str) -> Vec<String> {
    Terms::parse(query).words().into_iter().map(str::to_owned).collect()
}

/// The analyzed words of a text, with their places from 0 on.
pub(crate) fn words(text: &str) -> Vec<(usize, String)> {
    places(analyze(text))
}

fn places(words: Vec<Word<'_>>) -> Vec<(usize, String)> {
    let first = words.first().map_or(0, |w| w.position);
    words.into_iter().map(|w| (w.position.wrapping_sub(first), w.text)).collect()
}

struct Word<'a> {
    text: String,
    surface: &'a str,
    position: usize,
}

fn analyze(text: &str) -> Vec<Word<'_>> {
    let mut analyzer = text_analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut words = Vec::new();
    while stream.advance() {
        let token = stream.token();
        let surface = text.get(token.offset_from..token.offset_to).unwrap_or("");
        words.push(Word { text: token.text.clone(), surface, position: token.position });
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use proptest::prelude::*;

    use super::*;

    fn word(text: &str) -> Clause {
        Clause::Word(text.into())
    }

    #[test]
    fn a_question_is_its_content_words() {
        let terms = Terms::parse("What's the best way to re-index running pods?");
        assert_eq!(terms.clauses, ["best", "way", "index", "run", "pod"].map(word));
        assert_eq!(query_words("Where do pods run, \"to the pod\"?"), ["pod", "run", "to", "the"]);
    }

    #[test]
    fn stop_words_alone_are_looked_up() {
        assert_eq!(Terms::parse("To be or not to be").clauses, ["to", "be", "or", "not"].map(word));
    }

    #[test]
    fn quotes_make_phrases() {
        let phrase = |words: &[(usize, &str)]| Clause::Phrase(words.iter().map(|&(i, w)| (i, w.to_owned())).collect());
        assert_eq!(
            Terms::parse("fish \"out of the water\" ?").clauses,
            [word("fish"), phrase(&[(0, "out"), (1, "of"), (2, "the"), (3, "water")])]
        );
        assert_eq!(Terms::parse("“who”").clauses, [word("who")]);
        assert_eq!(Terms::parse("5\" pipe").clauses, ["5", "pipe"].map(word));
    }

    proptest! {
        #[test]
        fn no_text_is_an_error(query in "\\PC{0,40}") {
            let terms = Terms::parse(&query);
            prop_assert!(terms.clauses.len() <= MAX_TERMS);
        }
    }
}
