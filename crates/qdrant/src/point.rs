use std::collections::HashMap;

use pericope_api::Heading;
use pericope_store::{ChunkId, ChunkRecord, Language, file_type_of};
use qdrant_client::qdrant::{
    DenseVector, NamedVectors, PointId, PointStruct, SparseVector, Value, Vector, point_id, vector, vectors,
};
use uuid::Uuid;

use crate::Error;

/// Name of the dense vector.
pub(crate) const DENSE: &str = "dense";
/// Name of the sparse vector.
pub(crate) const SPARSE: &str = "bm25";

/// The names of the payload's fields. Those that are filtered by have an index, made before the first chunk is loaded.
pub mod fields {
    /// Id of the document (keyword, indexed).
    pub const DOCUMENT: &str = "document";
    /// Hash of all that the document's chunks depend on (keyword, indexed).
    pub const REVISION: &str = "revision";
    /// The number of chunks that the document has in this revision (integer).
    pub const CHUNKS: &str = "chunks";
    /// Place among the document's chunks, from 0 (integer, indexed).
    pub const ORDINAL: &str = "ordinal";
    /// First byte in the document's source (integer).
    pub const START: &str = "start";
    /// One past the last byte (integer).
    pub const END: &str = "end";
    /// The document's id and the folders above it (keywords, indexed).
    pub const PATH: &str = "path";
    /// Headings above, outermost first (strings).
    pub const HEADING_PATH: &str = "heading_path";
    /// These headings and those that the chunk holds in one string, joined by ` > ` (text, indexed by its words in lower
    /// case). Filters alone read it. In points of earlier versions it has those above alone.
    pub const HEADING: &str = "heading";
    /// The type of the document's file (keyword, indexed): the point's own, else by the document's ending.
    pub const FILE_TYPE: &str = "file_type";
    /// The name of the place on the page where the chunk begins (string); absent without one.
    pub const ANCHOR: &str = "anchor";
    /// Title of the document (string); absent where there is none.
    pub const TITLE: &str = "title";
    /// The chunk's text: exactly the source under `start..end` (string).
    pub const TEXT: &str = "text";
    /// What places the chunk in its document (string); absent where nobody wrote it.
    pub const CONTEXT: &str = "context";
    /// Tokens of the text (integer).
    pub const TOKENS: &str = "tokens";
    /// The blank source between the chunk before and this one (string); absent where there is none.
    pub const LEADING: &str = "lead";
    /// Line of the first byte, from 1 (integer); absent in points of earlier versions.
    pub const LINE: &str = "line";
    /// Characters of the source before the first byte (integer); there with the line.
    pub const CHAR: &str = "char";
    /// The language in which the document's words were read, by its code (keyword, indexed); absent where it is English.
    pub const LANGUAGE: &str = "language";
    /// The provenance of the document, in the words of who loaded it (string); absent without one.
    pub const ORIGIN: &str = "origin";
}

/// One chunk on its way into a collection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    /// The same for the same chunk of the same document in every run, so that storing it again replaces it.
    pub id: ChunkId,
    /// The chunk itself. A file type that is empty is told by the document's ending.
    pub chunk: ChunkRecord,
    /// The headings that the chunk holds beside its path, by which filters find it, too.
    pub headings: Vec<Heading>,
    /// The hash of all that the document's chunks depend on: the document counts as up to date while it is the same.
    pub revision: String,
    /// The number of chunks that the document has: with fewer in the collection it counts as half loaded.
    pub chunks: u64,
    /// The provenance of the document, in the caller's words, the same for all of its chunks: handed back by
    /// [`Collection::documents`](crate::Collection::documents).
    pub origin: Option<String>,
    /// The embedder's vector; nothing where the collection has none.
    pub vector: Option<Vec<f32>>,
    /// The terms' weights, by [`Bm25`](crate::Bm25).
    pub sparse: Vec<(u32, f32)>,
}

