//! The best hits of any store, ordered again by a reranker.

use std::sync::{Arc, Mutex, PoisonError};

use pericope_api::{RerankError, Reranker, SentenceEncoder};

use crate::{
    ChunkId, ChunkRecord, DocumentSummary, ErrorKind, Freshness, Highlighter, Query, Ranked, Retriever, StoreError,
    StoreInfo,
};

/// The hits that are scored where nothing is said.
pub const RERANK_DEPTH: usize = 50;

/// A reranker that does not give one finite score a passage.
#[derive(Debug, thiserror::Error)]
#[error("`{name}` broke its promise: {fault}")]
struct BadScores {
    name: String,
    fault: String,
}

/// Returns the places of passages with their scores, best first; equal scores keep the passages' order.
///
/// ```
/// use pericope_api::{RerankError, Reranker};
///
/// struct Length;
///
/// impl Reranker for Length {
///     fn name(&self) -> &str {
///         "length"
///     }
///
///     fn fingerprint(&self) -> String {
///         "length".into()
///     }
///
///     fn scores(&self, _: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
///         Ok(passages.iter().map(|text| text.len() as f32).collect())
///     }
/// }
///
/// let order = pericope_store::reranked(&Length, "moon", &["a", "tide", "b", "moon"])?;
/// assert_eq!(order, [(1, 4.0), (3, 4.0), (0, 1.0), (2, 1.0)]);
/// # Ok::<(), RerankError>(())
/// ```
///
/// # Errors
/// [`RerankError`] where the reranker fails, or does not give one finite score a passage.
pub fn reranked(reranker: &dyn Reranker, query: &str, passages: &[&str]) -> Result<Vec<(usize, f32)>, RerankError> {
    if passages.is_empty() {
        return Ok(Vec::new());
    }
    let scores = reranker.scores(query, passages)?;
    let bad = |fault: String| RerankError::Run(Box::new(BadScores { name: reranker.name().to_owned(), fault }));
    if scores.len() != passages.len() {
        return Err(bad(format!("it gave {} scores for {} passages", scores.len(), passages.len())));
    }
    if let Some((at, score)) = scores.iter().enumerate().find(|(_, score)| !score.is_finite()) {
        return Err(bad(format!("its score of passage {} is {score}", at + 1)));
    }
    let mut order: Vec<(usize, f32)> = scores.into_iter().enumerate().collect();
    order.sort_by(|a, b| b.1.total_cmp(&a.1));
    Ok(order)
}

/// Chunks with their texts, best first.
type Scored = Vec<(Ranked, ChunkRecord)>;

/// A store whose ranking is that of a reranker: the best `depth` chunks of a search, scored by their text and ordered anew.
///
/// It is searched as any store: grouping, context and expansion come after reranking, and scores are the reranker's. A
/// ranking holds `depth` chunks at most, so `depth` is to be at least the `k` of the queries.
pub struct Reranked<'a> {
    store: &'a dyn Retriever,
    reranker: &'a dyn Reranker,
    depth: usize,
    /// The last query that was scored: an expansion asks for its ranking more than once.
    last: Mutex<Option<(Query, Arc<Scored>)>>,
}

impl<'a> Reranked<'a> {
    /// Puts a reranker before a store. The store's encoder is set beforehand.
    #[must_use]
    pub fn new(store: &'a dyn Retriever, reranker: &'a dyn Reranker, depth: usize) -> Self {
        Self { store, reranker, depth, last: Mutex::default() }
    }

    fn scored(&self, query: &Query) -> Result<Arc<Scored>, StoreError> {
        let asked = Query { k: self.depth, ..query.clone() };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, scored)) = last.as_ref().filter(|(known, _)| *known == asked) {
            return Ok(Arc::clone(scored));
        }
        let found = self.store.find(&asked)?;
        let texts: Vec<&str> = found.iter().map(|(_, chunk)| chunk.text.as_str()).collect();
        let order = reranked(self.reranker, &query.text, &texts)?;
        let chosen = order.into_iter().filter_map(|(at, score)| {
            let (ranked, chunk) = found.get(at)?.clone();
            Some((Ranked { score: f64::from(score), ..ranked }, chunk))
        });
        let scored = Arc::new(chosen.collect::<Scored>());
        *last = Some((asked, Arc::clone(&scored)));
        Ok(scored)
    }
}

