use std::collections::HashMap;

use serde::Serialize;

use crate::Hit;

/// The hits of one document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    /// The id of the document.
    pub document: String,
    /// The title of the document.
    pub title: Option<String>,
    /// The score of the best hit.
    pub score: f64,
    /// The hits, best first, with their ranks among all hits.
    pub hits: Vec<Hit>,
}

impl Group {
    /// Puts ranked hits together by their documents, in the order of their best ones.
    pub(crate) fn gather(hits: Vec<Hit>) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        let mut places: HashMap<String, usize> = HashMap::new();
        for hit in hits {
            let place = *places.entry(hit.chunk.document.clone()).or_insert(groups.len());
            match groups.get_mut(place) {
                Some(group) => group.hits.push(hit),
                None => groups.push(Self {
                    document: hit.chunk.document.clone(),
                    title: hit.chunk.title.clone(),
                    score: hit.score,
                    hits: vec![hit],
                }),
            }
        }
        groups
    }
}
