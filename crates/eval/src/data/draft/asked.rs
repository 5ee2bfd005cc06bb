//! Headings that ask: their sections answer.

use pericope_api::Document;

use super::super::from_docs::is_question;
use super::candidate::Candidate;
use super::corpus::{Corpus, path_key};
use super::headings::{answer, own_words};
use super::options::Dropped;
use super::{Drafted, QuestionKind};

/// Fewest words of a question: a lone "Why?" cannot be answered without its page.
const FEWEST: usize = 3;

pub(super) fn candidates(corpus: &Corpus<'_>, at: usize, document: &Document, out: &mut Drafted) -> Vec<Candidate> {
    let mut found = Vec::new();
    for i in 0..document.len() {
        let Some(answer) = answer(document, i) else { continue };
        let Some(query) = own_words(document, i).filter(|heading| is_question(heading)) else { continue };
        if query.split_whitespace().count() < FEWEST {
            continue;
        }
        let own = document.heading_path(i).last().map(|heading| heading.as_str());
        if !corpus.is_only_path(&path_key(own.into_iter())) {
            out.drop_one(Dropped::Ambiguous);
            continue;
        }
        found.push(Candidate { document: at, kind: QuestionKind::Asked, query, answer, masks: vec![i] });
    }
    found
}
