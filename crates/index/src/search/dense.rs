use std::collections::HashSet;

use super::{Candidate, Passing, best};
use crate::IndexError;
use crate::engines::{Snapshot, TextIndex};
use crate::vectors::VectorSet;

/// The `depth` chunks whose vectors have the highest cosine to `vector`, of those that pass the filter.
///
/// A vector of zeros is as near to one chunk as to any other: it finds nothing. Points that the full-text index does not know do not count, and more are asked for in their place.
pub(crate) fn dense(
    text: &TextIndex,
    snapshot: &Snapshot,
    store: &VectorSet,
    vector: &[f32],
    passing: Option<&Passing>,
    depth: usize,
) -> Result<Vec<(Candidate, f64)>, IndexError> {
    let searcher = &snapshot.searcher;
    if vector.iter().all(|x| *x == 0.0) {
        return Ok(Vec::new());
    }
    if depth == 0 || searcher.num_docs() == 0 || passing.is_some_and(Passing::is_empty) {
        return Ok(Vec::new());
    }
    let among = passing.map(|passing| passing.points(searcher)).transpose()?;
    let all = among.as_ref().map_or_else(|| store.len(), Vec::len);
    let mut limit = depth;
    let mut looked_up = HashSet::new();
    let mut scored: Vec<(Candidate, f64)> = Vec::new();
    loop {
        // All that tie with the last one are among them.
        for (point, score) in store.nearest(vector, limit, among.as_deref())? {
            // What an earlier, shorter answer held is known already.
            if looked_up.insert(point)
                && let Some(address) = text.address_of(searcher, point)?
            {
                scored.push((Candidate::at(snapshot, address)?, f64::from(score)));
            }
        }
        if scored.len() >= depth || limit >= all {
            return Ok(best(scored, depth));
        }
        limit = limit.saturating_mul(2).min(all);
    }
}
