use std::collections::HashMap;

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
    /// How many chunks the document has in this revision (integer).
    pub const CHUNKS: &str = "chunks";
    /// Place among the document's chunks, from 0 (integer, indexed).
    pub const ORDINAL: &str = "ordinal";
    /// First byte in the document's source (integer).
    pub const START: &str = "start";
    /// One past the last byte (integer).
    pub const END: &str = "end";
    /// The document's id and the folders above it (keywords, indexed); see [`path_prefixes`](super::path_prefixes).
    pub const PATH: &str = "path";
    /// Headings above, outermost first (strings).
    pub const HEADING_PATH: &str = "heading_path";
    /// The headings in one string, joined by ` > ` (text, indexed by its words in lower case).
    pub const HEADING: &str = "heading";
    /// What kind of file the document is (keyword, indexed): what the point says, else the document's ending in lower
    /// case; absent where it has none. See [`file_type`](super::file_type).
    pub const FILE_TYPE: &str = "file_type";
    /// Where in the page a link to the chunk leads (string); absent where there is none.
    pub const ANCHOR: &str = "anchor";
    /// Title of the document (string); absent where there is none.
    pub const TITLE: &str = "title";
    /// The chunk's text: exactly the source under `start..end` (string).
    pub const TEXT: &str = "text";
    /// Tokens of the text (integer).
    pub const TOKENS: &str = "tokens";
    /// The blank source between the chunk before and this one (string); absent where there is none.
    pub const LEAD: &str = "lead";
    /// Where the document came from, in the words of who loaded it (string); absent where nothing was said.
    pub const ORIGIN: &str = "origin";
}

/// One chunk on its way into a collection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Point {
    /// The same for the same chunk of the same document in every run, so that storing it again replaces it.
    pub id: Uuid,
    /// Id of the document.
    pub document: String,
    /// Hash of all that the document's chunks depend on: the document counts as up to date while it is the same.
    pub revision: String,
    /// How many chunks the document has: with fewer in the collection it counts as half loaded.
    pub chunks: u64,
    /// Place among the document's chunks, from 0.
    pub ordinal: u64,
    /// First byte in the document's source.
    pub start: u64,
    /// One past the last byte.
    pub end: u64,
    /// Headings above, outermost first.
    pub heading_path: Vec<String>,
    /// Where in the page a link to the chunk leads, without `#`.
    pub anchor: Option<String>,
    /// Title of the document.
    pub title: Option<String>,
    /// The source under `start..end`.
    pub text: String,
    /// Tokens of the text.
    pub tokens: u64,
    /// What kind of file the document is, in lower case; where nothing is said, its ending.
    pub file_type: Option<String>,
    /// The source between the chunk before and this one where it is blank: what joins the two again.
    pub lead: String,
    /// Where the document came from, in the caller's words, the same for all of its chunks: handed back by
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
        let found = self.vector.as_ref().map_or(0, Vec::len);
        let expected = dimension.unwrap_or(0);
        if found != expected {
            return Err(Error::Dimension {
                what: format!("chunk {} of `{}`", self.ordinal, self.document),
                collection: collection.to_owned(),
                found,
                expected,
            });
        }
        let finite = self.vector.iter().flatten().chain(self.sparse.iter().map(|(_, w)| w)).all(|x| x.is_finite());
        if !finite {
            let reason = "its vector holds a number that is not finite".to_owned();
            return Err(Error::BadPoint { document: self.document, ordinal: self.ordinal, reason });
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
        put(fields::PATH, path_prefixes(&self.document).into());
        put(fields::HEADING, self.heading_path.join(" > ").into());
        if let Some(file_type) = self.file_type.or_else(|| file_type(&self.document)) {
            put(fields::FILE_TYPE, file_type.into());
        }
        put(fields::DOCUMENT, self.document.into());
        put(fields::REVISION, self.revision.into());
        put(fields::CHUNKS, integer(self.chunks));
        put(fields::ORDINAL, integer(self.ordinal));
        put(fields::START, integer(self.start));
        put(fields::END, integer(self.end));
        put(fields::HEADING_PATH, self.heading_path.into());
        if let Some(anchor) = self.anchor {
            put(fields::ANCHOR, anchor.into());
        }
        if let Some(title) = self.title {
            put(fields::TITLE, title.into());
        }
        put(fields::TEXT, self.text.into());
        put(fields::TOKENS, integer(self.tokens));
        if !self.lead.is_empty() {
            put(fields::LEAD, self.lead.into());
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

pub(crate) fn uuid_of(id: Option<&PointId>) -> Option<Uuid> {
    match id?.point_id_options.as_ref()? {
        point_id::PointIdOptions::Uuid(text) => Uuid::parse_str(text).ok(),
        point_id::PointIdOptions::Num(_) => None,
    }
}

/// The path itself and the folders above it, outermost first; without a leading `./` or a slash at the end.
///
/// ```
/// # use pericope_qdrant::path_prefixes;
/// assert_eq!(path_prefixes("guide/use/start.md"), ["guide", "guide/use", "guide/use/start.md"]);
/// assert_eq!(path_prefixes("/srv/docs/"), ["/srv", "/srv/docs"]);
/// ```
#[must_use]
pub fn path_prefixes(path: &str) -> Vec<String> {
    let path = plain(path);
    let ends = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
    // The slash in front of an absolute path ends nothing.
    ends.filter(|&end| end > 0).filter_map(|end| path.get(..end)).map(str::to_owned).collect()
}

/// A path as [`path_prefixes`] writes it.
pub(crate) fn plain(path: &str) -> &str {
    path.trim_start_matches("./").trim_end_matches('/')
}

/// The ending of the last part of a path, in lower case, without its dot.
///
/// ```
/// # use pericope_qdrant::file_type;
/// assert_eq!(file_type("guide/Start.MD").as_deref(), Some("md"));
/// assert_eq!(file_type("v1.2/README"), None);
/// assert_eq!(file_type(".gitignore"), None);
/// ```
#[must_use]
pub fn file_type(path: &str) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let (stem, ending) = name.rsplit_once('.')?;
    (!stem.is_empty() && !ending.is_empty()).then(|| ending.to_lowercase())
}
