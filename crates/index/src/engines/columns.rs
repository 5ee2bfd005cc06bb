//! The columns that rankings read, opened once for a commit.

use std::sync::{Arc, OnceLock};

use tantivy::columnar::{Column, StrColumn};
use tantivy::{DocAddress, DocId, Searcher, TantivyError};
use uuid::Uuid;

use crate::IndexError;

/// The columns of every segment of a commit. A segment's are opened when they are first read.
pub(crate) struct Columns(Vec<OnceLock<SegmentColumns>>);

struct SegmentColumns {
    documents: Option<StrColumn>,
    /// The documents' ids by their numbers in the column, as far as they were asked for: the engine keeps them in
    /// compressed blocks, and unpacks a block for each look.
    names: Box<[OnceLock<Arc<str>>]>,
    start: Column<u64>,
    end: Column<u64>,
    ordinal: Column<u64>,
    point_high: Column<u64>,
    point_low: Column<u64>,
}

impl Columns {
    /// Those of the commit that the searcher looks at.
    pub fn of(searcher: &Searcher) -> Self {
        Self(searcher.segment_readers().iter().map(|_| OnceLock::new()).collect())
    }

    fn segment(&self, searcher: &Searcher, ord: u32) -> Result<&SegmentColumns, IndexError> {
        let missing = || IndexError::from(TantivyError::InternalError(format!("there is no segment {ord}")));
        let place = usize::try_from(ord).ok().and_then(|ord| self.0.get(ord)).ok_or_else(missing)?;
        match place.get() {
            Some(columns) => Ok(columns),
            None => {
                let opened = SegmentColumns::open(searcher, ord)?;
                Ok(place.get_or_init(|| opened))
            }
        }
    }

    /// The id of a chunk's document.
    pub fn document(&self, searcher: &Searcher, address: DocAddress) -> Result<Arc<str>, IndexError> {
        self.segment(searcher, address.segment_ord)?.document(address.doc_id)
    }

    /// Where a chunk begins and ends in its document's source, in bytes.
    pub fn span(&self, searcher: &Searcher, address: DocAddress) -> Result<(u64, u64), IndexError> {
        let columns = self.segment(searcher, address.segment_ord)?;
        Ok((number(&columns.start, address.doc_id), number(&columns.end, address.doc_id)))
    }

    /// A chunk's id and its place in the document.
    pub fn id_and_ordinal(&self, searcher: &Searcher, address: DocAddress) -> Result<(Uuid, usize), IndexError> {
        let columns = self.segment(searcher, address.segment_ord)?;
        let (high, low) = (number(&columns.point_high, address.doc_id), number(&columns.point_low, address.doc_id));
        let ordinal = usize::try_from(number(&columns.ordinal, address.doc_id)).unwrap_or(usize::MAX);
        Ok((Uuid::from_u64_pair(high, low), ordinal))
    }
}

impl SegmentColumns {
    fn open(searcher: &Searcher, ord: u32) -> Result<Self, IndexError> {
        let fast = searcher.segment_reader(ord).fast_fields();
        let documents = fast.str("doc_id")?;
        let names = documents.as_ref().map_or(0, |column| column.num_terms());
        Ok(Self {
            names: (0..names).map(|_| OnceLock::new()).collect(),
            documents,
            start: fast.u64("start")?,
            end: fast.u64("end")?,
            ordinal: fast.u64("ordinal")?,
            point_high: fast.u64("point_high")?,
            point_low: fast.u64("point_low")?,
        })
    }

    fn document(&self, doc: DocId) -> Result<Arc<str>, IndexError> {
        let Some(column) = &self.documents else { return Ok(Arc::default()) };
        let Some(ord) = column.term_ords(doc).next() else { return Ok(Arc::default()) };
        let known = usize::try_from(ord).ok().and_then(|ord| self.names.get(ord));
        if let Some(name) = known.and_then(OnceLock::get) {
            return Ok(Arc::clone(name));
        }
        let mut name = String::new();
        column.ord_to_str(ord, &mut name).map_err(TantivyError::from)?;
        let name: Arc<str> = name.into();
        if let Some(place) = known {
            // Another thread may have put the same name there.
            let _ = place.set(Arc::clone(&name));
        }
        Ok(name)
    }
}

fn number(column: &Column<u64>, doc: DocId) -> u64 {
    column.first(doc).unwrap_or(0)
}
