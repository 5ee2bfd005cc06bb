//! What the full-text index keeps of a document's origin, and the manifest that is made of it.

use std::collections::BTreeMap;

use uuid::Uuid;

use super::{Changes, DocumentRecord, SourceRecord};

/// Where a document came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Hash of the document.
    pub document_hash: u128,
    /// Name of the source.
    pub source: String,
    /// Hash of the source's bytes, where it is known.
    pub source_hash: Option<u128>,
    /// As in [`SourceRecord`].
    pub fingerprint: String,
    /// Number of documents in the source, with the last of them: a source of which some are missing counts as unread.
    pub documents: Option<u64>,
}

impl Origin {
    /// One line: four words, then the name.
    pub fn encode(&self) -> String {
        let source_hash = self.source_hash.map_or_else(|| "-".to_owned(), |hash| format!("{hash:032x}"));
        let documents = self.documents.map_or_else(|| "-".to_owned(), |n| n.to_string());
        format!("{:032x} {source_hash} {documents} {} {}", self.document_hash, self.fingerprint, self.source)
    }

    /// The reverse; nothing where the line is none of ours.
    pub fn decode(line: &str) -> Option<Self> {
        let mut words = line.splitn(5, ' ');
        let document_hash = u128::from_str_radix(words.next()?, 16).ok()?;
        let source_hash = words.next()?;
        let source_hash = match source_hash {
            "-" => None,
            hash => Some(u128::from_str_radix(hash, 16).ok()?),
        };
        let documents = match words.next()? {
            "-" => None,
            number => Some(number.parse().ok()?),
        };
        let fingerprint = words.next()?.to_owned();
        Some(Self { document_hash, source: words.next()?.to_owned(), source_hash, fingerprint, documents })
    }
}

/// A document as the full-text index holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Indexed {
    pub id: String,
    pub chunks: Vec<Uuid>,
    pub origin: Option<Origin>,
}

/// The manifest of an index that holds these documents.
///
/// A source counts as read where all its documents were written from the same bytes and none is missing; else it is
/// read again, which costs time and changes nothing.
pub(crate) fn changes_of(indexed: Vec<Indexed>) -> Changes {
    let mut changes = Changes::default();
    // Of each source: its first document's origin, whether all agree with it, how many there are, and should be.
    let mut sources: BTreeMap<String, (Origin, bool, u64, Option<u64>)> = BTreeMap::new();
    for document in indexed {
        if let Some(origin) = &document.origin {
            let entry = sources.entry(origin.source.clone()).or_insert_with(|| (origin.clone(), true, 0, None));
            entry.1 &= (entry.0.source_hash, &entry.0.fingerprint) == (origin.source_hash, &origin.fingerprint);
            entry.2 += 1;
            entry.3 = entry.3.or(origin.documents);
        }
        let record = DocumentRecord {
            source: document.origin.as_ref().map(|o| o.source.clone()),
            hash: document.origin.as_ref().map(|o| o.document_hash),
            chunks: document.chunks,
        };
        changes.documents.insert(document.id, Some(record));
    }
    for (name, (origin, agree, found, expected)) in sources {
        let hash = origin.source_hash.filter(|_| agree && expected == Some(found));
        changes.sources.insert(name, Some(SourceRecord { hash, stamp: None, fingerprint: origin.fingerprint }));
    }
    changes
}
