//! Hits by document.

use std::collections::HashMap;

use serde::Serialize;

use super::{Hit, Query};
use crate::{IndexError, IndexReader};

/// Hits are asked for until there are groups enough, so many times as many at first.
const DEPTH: usize = 4;

/// The hits of one document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// Id of the document.
    pub document: String,
    /// Its title.
    pub title: Option<String>,
    /// The score of its best hit.
    pub score: f64,
    /// Its hits, best first, with their ranks among all hits.
    pub hits: Vec<Hit>,
}

impl Group {
    /// Puts ranked hits together by their documents, in the order of their best ones, and keeps the `per_document` best
    /// of each.
    #[must_use]
    pub fn gather(hits: Vec<Hit>, per_document: usize) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for hit in hits {
            let place = *places.entry(hit.document.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) if group.hits.len() < per_document => group.hits.push(hit),
                Some(_) => {}
                None => groups.push(Self {
                    document: hit.document.clone(),
                    title: hit.title.clone(),
                    score: hit.score,
                    hits: vec![hit],
                }),
            }
        }
        groups
    }
}

impl IndexReader {
    /// The `query.k` documents with the best hits, each with its `per_document` best, in the order of their best ones.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn search_grouped(&self, query: &Query, per_document: usize) -> Result<Vec<Group>, IndexError> {
        let all = usize::try_from(self.chunks()).unwrap_or(usize::MAX);
        let mut depth = query.k.saturating_mul(DEPTH).min(all.max(1));
        loop {
            let hits = self.search(&Query { k: depth, ..query.clone() })?;
            let exhausted = hits.len() < depth || depth >= all;
            let groups = Group::gather(hits, per_document.max(1));
            if exhausted || groups.len() >= query.k {
                return Ok(groups.into_iter().take(query.k).collect());
            }
            depth = depth.saturating_mul(DEPTH).min(all);
        }
    }
}
