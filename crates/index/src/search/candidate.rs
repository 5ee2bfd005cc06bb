use std::sync::Arc;

use tantivy::DocAddress;

use crate::IndexError;
use crate::engines::Snapshot;

/// A chunk on its way into a ranking. Its order is that of equal scores: by document, then by place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub document: Arc<str>,
    pub start: u64,
    pub end: u64,
    pub address: DocAddress,
}

impl Candidate {
    /// Reads what orders a chunk, from columns.
    pub fn at(snapshot: &Snapshot, address: DocAddress) -> Result<Self, IndexError> {
        let document = snapshot.columns.document(&snapshot.searcher, address)?;
        let (start, end) = snapshot.columns.span(&snapshot.searcher, address)?;
        Ok(Self { document, start, end, address })
    }
}

/// Orders by score, the highest first, equal ones by document and place, and keeps `depth`.
pub(crate) fn best(mut scored: Vec<(Candidate, f64)>, depth: usize) -> Vec<(Candidate, f64)> {
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    scored.truncate(depth);
    scored
}
