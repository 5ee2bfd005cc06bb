//! Whether a document says the words of a query where they give the answer away.

use pericope_api::{Document, Kind};

use super::candidate::Candidate;
use super::corpus::{Corpus, phrase};

/// The sentences of a document as phrases, and its headings as stems.
pub(super) struct Lines {
    phrases: Vec<String>,
    /// Headings: the sentence, and the distinct stems of its own words.
    headings: Vec<(usize, Box<[u32]>)>,
}

impl Lines {
    pub fn new(corpus: &Corpus<'_>, document: &Document) -> Self {
        let phrases = document.sentences.iter().map(|s| phrase(&document.visible(s.span))).collect();
        let headings = (document.sentences.iter().enumerate())
            .filter(|(_, s)| matches!(s.kind, Kind::Heading(_)))
            .map(|(i, s)| (i, corpus.stems.distinct(&document.visible(s.span))))
            .collect();
        Self { phrases, headings }
    }

    /// Headings that say just what these words say.
    pub fn headings_of(&self, corpus: &Corpus<'_>, words: &str) -> Vec<usize> {
        let stems = corpus.stems.distinct(words);
        self.headings.iter().filter(|(_, own)| !own.is_empty() && *own == stems).map(|(i, _)| *i).collect()
    }

    /// Whether a heading that stays says all that the query says.
    pub fn heading_says(&self, corpus: &Corpus<'_>, candidate: &Candidate) -> bool {
        let stems = corpus.stems.distinct(&candidate.query);
        let holds = |own: &[u32]| stems.iter().all(|stem| own.binary_search(stem).is_ok());
        !stems.is_empty() && self.headings.iter().any(|(i, own)| !candidate.masks.contains(i) && holds(own))
    }

    /// Whether the words of a heading that is taken out still stand, one after the other, outside of the answer: a table
    /// of contents, a link, another heading.
    pub fn still_says(&self, document: &Document, candidate: &Candidate, words: &str) -> bool {
        let wanted = phrase(words);
        (self.phrases.iter().zip(&document.sentences).enumerate()).any(|(i, (line, sentence))| {
            !candidate.masks.contains(&i)
                && candidate.answer.intersection(&sentence.span).is_none()
                && line.contains(&wanted)
        })
    }
}
