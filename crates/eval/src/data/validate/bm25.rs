//! BM25 (Robertson and Zaragoza 2009) over passages in memory, to say how hard a question is.

use std::collections::{HashMap, HashSet};

use pericope_api::{Document, Span};
use rayon::prelude::*;

use super::record::Ranks;
use crate::text::Stems;

/// Words of a passage; a sentence is never parted.
const PASSAGE: usize = 100;
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// A passage: its document, its place, its length in stems.
struct Passage {
    document: usize,
    span: Span,
    length: f64,
}

/// Passages that can be searched.
pub(super) struct Passages {
    stems: Stems,
    passages: Vec<Passage>,
    /// For each stem the passages that hold it, and how often.
    postings: HashMap<u32, Vec<(u32, u32)>>,
    mean: f64,
}

impl Passages {
    pub fn new(documents: &[Document]) -> Self {
        let stems = Stems::of_documents(documents);
        let each: Vec<Vec<(Span, Vec<u32>)>> =
            documents.par_iter().map(|document| passages(&stems, document)).collect();
        let mut found = Self { stems, passages: Vec::new(), postings: HashMap::new(), mean: 1.0 };
        for (document, cut) in each.into_iter().enumerate() {
            for (span, mut words) in cut {
                let number = u32::try_from(found.passages.len()).unwrap_or(u32::MAX);
                found.passages.push(Passage { document, span, length: words.len() as f64 });
                words.sort_unstable();
                for run in words.chunk_by(|a, b| a == b) {
                    if let Some(stem) = run.first() {
                        let times = u32::try_from(run.len()).unwrap_or(u32::MAX);
                        found.postings.entry(*stem).or_default().push((number, times));
                    }
                }
            }
        }
        let total: f64 = found.passages.iter().map(|passage| passage.length).sum();
        found.mean = (total / found.passages.len().max(1) as f64).max(1.0);
        found
    }

    /// The ranks of what holds a part of the answer; of equal scores, what comes first in the file comes first.
    pub fn ranks(&self, query: &str, document: usize, answer: Span) -> Ranks {
        let mut scores: HashMap<u32, f64> = HashMap::new();
        let count = self.passages.len() as f64;
        for stem in self.stems.distinct(query) {
            let Some(held) = self.postings.get(&stem) else { continue };
            let n = held.len() as f64;
            let weight = (1.0 + (count - n + 0.5) / (n + 0.5)).ln();
            for (number, times) in held {
                let length = self.passages.get(*number as usize).map_or(0.0, |passage| passage.length);
                let times = f64::from(*times);
                let part = times * (K1 + 1.0) / (times + K1 * (1.0 - B + B * length / self.mean));
                *scores.entry(*number).or_default() += weight * part;
            }
        }
        let mut order: Vec<(u32, f64)> = scores.into_iter().collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let (mut ranks, mut seen) = (Ranks::default(), HashSet::new());
        for (rank, (number, _)) in order.into_iter().enumerate() {
            let Some(passage) = self.passages.get(number as usize) else { continue };
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
