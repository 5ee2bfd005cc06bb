//! What a ranked list of chunks is worth against gold spans.
//!
//! Build a [`Gold`] once a question, then ask it about any list of [`Passage`]s. Documents are named by any small type
//! `D` (an index, a `&str`); spans and lengths are in one unit of the caller's choice, bytes or code points (Chroma's
//! published figures are in code points).
//!
//! | metric | of | definition |
//! | --- | --- | --- |
//! | span recall | [`Gold::span_scores`] | gold units found / gold units |
//! | span precision | | gold units found / units retrieved, a unit retrieved twice counted twice |
//! | IoU | | gold units found / (units retrieved + gold units not found) |
//! | precision-omega | [`Gold::precision_omega`] | precision if every chunk of the corpus that touches gold were retrieved |
//! | hit@k, MRR, nDCG@k, document recall@k | [`Gold::rank_scores`] | see [`RankScores`] |
//!
//! The first four are those of Chroma's chunking benchmark (Smith and Troynikov 2024, "Evaluating Chunking Strategies for
//! Retrieval"): retrieved chunks of other documents count in what was paid for; gold spans that overlap each other count
//! twice in the length of the gold, though a unit is found once.
//!
//! ```
//! use pericope_api::Span;
//! use pericope_eval::metrics::retrieval::{Gold, Passage};
//!
//! let gold = Gold::new([("guide", Span::new(40, 60))]);
//! let chunk = |document, start, end| Passage { document, span: Span::new(start, end), tokens: 8 };
//! let found = [chunk("guide", 50, 100), chunk("other", 0, 50)];
//! let scores = gold.span_scores(&found);
//! assert_eq!((scores.recall, scores.precision), (0.5, 0.1));
//! assert_eq!(scores.iou, 10.0 / 110.0);
//! assert_eq!(gold.rank_scores(&found, &found, 2).reciprocal_rank, 1.0);
//! ```

mod cover;
mod rank;

use pericope_api::Span;
use serde::{Deserialize, Serialize};

use cover::{length, merged, overlap};
pub use rank::RankScores;

/// A chunk: retrieved, or in the corpus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Passage<D> {
    /// The document that it is cut from.
    pub document: D,
    /// Its place there.
    pub span: Span,
    /// Its tokens: what the reader is charged for it.
    pub tokens: usize,
}

/// Tokens of all passages: what is given to the reader.
#[must_use]
pub fn context_tokens<D>(passages: &[Passage<D>]) -> usize {
    passages.iter().map(|passage| passage.tokens).sum()
}

/// Span recall, precision and IoU of one question, or means over questions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct SpanScores {
    /// Share of the gold that the passages cover, 0..=1.
    pub recall: f64,
    /// Share of what was retrieved that is gold, 0..=1; 0 where nothing was retrieved.
    pub precision: f64,
    /// Gold found over what was retrieved and gold that was not found, 0..=1.
    pub iou: f64,
}

/// The gold spans of one question.
#[derive(Debug, Clone, PartialEq)]
pub struct Gold<D> {
    documents: Vec<GoldDocument<D>>,
}

/// The gold in one document.
#[derive(Debug, Clone, PartialEq)]
struct GoldDocument<D> {
    document: D,
    /// As given, empty ones left out.
    spans: Vec<Span>,
    /// Their union: in order, apart.
    union: Vec<Span>,
}

impl<D: Copy + Eq> Gold<D> {
    /// Gathers the spans of one question; empty spans are left out. A question without gold scores 0 by every metric:
    /// keep such questions out of averages.
    #[must_use]
    pub fn new(spans: impl IntoIterator<Item = (D, Span)>) -> Self {
        let mut documents: Vec<GoldDocument<D>> = Vec::new();
        for (document, span) in spans.into_iter().filter(|(_, span)| !span.is_empty()) {
            match documents.iter_mut().find(|gold| gold.document == document) {
                Some(gold) => gold.spans.push(span),
                None => documents.push(GoldDocument { document, spans: vec![span], union: Vec::new() }),
            }
        }
        for gold in &mut documents {
            gold.union = merged(gold.spans.clone());
        }
        Self { documents }
    }

    /// True where there is no gold.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// True when the passage covers at least one unit of gold; one that only touches its end does not.
    #[must_use]
    pub fn is_touched_by(&self, passage: &Passage<D>) -> bool {
        self.units_in(passage) > 0
    }

    /// Units of gold in the passage.
    #[must_use]
    pub fn units_in(&self, passage: &Passage<D>) -> usize {
        self.documents
            .iter()
            .filter(|gold| gold.document == passage.document)
            .map(|gold| overlap(&gold.union, passage.span))
            .sum()
    }

    /// Units of all gold spans, a unit in two of them counted twice.
    fn total(&self) -> usize {
        self.documents.iter().map(|gold| length(&gold.spans)).sum()
    }

    /// Recall, precision and IoU of the passages, by Chroma's definitions.
    #[must_use]
    pub fn span_scores(&self, retrieved: &[Passage<D>]) -> SpanScores {
        let (mut found, mut missed) = (0, 0);
        for gold in &self.documents {
            let hits = gold.hits(retrieved);
            found += length(&hits);
            missed += gold.spans.iter().map(|&span| span.len() - overlap(&hits, span)).sum::<usize>();
        }
        let paid: usize = retrieved.iter().map(|passage| passage.span.len()).sum();
        SpanScores {
            recall: share(found, self.total()),
            precision: share(found, paid),
            iou: share(found, paid + missed),
        }
    }