impl Point {
    /// Checks the point against the collection's vectors and makes the server's form of it.
    pub(crate) fn into_struct(self, collection: &str, dimension: Option<usize>) -> Result<PointStruct, Error> {
        let chunk = self.chunk;
        let found = self.vector.as_ref().map_or(0, Vec::len);
        let expected = dimension.unwrap_or(0);
        if found != expected {
            return Err(Error::Dimension {
                what: format!("chunk {} of `{}`", chunk.ordinal, chunk.document),
                collection: collection.to_owned(),
                found,
                expected,
            });
        }
        let finite = self.vector.iter().flatten().chain(self.sparse.iter().map(|(_, w)| w)).all(|x| x.is_finite());
        if !finite {
            let reason = "its vector holds a number that is not finite".to_owned();
            return Err(Error::BadPoint { document: chunk.document, ordinal: chunk.ordinal, reason });
        }
        let mut named = HashMap::with_capacity(2);
        if !self.sparse.is_empty() {
            let (indices, values) = self.sparse.into_iter().unzip();
            named.insert(SPARSE.to_owned(), vector_of(vector::Vector::Sparse(SparseVector { indices, values })));
        }
        if let Some(data) = self.vector {
            named.insert(DENSE.to_owned(), vector_of(vector::Vector::Dense(DenseVector { data })));
        }
        let mut payload: HashMap<String, Value> = HashMap::with_capacity(16);
        let mut put = |name: &str, value: Value| drop(payload.insert(name.to_owned(), value));
        let integer = |number: u64| Value::from(i64::try_from(number).unwrap_or(i64::MAX));
        let file_type = match chunk.file_type.as_str() {
            "" => file_type_of(&chunk.document),
            _ => chunk.file_type,
        };
        put(fields::PATH, path_prefixes(&chunk.document).into());
        let headings: Vec<&str> = chunk.heading_path.iter().chain(&self.headings).map(Heading::as_str).collect();
        put(fields::HEADING, headings.join(" > ").into());
        put(fields::FILE_TYPE, file_type.into());
        put(fields::DOCUMENT, chunk.document.into());
        put(fields::REVISION, self.revision.into());
        put(fields::CHUNKS, integer(self.chunks));
        put(fields::ORDINAL, integer(chunk.ordinal as u64));
        put(fields::START, integer(chunk.start as u64));
        put(fields::END, integer(chunk.end as u64));
        put(fields::HEADING_PATH, chunk.heading_path.into_iter().map(String::from).collect::<Vec<_>>().into());
        if let Some(anchor) = chunk.anchor {
            put(fields::ANCHOR, anchor.into());
        }
        if let Some(title) = chunk.title {
            put(fields::TITLE, title.into());
        }
        put(fields::TEXT, chunk.text.into());
        if let Some(context) = chunk.context {
            put(fields::CONTEXT, context.into());
        }
        put(fields::TOKENS, integer(chunk.tokens as u64));
        if !chunk.leading.is_empty() {
            put(fields::LEADING, chunk.leading.into());
        }
        if chunk.language != Language::English {
            put(fields::LANGUAGE, chunk.language.code().to_owned().into());
        }
        if let Some(begins) = chunk.begins {
            put(fields::LINE, integer(begins.line as u64));
            put(fields::CHAR, integer(begins.char as u64));
        }
        if let Some(origin) = self.origin {
            put(fields::ORIGIN, origin.into());
        }
        Ok(PointStruct {
            id: Some(id_of(self.id)),
            payload,
            vectors: Some(qdrant_client::qdrant::Vectors {
                vectors_options: Some(vectors::VectorsOptions::Vectors(NamedVectors { vectors: named })),
            }),
        })
    }
}

#[allow(deprecated, reason = "the old fields must be given a value, and stay empty")]
fn vector_of(vector: vector::Vector) -> Vector {
    Vector { data: Vec::new(), indices: None, vectors_count: None, vector: Some(vector) }
}

pub(crate) fn id_of(id: Uuid) -> PointId {
    PointId { point_id_options: Some(point_id::PointIdOptions::Uuid(id.to_string())) }
}

/// The path itself and the folders above it, outermost first; without a leading `./` or a slash at the end.
pub(crate) fn path_prefixes(path: &str) -> Vec<String> {
    let path = plain(path);
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    // The slash in front of an absolute path ends nothing.
    ends.filter(|&end| end > 0).filter_map(|end| path.get(..end)).map(str::to_owned).collect()
}

/// A path as [`path_prefixes`] writes it.
pub(crate) fn plain(path: &str) -> &str {
    path.trim_start_matches("./").trim_end_matches('/')
}

#[cfg(test)]
mod tests {
    use super::path_prefixes;

    #[test]
    fn prefixes_are_the_folders_above() {
        assert_eq!(path_prefixes("guide/use/start.md"), ["guide", "guide/use", "guide/use/start.md"]);
        assert_eq!(path_prefixes("/srv/docs/"), ["/srv", "/srv/docs"]);
    }
}
