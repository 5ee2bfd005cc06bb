//! Runs of chunks in place of those that were found.

use std::collections::HashMap;

use pericope_api::{Chunk, Document, TokenCounter};
use pericope_store::Expand;
use pericope_store::expand::{Found, Part, Run, evidence_depth, rank_weights, runs};

use super::cut::Cut;
use super::found::{self, Hit};
use crate::cell::Cutoff;

/// Expands the hits of one chunker.
pub(super) struct Expanding<'a> {
    pub(super) documents: &'a [Document],
    pub(super) counter: &'a dyn TokenCounter,
    pub(super) cut: &'a Cut,
}

impl Expanding<'_> {
    /// What is given back in place of the hits of a ranking, best first: as many as fill every cutoff.
    ///
    /// These are the runs that [`Retriever::search_expanded`](pericope_store::Retriever::search_expanded) makes, of the
    /// chunks that went into the store.
    pub(super) fn expand(&self, hits: &[Hit], cutoffs: &[Cutoff]) -> Vec<Hit> {
        let expansion = self.cut.expansion;
        if expansion.expand == Expand::None {
            return hits.to_vec();
        }
        let k = cutoffs.iter().filter_map(|cutoff| cutoff.k()).max().unwrap_or(0);
        let budget = cutoffs.iter().filter_map(|cutoff| cutoff.tokens()).max().unwrap_or(0);
        let weights: Vec<Option<f64>> = rank_weights(evidence_depth(k)).take(hits.len()).collect();
        let mut of_document: HashMap<usize, Vec<Run>> = HashMap::new();
        let (mut expanded, mut tokens) = (Vec::new(), 0);
        for (rank, hit) in hits.iter().enumerate() {
            let runs = of_document.entry(hit.document).or_insert_with(|| {
                let here =
                    hits.iter().zip(&weights).enumerate().filter(|(_, (other, _))| other.document == hit.document);
                let found: Vec<Found> =
                    here.map(|(rank, (other, &weight))| Found { rank, part: other.ordinal, weight }).collect();
                let chunks = self.cut.chunks.get(hit.document).map_or(&[][..], Vec::as_slice);
                runs(&chunks.iter().map(part).collect::<Vec<_>>(), &found, expansion)
            });
            let Some(run) = runs.iter().find(|run| run.rank == rank) else { continue };
            let text = self.documents.get(hit.document).map_or("", |document| document.text(run.span));
            let run = found::Run { span: run.span, tokens: self.counter.count(text), chunks: run.parts.len() };
            tokens += run.tokens;
            expanded.push(Hit { run: Some(run), ..*hit });
            if expanded.len() >= k && tokens >= budget {
                break;
            }
        }
        expanded
    }
}

fn part(chunk: &Chunk) -> Part {
    Part { span: chunk.span, tokens: chunk.tokens, heading_path: chunk.heading_path.clone() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::Arc;

    use pericope_api::Span;
    use pericope_store::Expansion;

    use super::*;

    struct Words;

    impl TokenCounter for Words {
        fn name(&self) -> &str {
            "words"
        }

        fn token_ends(&self, text: &str, ends: &mut Vec<usize>) {
            let start = text.as_ptr() as usize;
            ends.extend(text.split_whitespace().map(|word| word.as_ptr() as usize - start + word.len()));
        }
    }

    const SOURCE: &str = "one two. three four. five six. seven eight.";

    fn expanded(expand: Expand, tokens: usize, ordinals: &[usize], cutoffs: &[Cutoff]) -> Vec<(usize, String, usize)> {
        let mut document = Document::from_sentences("d", &[SOURCE]);
        document.source = SOURCE.into();
        let mut at = 0;
        let chunks: Vec<Chunk> = (SOURCE.split_inclusive('.').enumerate())
            .map(|(ordinal, text)| {
                let span = Span::new(at, at + text.len()).trimmed(SOURCE);
                at += text.len();
                // One special token each.
                Chunk {
                    document: "d".into(),
                    ordinal,
                    span,
                    heading_path: Vec::new(),
                    tokens: 3,
                    hash: 0,
                    context: None,
                }
            })
            .collect();
        let expansion = Expansion { expand, tokens };
        let mut cut = Cut::of_chunks("c", Arc::new(vec![chunks]));
        cut.expansion = expansion;
        let documents = [document];
        let expanding = Expanding { documents: &documents, counter: &Words, cut: &cut };
        let hits: Vec<Hit> =
            ordinals.iter().map(|&ordinal| Hit { document: 0, ordinal, score: 1.0, run: None }).collect();
        let found = expanding.expand(&hits, cutoffs).into_iter();
        found
            .map(|hit| {
                let (span, tokens) = hit.run.map_or((cut.chunk(&hit).span, 0), |run| (run.span, run.tokens));
                (hit.ordinal, documents[0].text(span).to_owned(), tokens)
            })
            .collect()
    }

    #[test]
    fn runs_come_in_place_of_hits_until_the_cutoffs_are_full() {
        let one = |ordinal, text: &str, tokens| (ordinal, text.to_owned(), tokens);
        let first = one(1, "one two. three four. five six.", 6);
        let second = one(3, "seven eight.", 2);
        let near = Expand::Neighbours(1);
        assert_eq!(expanded(near, 9, &[1, 0, 3], &[Cutoff::K(2)]), [first.clone(), second.clone()]);
        assert_eq!(expanded(near, 9, &[1, 0, 3], &[Cutoff::K(1)]), std::slice::from_ref(&first));
        assert_eq!(expanded(near, 9, &[1, 0, 3], &[Cutoff::K(1), Cutoff::Tokens(6)]), std::slice::from_ref(&first));
        assert_eq!(expanded(near, 9, &[1, 0, 3], &[Cutoff::Tokens(7)]), [first, second]);
        assert_eq!(expanded(Expand::Parent, 12, &[2, 1], &[Cutoff::K(2)]), [one(2, SOURCE, 8)]);
        assert_eq!(expanded(Expand::None, 12, &[2], &[Cutoff::K(2)]), [one(2, "five six.", 0)]);
    }
}
