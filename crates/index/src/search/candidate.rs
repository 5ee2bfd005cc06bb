use tantivy::{DocAddress, Searcher};
use uuid::Uuid;

use crate::IndexError;

/// A chunk on its way into a ranking. Its order is that of equal scores: by document, then by place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub document: String,
    pub start: u64,
    pub end: u64,
    pub address: DocAddress,
}

impl Candidate {
    /// Reads what orders a chunk, from columns.
    pub fn at(searcher: &Searcher, address: DocAddress) -> Result<Self, IndexError> {
        let fast = searcher.segment_reader(address.segment_ord).fast_fields();
        let mut document = String::new();
        if let Some(column) = fast.str("doc_id")?
            && let Some(ord) = column.term_ords(address.doc_id).next()
        {
            column.ord_to_str(ord, &mut document).map_err(tantivy::TantivyError::from)?;
        }
        let number = |name| Ok::<_, IndexError>(fast.u64(name)?.first(address.doc_id).unwrap_or(0));
        Ok(Self { document, start: number("start")?, end: number("end")?, address })
    }

    /// Reads the chunk's id and its place in the document, from columns.
    pub fn id_and_ordinal(&self, searcher: &Searcher) -> Result<(Uuid, usize), IndexError> {
        let fast = searcher.segment_reader(self.address.segment_ord).fast_fields();
        let number = |name| Ok::<_, IndexError>(fast.u64(name)?.first(self.address.doc_id).unwrap_or(0));
        let id = Uuid::from_u64_pair(number("point_high")?, number("point_low")?);
        Ok((id, usize::try_from(number("ordinal")?).unwrap_or(usize::MAX)))
    }
}

/// Orders by score, the highest first, equal ones by document and place, and keeps `depth`.
pub(crate) fn best(mut scored: Vec<(Candidate, f64)>, depth: usize) -> Vec<(Candidate, f64)> {
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    scored.truncate(depth);
    scored
}
