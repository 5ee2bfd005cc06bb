//! The best hits of a search, ordered anew by a reranker.

use std::time::Instant;

use pericope_api::{RerankError, Reranker};
use pericope_llm::LlmError;
use pericope_store::reranked;

use super::cut::Cut;
use super::found::Hit;
use super::retrieve::Ranking;
use super::{Corpus, Observer, RunError};

/// Scores the best `depth` hits of every question and puts them in that order. Hits further down follow as they were, with
/// scores below. The time counts as time of the search; a question whose hits cannot be scored has failed.
///
/// # Errors
/// [`RunError::Stopped`] for what would fail for every question: a service that is not there, a key that it refuses.
pub(super) fn all(
    cut: &Cut,
    corpus: &Corpus,
    reranker: &dyn Reranker,
    depth: usize,
    ranking: &mut Ranking,
    observer: &dyn Observer,
) -> Result<(), RunError> {
    let questions = &corpus.set.questions;
    observer.stage(&format!("{}: {} reranking by {}", cut.name, ranking.mode, reranker.name()), questions.len());
    // One question at a time: what is timed is one ranking, not the wait for the others.
    for (at, (question, hits)) in questions.iter().zip(&mut ranking.hits).enumerate() {
        observer.advance(1);
        if ranking.failed.contains_key(&at) {
            continue;
        }
        let start = Instant::now();
        let best = hits.get(..depth).unwrap_or(&*hits);
        let order = order(cut, corpus, reranker, &question.text, best);
        let seconds = start.elapsed().as_secs_f64();
        match order {
            Ok(order) => {
                *hits = put(hits, &order);
                if let Some(Some(took)) = ranking.seconds.get_mut(at) {
                    *took += seconds;
                }
            }
            Err(error) if stops(&error) => return Err(RunError::Stopped(format!("chunker '{}': {error}", cut.name))),
            Err(error) => {
                ranking.failed.insert(at, error.to_string());
                hits.clear();
                if let Some(took) = ranking.seconds.get_mut(at) {
                    *took = None;
                }
            }
        }
    }
    Ok(())
}

fn order(
    cut: &Cut,
    corpus: &Corpus,
    reranker: &dyn Reranker,
    question: &str,
    hits: &[Hit],
) -> Result<Vec<(usize, f32)>, RerankError> {
    let text = |hit: &Hit| {
        let document = cut.document(&corpus.documents, hit);
        document.map_or("", |document| document.text(cut.chunk(hit).span))
    };
    reranked(reranker, question, &hits.iter().map(text).collect::<Vec<_>>())
}

/// The hits in their new order, and behind them those that were not scored, each with a score below.
fn put(hits: &[Hit], order: &[(usize, f32)]) -> Vec<Hit> {
    let scored = order.iter().filter_map(|&(at, score)| Some(Hit { score: f64::from(score), ..*hits.get(at)? }));
    let lowest = order.last().map_or(0.0, |(_, score)| f64::from(*score));
    let below = (1_u32..).zip(hits.iter().skip(order.len()));
    let rest = below.map(|(place, hit)| Hit { score: lowest - f64::from(place), ..*hit });
    scored.chain(rest).collect()
}

/// Whether every other question would fail in the same way.
fn stops(error: &RerankError) -> bool {
    match error {
        RerankError::Run(source) => source.downcast_ref::<LlmError>().is_some_and(LlmError::aborts_run),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::{Hit, put};

    #[test]
    fn what_is_not_scored_follows_below() {
        let hit = |ordinal: usize, score: f64| Hit { document: 0, ordinal, score, run: None };
        let hits: Vec<Hit> = (0..4).map(|ordinal| hit(ordinal, 9.0)).collect();
        let wanted = [hit(1, 2.5), hit(0, -3.0), hit(2, -4.0), hit(3, -5.0)];
        assert_eq!(put(&hits, &[(1, 2.5), (0, -3.0)]), wanted);
        assert_eq!(put(&hits[..2], &[(1, 2.5), (0, -3.0)]), wanted[..2]);
        assert!(put(&[], &[]).is_empty());
    }
}