    /// Precision-omega: the precision of retrieving exactly the chunks that hold at least one unit of gold, as their
    /// union. Gold that lies in no chunk counts as retrieved and not found. 0..=1.
    ///
    /// `chunks` are those of the whole corpus; ones of documents without gold change nothing and may be left out.
    #[must_use]
    pub fn precision_omega(&self, chunks: &[Passage<D>]) -> f64 {
        let (mut found, mut paid) = (0, 0);
        for gold in &self.documents {
            let touching = chunks.iter().filter(|chunk| chunk.document == gold.document);
            let touching = touching.map(|chunk| chunk.span).filter(|&span| overlap(&gold.union, span) > 0);
            let touching = merged(touching.collect());
            let inside: usize = touching.iter().map(|&span| overlap(&gold.union, span)).sum();
            found += inside;
            paid += length(&touching) + length(&gold.union) - inside;
        }
        share(found, paid)
    }
}

impl<D: Copy + Eq> GoldDocument<D> {
    /// The gold that the passages cover, in order and apart.
    fn hits(&self, passages: &[Passage<D>]) -> Vec<Span> {
        let inside = passages.iter().filter(|passage| passage.document == self.document);
        merged(inside.flat_map(|p| self.spans.iter().filter_map(|span| span.intersection(&p.span))).collect())
    }
}

/// `part / whole`, 0 where there is no whole.
fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use pericope_api::Span;
    use proptest::prelude::*;

    use super::{Gold, Passage, SpanScores, context_tokens};

    fn passage(document: usize, start: usize, end: usize) -> Passage<usize> {
        Passage { document, span: Span::new(start, end), tokens: end.saturating_sub(start) }
    }

    #[test]
    fn overlapping_chunks_are_paid_twice_and_found_once() {
        let gold = Gold::new([(0, Span::new(10, 20)), (0, Span::new(30, 40))]);
        let scores = gold.span_scores(&[passage(0, 0, 20), passage(0, 10, 30), passage(1, 30, 40)]);
        assert_eq!(scores, SpanScores { recall: 0.5, precision: 0.2, iou: 10.0 / 60.0 });
    }

    #[test]
    fn gold_that_overlaps_counts_twice_in_its_length() {
        let gold = Gold::new([(0, Span::new(0, 10)), (0, Span::new(5, 15))]);
        let all = gold.span_scores(&[passage(0, 0, 15)]);
        assert_eq!(all, SpanScores { recall: 0.75, precision: 1.0, iou: 1.0 });
        // 5..15 is left of the second span, and 5..10 of the first.
        assert_eq!(gold.span_scores(&[passage(0, 0, 5)]).iou, 5.0 / 20.0);
    }

    #[test]
    fn omega_leaves_out_chunks_that_merely_touch() {
        let gold = Gold::new([(0, Span::new(10, 20))]);
        let chunks =
            [passage(0, 0, 10), passage(0, 10, 18), passage(0, 15, 30), passage(0, 30, 40), passage(1, 10, 20)];
        assert_eq!(gold.precision_omega(&chunks), 0.5);
        assert_eq!(gold.precision_omega(&chunks[..2]), 0.8, "gold in no chunk is paid for");
        assert_eq!(gold.precision_omega(&chunks[..1]), 0.0);
    }

    #[test]
    fn nothing_is_zero() {
        let none: Gold<usize> = Gold::new([(0, Span::new(3, 3))]);
        assert!(none.is_empty());
        assert_eq!(none.span_scores(&[passage(0, 0, 9)]), SpanScores::default());
        assert_eq!(none.precision_omega(&[passage(0, 0, 9)]), 0.0);
        let gold = Gold::new([(0, Span::new(3, 5))]);
        assert_eq!(gold.span_scores(&[]), SpanScores::default());
        assert_eq!(gold.span_scores(&[passage(0, 3, 3)]), SpanScores::default());
    }

    #[test]
    fn the_reader_is_charged_for_every_passage() {
        assert_eq!(context_tokens(&[passage(0, 0, 4), passage(0, 4, 10), passage(0, 10, 11)]), 11);
    }

    proptest! {
        /// Interval arithmetic against sets of (document, position).
        #[test]
        fn equals_sets_of_positions(
            spans in prop::collection::vec((0_usize..2, 0_usize..40, 0_usize..12), 1..5),
            found in prop::collection::vec((0_usize..3, 0_usize..40, 0_usize..20), 0..6),
        ) {
            let gold = Gold::new(spans.iter().map(|&(d, s, l)| (d, Span::new(s, s + l))));
            let passages: Vec<_> = found.iter().map(|&(d, s, l)| passage(d, s, s + l)).collect();
            let in_gold = |d: usize, at: usize| spans.iter().filter(|g| g.0 == d && g.1 <= at && at < g.1 + g.2).count();
            let in_found = |d: usize, at: usize| found.iter().any(|p| p.0 == d && p.1 <= at && at < p.1 + p.2);
            let places = || (0..3).flat_map(|d| (0..80).map(move |at| (d, at)));
            let hit = places().filter(|&(d, at)| in_gold(d, at) > 0 && in_found(d, at)).count();
            let missed: usize = places().filter(|&(d, at)| !in_found(d, at)).map(|(d, at)| in_gold(d, at)).sum();
            let total: usize = places().map(|(d, at)| in_gold(d, at)).sum();
            let paid: usize = found.iter().map(|p| p.2).sum();
            let ratio = |a: usize, b: usize| if b == 0 { 0.0 } else { a as f64 / b as f64 };
            let scores = gold.span_scores(&passages);
            prop_assert_eq!(scores.recall, ratio(hit, total));
            prop_assert_eq!(scores.precision, ratio(hit, paid));
            prop_assert_eq!(scores.iou, ratio(hit, paid + missed));
            prop_assert!((0.0..=1.0).contains(&gold.precision_omega(&passages)));
        }
    }
}
