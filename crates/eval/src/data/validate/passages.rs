//! Passages that are searched with BM25, to say how hard a question is.

use std::collections::HashSet;

use pericope_api::{Document, Span};
use pericope_util::Bm25;
use rayon::prelude::*;

use super::record::Ranks;
use crate::text::Stems;

/// Words of a passage; a sentence is never parted.
const PASSAGE: usize = 100;

/// A passage: its document and its place.
struct Passage {
    document: usize,
    span: Span,
}

/// Passages that can be searched.
pub(super) struct Passages {
    stems: Stems,
    passages: Vec<Passage>,
    words: Bm25,
}

impl Passages {
    pub fn new(documents: &[Document]) -> Self {
        let stems = Stems::of_documents(documents);
        let each: Vec<Vec<(Span, Vec<u32>)>> =
            documents.par_iter().map(|document| passages(&stems, document)).collect();
        let (mut found, mut texts) = (Vec::new(), Vec::new());
        for (document, cut) in each.into_iter().enumerate() {
            for (span, words) in cut {
                found.push(Passage { document, span });
                texts.push(words);
            }
        }
        Self { stems, passages: found, words: Bm25::new(texts.iter().map(Vec::as_slice)) }
    }

    /// The ranks of what holds a part of the answer; of equal scores, what comes first in the file comes first.
    pub fn ranks(&self, query: &str, document: usize, answer: Span) -> Ranks {
        let scores = self.words.scores(&self.stems.of(query));
        // What has no word of the query is not found.
        let mut order: Vec<(&Passage, f64)> =
            self.passages.iter().zip(scores).filter(|(_, score)| *score > 0.0).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (mut ranks, mut seen) = (Ranks::default(), HashSet::new());
        for (rank, (passage, _)) in order.into_iter().enumerate() {
            seen.insert(passage.document);
            if passage.document == document {
                ranks.document.get_or_insert(seen.len());
                if passage.span.intersection(&answer).is_some() {
                    ranks.passage = Some(rank + 1);
                    break;
                }
            }
        }
        ranks
    }
}

/// The passages of a document with their stems.
fn passages(stems: &Stems, document: &Document) -> Vec<(Span, Vec<u32>)> {
    let mut found: Vec<(Span, Vec<u32>)> = Vec::new();
    let mut words = usize::MAX;
    for sentence in &document.sentences {
        let text = document.visible(sentence.span);
        let (own, length) = (stems.of(&text), text.split_whitespace().count());
        match found.last_mut() {
            Some((span, held)) if words.saturating_add(length) <= PASSAGE => {
                *span = span.hull(&sentence.span);
                held.extend(own);
                words += length;
            }
            _ => {
                found.push((sentence.span, own));
                words = length;
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rarer_word_decides_and_what_is_not_said_is_not_found() {
        let documents = [
            Document::from_sentences("a", &["The keeper sleeps.", "The keeper eats."]),
            Document::from_sentences("b", &["The keeper polishes the lamp."]),
        ];
        let passages = Passages::new(&documents);
        let of = |query: &str, document: usize| passages.ranks(query, document, Span::new(0, 5));
        assert_eq!(of("which keeper polishes lamps", 1), Ranks { document: Some(1), passage: Some(1) });
        assert_eq!(of("which keeper polishes lamps", 0), Ranks { document: Some(2), passage: Some(2) });
        assert_eq!(of("lamp", 0), Ranks::default());
    }
}