impl Retriever for Reranked<'_> {
    fn about(&self) -> &StoreInfo {
        self.store.about()
    }

    fn chunks(&self) -> Result<u64, StoreError> {
        self.store.chunks()
    }

    fn documents(&self) -> Result<u64, StoreError> {
        self.store.documents()
    }

    fn list(&self, prefix: &str, after: Option<&str>, limit: usize) -> Result<Vec<DocumentSummary>, StoreError> {
        self.store.list(prefix, after, limit)
    }

    fn chunks_of(&self, document: &str) -> Result<Vec<(ChunkId, ChunkRecord)>, StoreError> {
        self.store.chunks_of(document)
    }

    fn commit(&self) -> Option<u64> {
        self.store.commit()
    }

    fn refresh(&self) -> Result<Freshness, StoreError> {
        self.store.refresh()
    }

    /// Refuses: the encoder is the store's, which is only borrowed.
    fn set_encoder(&mut self, _: Arc<dyn SentenceEncoder>) -> Result<(), StoreError> {
        Err(StoreError::backend(ErrorKind::NoEncoder, "the encoder is set on the store, before its hits are reranked"))
    }

    fn rank(&self, query: &Query) -> Result<Vec<Ranked>, StoreError> {
        Ok(self.scored(query)?.iter().take(query.k).map(|(ranked, _)| ranked.clone()).collect())
    }

    fn find(&self, query: &Query) -> Result<Vec<(Ranked, ChunkRecord)>, StoreError> {
        Ok(self.scored(query)?.iter().take(query.k).cloned().collect())
    }

    fn fetch(&self, ids: &[ChunkId]) -> Result<Vec<Option<ChunkRecord>>, StoreError> {
        self.store.fetch(ids)
    }

    fn neighbours(&self, of: &[Ranked], reach: usize) -> Result<Vec<Vec<ChunkRecord>>, StoreError> {
        self.store.neighbours(of, reach)
    }

    fn highlighter(&self, query: &str) -> Result<Highlighter, StoreError> {
        self.store.highlighter(query)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::testing::Shelf;
    use crate::{Expand, Expansion, Mode};

    /// Likes short passages, or says what it is told to say.
    #[derive(Default)]
    struct Short {
        calls: AtomicUsize,
        instead: Option<Vec<f32>>,
    }

    impl Reranker for Short {
        fn name(&self) -> &str {
            "short"
        }

        fn fingerprint(&self) -> String {
            "short".into()
        }

        fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
            assert_eq!(query, "five");
            self.calls.fetch_add(1, Ordering::Relaxed);
            Ok(self.instead.clone().unwrap_or_else(|| passages.iter().map(|text| -(text.len() as f32)).collect()))
        }
    }

    fn query(k: usize) -> Query {
        Query::new("five", Mode::Bm25, k)
    }

    /// Document, text and score of the hits.
    fn hits(hits: &[crate::Hit]) -> Vec<(&str, &str, f64)> {
        hits.iter().map(|hit| (hit.chunk.document.as_str(), hit.chunk.text.as_str(), hit.score)).collect()
    }

    #[test]
    fn the_best_of_the_depth_come_first_with_the_rerankers_scores() {
        let short = Short::default();
        // "four five", "one two", "three" of a, "six" of b.
        let shelf = Shelf::new(&[2, 0, 1, 7]);
        let all = Reranked::new(&shelf, &short, 10);
        let found = all.search(&query(2)).unwrap();
        assert_eq!(hits(&found), [("b", "six", -3.0), ("a", "three", -5.0)]);
        assert_eq!(found.iter().map(|hit| hit.rank).collect::<Vec<_>>(), [1, 2]);
        // What lies below the depth is not looked at, however good it is.
        let few = Reranked::new(&shelf, &short, 2);
        assert_eq!(hits(&few.search(&query(10)).unwrap()), [("a", "one two", -7.0), ("a", "four five", -9.0)]);
        assert!(all.search(&query(0)).unwrap().is_empty());
        assert!(Reranked::new(&Shelf::new(&[]), &short, 5).search(&query(3)).unwrap().is_empty());
        // Equal scores stay in the order of the search.
        let even = Short { instead: Some(vec![1.0; 4]), ..Short::default() };
        let found = Reranked::new(&shelf, &even, 4).rank(&query(4)).unwrap();
        assert_eq!(found.iter().map(|one| one.ordinal).collect::<Vec<_>>(), [2, 0, 1, 3]);
    }

    #[test]
    fn reranking_comes_before_expansion_and_grouping_and_is_done_once() {
        let short = Short::default();
        let shelf = Shelf::new(&[2, 0, 1, 7]);
        let expansion = Expansion { expand: Expand::Neighbours(1), tokens: 100 };
        let reranked = Reranked::new(&shelf, &short, 4);
        let found = reranked.search_expanded(&query(2), expansion).unwrap();
        // The best hit is "six" of b, which gets its neighbour; then "three" of a with both.
        assert_eq!(hits(&found), [("b", "four five\nsix", -3.0), ("a", "one two\n\nthree\nfour five", -5.0)]);
        assert_eq!(short.calls.load(Ordering::Relaxed), 1);
        let groups = reranked.search_grouped(&query(2), 1).unwrap();
        assert_eq!(
            groups.iter().map(|group| (group.document.as_str(), group.score)).collect::<Vec<_>>(),
            [("b", -3.0), ("a", -5.0)]
        );
        assert_eq!(short.calls.load(Ordering::Relaxed), 1, "the same query");
        reranked.search(&Query { mode: Mode::Dense, ..query(2) }).unwrap();
        assert_eq!(short.calls.load(Ordering::Relaxed), 2, "another query");
    }

    #[test]
    fn scores_that_are_none_are_refused() {
        let shelf = Shelf::new(&[2, 0, 1]);
        for (scores, says) in [
            (vec![1.0, 2.0], "`short` broke its promise: it gave 2 scores for 3 passages"),
            (vec![1.0, f32::NAN, 2.0], "its score of passage 2 is NaN"),
            (vec![1.0, 2.0, f32::INFINITY], "its score of passage 3 is inf"),
        ] {
            let bad = Short { instead: Some(scores), ..Short::default() };
            let error = Reranked::new(&shelf, &bad, 9).search(&query(1)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Reranker);
            assert!(error.to_string().contains(says), "{error}");
        }
    }
}
