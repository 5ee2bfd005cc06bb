use pericope_api::Span;
use serde::{Deserialize, Serialize};

use super::cover::{overlap, subtract};
use super::{Gold, Passage, share};
use crate::metrics::discounted;

/// Scores of a ranking, cut after its first k passages, of one question, or means over questions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct RankScores {
    /// 1 where a passage among the first k holds gold, else 0.
    pub hit: f64,
    /// 1 / rank of the first passage among the first k that holds gold, 0 where none does; its mean is MRR@k.
    pub reciprocal_rank: f64,
    /// nDCG@k, 0..=1. The gain of a passage is the share of the gold that it adds to the passages above it, so gold that
    /// is retrieved again gains nothing; the discount at rank r is 1 / log2(r + 1) (Järvelin and Kekäläinen 2002).
    ///
    /// The ideal ranking that it is divided by takes, k times, the chunk of the corpus that adds the most gold (the
    /// earlier one of equals). Chunks without overlap make that the best ranking there is, and the score that of
    /// trec_eval with a chunk's units of gold as its grade. Where chunks overlap, the best ranking may be better by a
    /// little; a ranking that beats the ideal scores 1.
    pub ndcg: f64,
    /// Share of the documents with gold from which a passage is among the first k, whether or not it holds gold.
    pub document_recall: f64,
}

impl<D: Copy + Eq> Gold<D> {
    /// Rank metrics of the first `k` of `retrieved`; `chunks` are those of the corpus (ones that hold no gold may be
    /// left out), from which the ideal ranking of nDCG is made.
    #[must_use]
    pub fn rank_scores(&self, retrieved: &[Passage<D>], chunks: &[Passage<D>], k: usize) -> RankScores {
        let top = &retrieved[..k.min(retrieved.len())];
        let first = top.iter().position(|passage| self.is_touched_by(passage));
        let reached = self.documents.iter().filter(|gold| top.iter().any(|p| p.document == gold.document)).count();
        RankScores {
            hit: if first.is_some() { 1.0 } else { 0.0 },
            reciprocal_rank: first.map_or(0.0, |at| 1.0 / (at + 1) as f64),
            ndcg: self.ndcg(top, chunks, k),
            document_recall: share(reached, self.documents.len()),
        }
    }

    /// Units of gold that each passage adds to those before it.
    #[must_use]
    pub fn gains(&self, retrieved: &[Passage<D>]) -> Vec<usize> {
        let mut rest = self.rest();
        retrieved.iter().map(|passage| take(&mut rest, passage)).collect()
    }

    fn ndcg(&self, top: &[Passage<D>], chunks: &[Passage<D>], k: usize) -> f64 {
        let ideal = dcg(&self.ideal_gains(chunks, k));
        if ideal > 0.0 { (dcg(&self.gains(top)) / ideal).min(1.0) } else { 0.0 }
    }

    /// Gains of the ideal ranking, see [`RankScores::ndcg`].
    fn ideal_gains(&self, chunks: &[Passage<D>], k: usize) -> Vec<usize> {
        let mut rest = self.rest();
        // What a chunk adds can only shrink as others are taken, so its last known gain is an upper bound.
        let mut open: Vec<(usize, &Passage<D>)> = chunks.iter().map(|chunk| (self.units_in(chunk), chunk)).collect();
        open.retain(|&(bound, _)| bound > 0);
        let mut gains = Vec::new();
        while gains.len() < k && !open.is_empty() {
            let (mut best, mut best_at) = (0, 0);
            for (at, (bound, chunk)) in open.iter_mut().enumerate() {
                if *bound > best {
                    *bound = rest.iter().filter(|r| r.0 == chunk.document).map(|r| overlap(&r.1, chunk.span)).sum();
                    if *bound > best {
                        (best, best_at) = (*bound, at);
                    }
                }
            }
            if best == 0 {
                break;
            }
            let (_, chunk) = open.remove(best_at);
            gains.push(take(&mut rest, chunk));
        }
        gains
    }

    /// The gold that is still to be found: all of it, a unit in two spans once.
    fn rest(&self) -> Rest<D> {
        self.documents.iter().map(|gold| (gold.document, gold.union.clone())).collect()
    }
}

/// By document, the union of the gold that no passage has covered yet.
type Rest<D> = Vec<(D, Vec<Span>)>;

/// Takes the passage's part out of the rest and returns its size.
fn take<D: Eq>(rest: &mut Rest<D>, passage: &Passage<D>) -> usize {
    let mut gain = 0;
    for (_, union) in rest.iter_mut().filter(|(document, _)| *document == passage.document) {
        gain += overlap(union, passage.span);
        subtract(union, passage.span);
    }
    gain
}

