use pericope_api::Document;

use crate::Provenance;

/// A document on its way into a store, without its chunks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentHeader {
    /// The id.
    pub id: String,
    /// The hash of all that its chunks are made from; see [`document_hash`].
    pub hash: u128,
    /// The size of its source text in bytes.
    pub bytes: u64,
    /// The source that it came from; `None` for a document that is written anew in every run.
    pub provenance: Option<Provenance>,
}

impl DocumentHeader {
    /// Returns the header of a document that came from no source in particular.
    #[must_use]
    pub fn new(document: &Document) -> Self {
        let bytes = document.source.len() as u64;
        Self { id: document.id.clone(), hash: document_hash(document), bytes, provenance: None }
    }
}

/// Returns XXH3 (128 bits) of all of a document that its chunks are made from: title, format, source.
#[must_use]
pub fn document_hash(document: &Document) -> u128 {
    let mut hasher = twox_hash::xxhash3_128::Hasher::new();
    hasher.write(document.title.as_deref().unwrap_or("").as_bytes());
    // No UTF-8 text holds this byte, so no two documents run together.
    hasher.write(&[0xff]);
    hasher.write(format!("{:?}", document.format).as_bytes());
    hasher.write(&[0xff]);
    hasher.write(document.source.as_bytes());
    hasher.finish_128()
}

#[cfg(test)]
mod tests {
    use pericope_api::Format;

    use super::*;

    #[test]
    fn documents_differ_by_title_format_and_source() {
        let base = Document::from_sentences("a", &["x"]);
        let titled = Document { title: Some("x".into()), ..base.clone() };
        let html = Document { format: Format::Html, ..base.clone() };
        let other = Document::from_sentences("a", &["y"]);
        let renamed = Document { id: "b".into(), ..base.clone() };
        let hashes = [&base, &titled, &html, &other].map(document_hash);
        assert_eq!(std::collections::HashSet::from(hashes).len(), 4);
        assert_eq!(document_hash(&renamed), hashes[0]);
    }
}
