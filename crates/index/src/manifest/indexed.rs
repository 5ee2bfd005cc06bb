//! The manifest that is made of the full-text index.

use pericope_store::{Known, Provenance, SourceRecord};
use uuid::Uuid;

use super::{Changes, DocumentRecord};

/// A document as the full-text index holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Indexed {
    pub id: String,
    pub chunks: Vec<Uuid>,
    pub provenance: Option<Provenance>,
}

/// The manifest of an index that holds these documents.
///
/// A source counts as read where all its documents were written from the same bytes and none is missing; else it is
/// read again, which costs time and changes nothing.
pub(crate) fn changes_of(indexed: Vec<Indexed>) -> Changes {
    let mut changes = Changes::default();
    let provenances = indexed.iter().filter_map(|one| Some((one.id.clone(), one.provenance.clone()?, true)));
    for (name, source) in Known::of_documents(provenances).sources {
        let record =
            SourceRecord { hash: source.hash, stamp: None, fingerprint: source.fingerprint, empty: source.empty };
        changes.sources.insert(name, Some(record));
    }
    for Indexed { id, chunks, provenance } in indexed {
        let hash = provenance.as_ref().map(|p| p.document_hash);
        changes.documents.insert(id, Some(DocumentRecord { source: provenance.map(|p| p.source), hash, chunks }));
    }
    changes
}
