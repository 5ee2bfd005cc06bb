//! What a sink is given, and the id under which it keeps it.

use pericope_api::{Chunk, Document, Span};
use uuid::Uuid;

/// Namespace of the point ids: a random UUID, fixed for ever.
const NAMESPACE: Uuid = Uuid::from_u128(0x3a5c_71f0_9d0e_5b0c_8f27_70e6_c1f0_4b11);

/// One chunk on its way into a sink.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Id of the chunk in every sink; see [`point_id`].
    pub id: Uuid,
    /// Id of the document.
    pub document: String,
    /// Title of the document, for sinks of text.
    pub title: Option<String>,
    /// Place among the document's chunks.
    pub ordinal: u64,
    /// Byte range in the document's source.
    pub span: Span,
    /// Headings above, outermost first.
    pub heading_path: Vec<String>,
    /// The source under the span; empty on the way into a sink of vectors.
    pub text: String,
    /// Token count of the text.
    pub tokens: u64,
}

impl Entry {
    /// The entry of a chunk.
    pub(crate) fn new(document: &Document, chunk: &Chunk, ordinal: usize, id: Uuid) -> Self {
        Self {
            id,
            document: document.id.clone(),
            title: document.title.clone(),
            ordinal: ordinal as u64,
            span: chunk.span,
            heading_path: chunk.heading_path.clone(),
            text: document.text(chunk.span).to_owned(),
            tokens: chunk.tokens as u64,
        }
    }

    /// The same without its text, which sinks of vectors do not keep.
    pub(crate) fn without_text(&self) -> Self {
        Self {
            id: self.id,
            document: self.document.clone(),
            title: None,
            ordinal: self.ordinal,
            span: self.span,
            heading_path: self.heading_path.clone(),
            text: String::new(),
            tokens: self.tokens,
        }
    }
}

/// UUIDv5 of the document's id, the range, the text's hash and the hash of what the encoder reads of it (`encoded`, the
/// text itself where there is no encoder).
///
/// The same chunk has the same id in every run, so that writing it again overwrites it, and a chunk whose text changed
/// has another one: a point whose id the full-text index knows is up to date.
#[must_use]
pub fn point_id(document: &str, span: Span, text: &str, encoded: &str) -> Uuid {
    let mut key = Vec::with_capacity(document.len() + 64);
    key.extend_from_slice(document.as_bytes());
    // No UTF-8 text holds this byte, so no two keys run together.
    key.push(0xff);
    key.extend_from_slice(&(span.start as u64).to_le_bytes());
    key.extend_from_slice(&(span.end as u64).to_le_bytes());
    key.extend_from_slice(&Chunk::content_hash(text).to_le_bytes());
    key.extend_from_slice(&Chunk::content_hash(encoded).to_le_bytes());
    Uuid::new_v5(&NAMESPACE, &key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_depend_on_document_place_text_and_what_is_encoded() {
        let at = |start| Span::new(start, start + 4);
        let base = point_id("d", at(0), "fish", "fish");
        assert_eq!(base, point_id("d", at(0), "fish", "fish"));
        assert_eq!(base.get_version_num(), 5);
        for other in [
            point_id("e", at(0), "fish", "fish"),
            point_id("d", at(1), "fish", "fish"),
            point_id("d", at(0), "dish", "fish"),
            point_id("d", at(0), "fish", "Sea > fish"),
        ] {
            assert_ne!(base, other);
        }
    }
}