/// Discounted cumulative gain. Gains are counts of units: the share of the gold differs by a factor that cancels.
fn dcg(gains: &[usize]) -> f64 {
    discounted(gains.iter().map(|&gain| gain as f64))
}

#[cfg(test)]
mod tests {
    use pericope_api::Span;
    use proptest::prelude::*;

    use super::{RankScores, dcg};
    use crate::metrics::retrieval::{Gold, Passage};

    fn passage(document: usize, start: usize, end: usize) -> Passage<usize> {
        Passage { document, span: Span::new(start, end), tokens: 1 }
    }

    #[test]
    fn gold_counts_for_the_first_passage_that_holds_it() {
        let gold = Gold::new([(0, Span::new(0, 10)), (1, Span::new(0, 10))]);
        let list = [passage(2, 0, 10), passage(0, 5, 30), passage(0, 0, 8), passage(1, 20, 30)];
        assert_eq!(gold.gains(&list), [0, 5, 5, 0]);
        let scores = gold.rank_scores(&list, &[passage(0, 0, 10), passage(1, 0, 10)], 4);
        assert_eq!((scores.hit, scores.reciprocal_rank, scores.document_recall), (1.0, 0.5, 1.0));
        let expected = (5.0 / 3_f64.log2() + 5.0 / 2.0) / (10.0 + 10.0 / 3_f64.log2());
        assert!((scores.ndcg - expected).abs() < 1e-15);
    }

    #[test]
    fn the_cut_holds_for_every_metric() {
        let gold = Gold::new([(0, Span::new(0, 10))]);
        let list = [passage(1, 0, 10), passage(0, 0, 10)];
        assert_eq!(gold.rank_scores(&list, &list, 1), RankScores::default());
        assert_eq!(gold.rank_scores(&list, &list, 0), RankScores::default());
        assert_eq!(gold.rank_scores(&list, &list, 9).reciprocal_rank, 0.5);
        assert_eq!(gold.rank_scores(&[], &list, 5), RankScores::default());
        assert!(gold.rank_scores(&[], &list, 5).ndcg.is_sign_positive());
        assert_eq!(Gold::new([]).rank_scores(&list, &list, 5), RankScores::default());
    }

    #[test]
    fn a_ranking_that_beats_the_greedy_ideal_scores_one() {
        // Greedy takes 5..15 (10 units) first and then two parts of 5; the two halves together are better.
        let gold = Gold::new([(0, Span::new(0, 20))]);
        let chunks = [passage(0, 5, 15), passage(0, 0, 9), passage(0, 9, 20)];
        let ranking = [passage(0, 9, 20), passage(0, 0, 9)];
        assert_eq!(gold.rank_scores(&ranking, &chunks, 2).ndcg, 1.0);
    }

    proptest! {
        /// Without overlap the ideal is the descending order of gains, so no ranking beats it and the ideal reaches 1.
        #[test]
        fn ndcg_of_disjoint_chunks(
            cuts in prop::collection::btree_set(1_usize..99, 0..12),
            gold in prop::collection::vec((0_usize..90, 1_usize..30), 1..4),
            order in any::<prop::sample::Index>(),
            k in 1_usize..6,
        ) {
            let gold = Gold::new(gold.iter().map(|&(s, l)| (0, Span::new(s, s + l))));
            let edges: Vec<usize> = [0].into_iter().chain(cuts).chain([120]).collect();
            let mut chunks: Vec<_> = edges.windows(2).map(|w| passage(0, w[0], w[1])).collect();
            let shift = order.index(chunks.len());
            let corpus = chunks.clone();
            chunks.rotate_left(shift);
            let found = gold.rank_scores(&chunks, &corpus, k);
            prop_assert!((0.0..=1.0).contains(&found.ndcg));
            let mut gains = gold.gains(&corpus);
            gains.sort_unstable_by(|a, b| b.cmp(a));
            gains.truncate(k);
            let top = &chunks[..k.min(chunks.len())];
            prop_assert!((found.ndcg - dcg(&gold.gains(top)) / dcg(&gains)).abs() < 1e-12);
            chunks.sort_by_key(|chunk| std::cmp::Reverse(gold.units_in(chunk)));
            prop_assert!((gold.rank_scores(&chunks, &corpus, k).ndcg - 1.0).abs() < 1e-12);
        }
    }
}
