//! What a sink is given, and the id under which it keeps it.

use pericope_api::{Chunk, Document, Format, Span};
use uuid::Uuid;

/// Namespace of the point ids: a random UUID, fixed for ever.
const NAMESPACE: Uuid = Uuid::from_u128(0x3a5c_71f0_9d0e_5b0c_8f27_70e6_c1f0_4b11);

/// Longer file endings are no types of files.
const MAX_ENDING: usize = 8;

/// One chunk on its way into a sink.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Id of the chunk in every sink; see [`point_id`].
    pub id: Uuid,
    /// Id of the document.
    pub document: String,
    /// Title of the document, for sinks of text.
    pub title: Option<String>,
    /// What kind of file the document is; see [`file_type`].
    pub file_type: String,
    /// Place among the document's chunks.
    pub ordinal: u64,
    /// Byte range in the document's source.
    pub span: Span,
    /// Headings above, outermost first.
    pub heading_path: Vec<String>,
    /// Name of the place on the page where the chunk begins (`#id`), where the format has one.
    pub anchor: Option<String>,
    /// The source between the chunk before this one and this one, where it is blank: what joins them again.
    pub lead: String,
    /// The source under the span; empty on the way into a sink of vectors.
    pub text: String,
    /// Token count of the text.
    pub tokens: u64,
    /// XXH3 (128 bits) of what the encoder reads; nothing where there is no encoder.
    pub encoded: Option<u128>,
    /// What the manifest knows of the document, so that it can be made again: with the first chunk only.
    pub(crate) origin: Option<String>,
}

impl Entry {
    /// The entry of a chunk; `encoded` is what the encoder reads of it.
    pub(crate) fn new(document: &Document, chunk: &Chunk, ordinal: usize, id: Uuid, encoded: Option<&str>) -> Self {
        Self {
            id,
            document: document.id.clone(),
            title: document.title.clone(),
            file_type: file_type(document),
            ordinal: ordinal as u64,
            span: chunk.span,
            heading_path: chunk.heading_path.clone(),
            anchor: document.anchor_at(chunk.span.start).map(str::to_owned),
            lead: String::new(),
            text: document.text(chunk.span).to_owned(),
            tokens: chunk.tokens as u64,
            encoded: encoded.map(Chunk::content_hash),
            origin: None,
        }
    }

    /// The same without its text, which sinks of vectors do not keep.
    pub(crate) fn without_text(&self) -> Self {
        Self {
            title: None,
            lead: String::new(),
            text: String::new(),
            document: self.document.clone(),
            file_type: self.file_type.clone(),
            heading_path: self.heading_path.clone(),
            anchor: self.anchor.clone(),
            origin: None,
            ..*self
        }
    }
}

/// What `--type` asks for: `md`, `html`, else the file's own ending in lower case where it has a short one, else `txt`.
#[must_use]
pub fn file_type(document: &Document) -> String {
    let ending = || {
        let name = document.id.rsplit('/').next().unwrap_or("");
        let (stem, ending) = name.rsplit_once('.')?;
        let short = !stem.is_empty() && (1..=MAX_ENDING).contains(&ending.len());
        (short && ending.bytes().all(|b| b.is_ascii_alphanumeric())).then(|| ending.to_ascii_lowercase())
    };
    match document.format {
        Format::Markdown => "md".to_owned(),
        Format::Html => "html".to_owned(),
        _ => canonical_type(&ending().unwrap_or_else(|| "txt".to_owned())),
    }
}

/// One name for endings that mean the same: `markdown` is `md`, `htm` is `html`, `text` is `txt`.
#[must_use]
pub fn canonical_type(name: &str) -> String {
    let name = name.trim_start_matches('.').to_ascii_lowercase();
    match name.as_str() {
        "markdown" | "mdown" | "mkd" | "mdx" => "md",
        "htm" | "xhtml" => "html",
        "text" | "plain" => "txt",
        "asciidoc" => "adoc",
        "rest" => "rst",
        other => other,
    }
    .to_owned()
}

/// XXH3 (128 bits) of all of a document that its chunks are made from: title, format, source.
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

    #[test]
    fn types_are_formats_or_endings() {
        let of = |id: &str, format| file_type(&Document { format, ..Document::from_sentences(id, &["x"]) });
        assert_eq!(of("a/b.mdx", Format::Markdown), "md");
        assert_eq!(of("17", Format::Html), "html");
        assert_eq!(of("a/b.RST", Format::Plain), "rst");
        for id in ["README", "a.b/README", ".profile", "a.name too long", "a.tar.longending", "x."] {
            assert_eq!(of(id, Format::Plain), "txt", "{id}");
        }
    }

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
