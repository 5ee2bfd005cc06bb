//! What the full-text index keeps of a document's origin, and the manifest that is made of it.

use std::collections::{BTreeMap, HashMap};

use uuid::Uuid;

use super::{Changes, DocumentRecord, Known, KnownSource, SourceRecord};

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
    let mut sources: BTreeMap<String, Census> = BTreeMap::new();
    for document in indexed {
        if let Some(origin) = &document.origin {
            sources.entry(origin.source.clone()).or_insert_with(|| Census::new(origin)).count(origin);
        }
        let record = DocumentRecord {
            source: document.origin.as_ref().map(|o| o.source.clone()),
            hash: document.origin.as_ref().map(|o| o.document_hash),
            chunks: document.chunks,
        };
        changes.documents.insert(document.id, Some(record));
    }
    for (name, census) in sources {
        let (hash, fingerprint) = (census.hash(), census.first.fingerprint);
        changes.sources.insert(name, Some(SourceRecord { hash, stamp: None, fingerprint }));
    }
    changes
}

/// The documents of a source, counted.
struct Census {
    first: Origin,
    /// All were written from the same bytes in the same way.
    agree: bool,
    found: u64,
    expected: Option<u64>,
}

impl Census {
    fn new(first: &Origin) -> Self {
        Self { first: first.clone(), agree: true, found: 0, expected: None }
    }

    fn count(&mut self, origin: &Origin) {
        self.agree &= (self.first.source_hash, &self.first.fingerprint) == (origin.source_hash, &origin.fingerprint);
        self.found += 1;
        self.expected = self.expected.or(origin.documents);
    }

    /// The hash of the source, where all of it is there.
    fn hash(&self) -> Option<u128> {
        self.first.source_hash.filter(|_| self.agree && self.expected == Some(self.found))
    }
}

impl Known {
    /// What a destination knows that keeps an origin with each document, and nothing of the sources themselves. `whole`
    /// (the last of the three) says whether all of the document is there: what is not is written again.
    ///
    /// A source counts as read where all of its documents are there, whole, and were written from the same bytes.
    #[must_use]
    pub fn of_documents(documents: impl IntoIterator<Item = (String, Origin, bool)>) -> Self {
        let mut sources: HashMap<String, (Census, KnownSource)> = HashMap::new();
        for (id, origin, whole) in documents {
            let entry = sources.entry(origin.source.clone());
            let (census, source) = entry.or_insert_with(|| (Census::new(&origin), KnownSource::default()));
            census.count(&origin);
            census.agree &= whole;
            source.documents.push((id, whole.then_some(origin.document_hash)));
        }
        let finished = |(name, (census, mut source)): (String, (Census, KnownSource))| {
            source.hash = census.hash();
            source.fingerprint = census.first.fingerprint;
            source.documents.sort_unstable();
            (name, source)
        };
        Self { sources: sources.into_iter().map(finished).collect() }
    }
}
