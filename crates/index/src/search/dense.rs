use std::collections::HashSet;

use tantivy::Searcher;

use super::{Candidate, Passing, best};
use crate::IndexError;
use crate::engines::{TextIndex, VectorStore};

/// The `depth` chunks whose vectors have the highest cosine to `vector`, of those that pass the filter.
///
/// Points that the full-text index does not know (of a run that was broken off, or is under way) do not count, and
/// more are asked for in their place; so are those that tie with the last one that counts.
pub(crate) fn dense(
    text: &TextIndex,
    searcher: &Searcher,
    store: &VectorStore,
    vector: &[f32],
    passing: Option<&Passing>,
    depth: usize,
) -> Result<Vec<(Candidate, f64)>, IndexError> {
    if depth == 0 || searcher.num_docs() == 0 || passing.is_some_and(Passing::is_empty) {
        return Ok(Vec::new());
    }
    let among = passing.map(|passing| passing.points(searcher)).transpose()?;
    let all = match &among {
        Some(points) => points.len(),
        None => usize::try_from(store.len()?).unwrap_or(usize::MAX),
    };
    let mut limit = depth.saturating_add(32).min(all.max(1));
    let mut looked_up = HashSet::new();
    let mut scored: Vec<(Candidate, f64)> = Vec::new();
    loop {
        let found = store.nearest(vector, limit, among.as_ref())?;
        let last = found.last().map_or(f32::MIN, |f| f.1);
        let complete = found.len() < limit || limit >= all;
        for (point, score) in found {
            // What an earlier, shorter answer held is known already.
            if looked_up.insert(point)
                && let Some(address) = text.address_of(searcher, point)?
            {
                scored.push((Candidate::at(searcher, address)?, f64::from(score)));
            }
        }
        scored = best(scored, usize::MAX);
        let settled = scored.get(depth - 1).is_some_and(|(_, score)| f64::from(last) < *score);
        if complete || settled {
            return Ok(best(scored, depth));
        }
        limit = limit.saturating_mul(2).min(all);
    }
}
