use std::collections::HashMap;

use crate::source::{Known, KnownSource};

/// The source that a document came from, as stores keep it with the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provenance {
    /// The hash of the document.
    pub document_hash: u128,
    /// The name of the source.
    pub source: String,
    /// The hash of the source's bytes; `None` if it is not known.
    pub source_hash: Option<u128>,
    /// As in [`SourceRecord`](crate::SourceRecord).
    pub fingerprint: String,
    /// The number of documents in the source, with the last of them: a source of which some are missing counts as unread.
    pub documents: Option<u64>,
    /// The number of documents without text in the source, with the last that has some; else 0.
    pub empty: u64,
}

impl Provenance {
    /// Returns one line: four words, then the name.
    #[must_use]
    pub fn encode(&self) -> String {
        let source_hash = self.source_hash.map_or_else(|| "-".to_owned(), |hash| format!("{hash:032x}"));
        let documents = match (self.documents, self.empty) {
            (None, _) => "-".to_owned(),
            (Some(documents), 0) => documents.to_string(),
            (Some(documents), empty) => format!("{documents}+{empty}"),
        };
        format!("{:032x} {source_hash} {documents} {} {}", self.document_hash, self.fingerprint, self.source)
    }

    /// Reads such a line; `None` for any other.
    #[must_use]
    pub fn decode(line: &str) -> Option<Self> {
        let mut words = line.splitn(5, ' ');
        let document_hash = u128::from_str_radix(words.next()?, 16).ok()?;
        let source_hash = words.next()?;
        let source_hash = match source_hash {
            "-" => None,
            hash => Some(u128::from_str_radix(hash, 16).ok()?),
        };
        let (documents, empty) = match words.next()? {
            "-" => (None, 0),
            numbers => {
                let (documents, empty) = numbers.split_once('+').unwrap_or((numbers, "0"));
                (Some(documents.parse().ok()?), empty.parse().ok()?)
            }
        };
        let fingerprint = words.next()?.to_owned();
        Some(Self { document_hash, source: words.next()?.to_owned(), source_hash, fingerprint, documents, empty })
    }
}

/// The documents of a source, counted.
struct Census {
    first: Provenance,
    /// All were written from the same bytes in the same way.
    agree: bool,
    found: u64,
    expected: Option<u64>,
    empty: u64,
}

impl Census {
    fn new(first: &Provenance) -> Self {
        Self { first: first.clone(), agree: true, found: 0, expected: None, empty: 0 }
    }

    fn count(&mut self, one: &Provenance) {
        self.agree &= (self.first.source_hash, &self.first.fingerprint) == (one.source_hash, &one.fingerprint);
        self.found += 1;
        self.expected = self.expected.or(one.documents);
        self.empty = self.empty.max(one.empty);
    }

    /// The hash of the source, where all of it is there.
    fn hash(&self) -> Option<u128> {
        self.first.source_hash.filter(|_| self.agree && self.expected == Some(self.found))
    }
}

impl Known {
    /// Returns what is known of the sources by the provenances of their documents alone. `whole` (the last of the three)
    /// says whether all of the document is there; one that is not is written again.
    ///
    /// A source counts as read if all of its documents are there, whole, and were written from the same bytes.
    #[must_use]
    pub fn of_documents(documents: impl IntoIterator<Item = (String, Provenance, bool)>) -> Self {
        let mut sources: HashMap<String, (Census, KnownSource)> = HashMap::new();
        for (id, provenance, whole) in documents {
            let entry = sources.entry(provenance.source.clone());
            let (census, source) = entry.or_insert_with(|| (Census::new(&provenance), KnownSource::default()));
            census.count(&provenance);
            census.agree &= whole;
            source.documents.push((id, whole.then_some(provenance.document_hash)));
        }
        let finished = |(name, (census, mut source)): (String, (Census, KnownSource))| {
            source.hash = census.hash();
            source.empty = census.empty;
            source.fingerprint = census.first.fingerprint;
            source.documents.sort_unstable();
            (name, source)
        };
        Self { sources: sources.into_iter().map(finished).collect() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn provenance(source: &str, hash: u128, documents: Option<u64>) -> Provenance {
        Provenance {
            document_hash: 5,
            source: source.into(),
            source_hash: Some(hash),
            fingerprint: "f".into(),
            documents,
            empty: 0,
        }
    }

    #[test]
    fn provenances_are_read_as_they_were_written() {
        for source in ["a.md", "with spaces/and - dashes.md", "", "  "] {
            for provenance in [
                provenance(source, u128::MAX, Some(17)),
                Provenance { empty: 3, ..provenance(source, 1, Some(2)) },
                Provenance { source_hash: None, documents: None, ..provenance(source, 0, None) },
            ] {
                assert_eq!(Provenance::decode(&provenance.encode()), Some(provenance));
            }
        }
        for line in ["", "zz - - f a", "1 2 3", "1 - x f a", "1 - 2+ f a", "1 - +2 f a"] {
            assert_eq!(Provenance::decode(line), None, "{line:?}");
        }
    }

    #[test]
    fn what_is_known_can_be_made_of_provenances_alone() {
        let part = |id: &str, hash, documents, whole| (id.to_owned(), provenance("s", hash, documents), whole);
        let of = |documents: Vec<_>| Known::of_documents(documents).sources.remove("s").unwrap();
        let all = of(vec![part("2", 7, Some(2), true), part("1", 7, None, true)]);
        assert_eq!((all.hash, all.fingerprint.as_str()), (Some(7), "f"));
        assert_eq!(all.documents, [("1".to_owned(), Some(5)), ("2".to_owned(), Some(5))]);
        let counted =
            |id: &str, documents, empty| (id.to_owned(), Provenance { empty, ..provenance("s", 7, documents) }, true);
        let with_empty = of(vec![counted("2", Some(2), 4), counted("1", None, 0)]);
        assert_eq!((with_empty.hash, with_empty.empty, all.empty), (Some(7), 4, 0));
        // Half of a document is there: it and its source are read again.
        let half = of(vec![part("1", 7, None, false), part("2", 7, Some(2), true)]);
        assert_eq!((half.hash, half.documents), (None, vec![("1".to_owned(), None), ("2".to_owned(), Some(5))]));
        assert_eq!(of(vec![part("2", 7, Some(2), true)]).hash, None);
        assert_eq!(of(vec![part("1", 6, None, true), part("2", 7, Some(2), true)]).hash, None);
    }
}
