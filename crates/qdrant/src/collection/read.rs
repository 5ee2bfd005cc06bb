//! What is in a collection.

use std::collections::{BTreeMap, HashMap};

use pericope_store::{ChunkId, ChunkRecord};
use qdrant_client::qdrant::vector_output::Vector as VectorKind;
use qdrant_client::qdrant::vectors_output::VectorsOptions;
use qdrant_client::qdrant::{
    CountPoints, Filter as ServerFilter, GetPoints, PayloadIncludeSelector, RetrievedPoint, ScrollPoints, VectorOutput,
    VectorsSelector, WithPayloadSelector, WithVectorsSelector, with_payload_selector, with_vectors_selector,
};
use uuid::Uuid;

use crate::connection::{Connection, Purpose};
use crate::point::{DENSE, fields, id_of, uuid_of};
use crate::search::{ScoredChunk, integer, keyword, string};
use crate::{Collection, Error};

/// Points in one page of a listing.
const PAGE: u32 = 2048;
/// Vectors in one answer: 1024 of 1024 dimensions are 4 MiB.
const VECTORS: usize = 1024;

/// A document as a collection holds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The revision of its chunks; nothing where there are chunks of more than one, because a load was interrupted.
    pub revision: Option<String>,
    /// The number of chunks that it should have, as the chunks say themselves.
    pub chunks: u64,
    /// The number of chunks that are there.
    pub found: u64,
    /// The line that its chunks keep of its provenance; of several, one.
    pub origin: Option<String>,
}

impl Stored {
    /// True where the document is loaded wholly, and in this revision: there is nothing to do for it.
    #[must_use]
    pub fn is(&self, revision: &str) -> bool {
        self.revision.as_deref() == Some(revision) && self.chunks == self.found
    }
}

impl Collection {
    /// Number of chunks, counted.
    ///
    /// # Errors
    /// [`Error::GaveUp`], [`Error::Key`] and [`Error::Refused`] from the server.
    pub fn count(&self) -> Result<u64, Error> {
        let connection = &self.connection;
        let request = CountPoints { collection_name: self.pinned.clone(), exact: Some(true), ..CountPoints::default() };
        let response = connection.wait(connection.call("counting the chunks", Purpose::Read, || {
            let mut client = connection.points.clone();
            let request = request.clone();
            async move { client.count(request).await }
        }))?;
        Ok(response.result.map_or(0, |result| result.count))
    }

    /// All documents with what the collection holds of each: what an interrupted load goes on by, and what to
    /// [`remove`](crate::Writer::remove) because it is gone from the source. Reads a few fields of every chunk.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn documents(&self) -> Result<BTreeMap<String, Stored>, Error> {
        let mut documents: BTreeMap<String, Stored> = BTreeMap::new();
        let wanted = [fields::DOCUMENT, fields::REVISION, fields::CHUNKS, fields::ORIGIN];
        self.connection.wait(scroll(&self.connection, &self.pinned, None, Some(&wanted), |point| {
            let Some(document) = string(&point.payload, fields::DOCUMENT) else { return };
            let revision = string(&point.payload, fields::REVISION);
            let chunks = integer(&point.payload, fields::CHUNKS);
            let origin = string(&point.payload, fields::ORIGIN);
            let stored = documents.entry(document).or_insert_with(|| Stored {
                revision: revision.clone(),
                chunks,
                found: 0,
                origin: origin.clone(),
            });
            stored.found += 1;
            if stored.origin != origin {
                // Of two revisions either names the source.
                stored.origin = stored.origin.take().or(origin);
            }
            if stored.revision != revision || stored.chunks != chunks {
                stored.revision = None;
            }
        }))?;
        Ok(documents)
    }

    /// The ids of a document's chunks, sorted.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn points_of(&self, document: &str) -> Result<Vec<Uuid>, Error> {
        let mut ids = Vec::new();
        let filter = ServerFilter::must([keyword(fields::DOCUMENT, document)]);
        self.connection.wait(scroll(&self.connection, &self.pinned, Some(filter), Some(&[]), |point| {
            ids.extend(uuid_of(point.id.as_ref()));
        }))?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// A document's chunks in their order, each with score 0.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn chunks_of(&self, document: &str) -> Result<Vec<ScoredChunk>, Error> {
        let mut hits = Vec::new();
        let filter = ServerFilter::must([keyword(fields::DOCUMENT, document)]);
        self.connection.wait(scroll(&self.connection, &self.pinned, Some(filter), None, |point| {
            hits.push(ScoredChunk::from_payload(uuid_of(point.id.as_ref()), &point.payload, 0.0));
        }))?;
        hits.sort_by_key(|hit| (hit.chunk.ordinal, hit.chunk.start, hit.id));
        Ok(hits)
    }

    /// Reads those chunks that are there, by id. Follows an alias, as [`search`](Self::search) does.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn chunks(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, ChunkRecord>, Error> {
        let connection = &self.connection;
        let mut chunks = HashMap::with_capacity(ids.len());
        for ids in ids.chunks(PAGE as usize) {
            let request = GetPoints {
                collection_name: self.name.clone(),
                ids: ids.iter().map(|&id| id_of(id)).collect(),
                with_payload: Some(payload(None)),
                ..GetPoints::default()
            };
            let response = connection.wait(connection.call("reading chunks", Purpose::Read, || {
                let mut client = connection.points.clone();
                let request = request.clone();
                async move { client.get(request).await }
            }))?;
            chunks.extend(response.result.iter().filter_map(|point| {
                let id = uuid_of(point.id.as_ref())?;
                Some((id, ScoredChunk::from_payload(Some(id), &point.payload, 0.0).chunk))
            }));
        }
        Ok(chunks)
    }

    /// The dense vectors of those chunks that are there, as the server keeps them (at length 1 where the distance is
    /// cosine): a chunk that only moved need not be embedded again.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn vectors(&self, ids: &[Uuid]) -> Result<HashMap<Uuid, Vec<f32>>, Error> {
        let connection = &self.connection;
        let mut vectors = HashMap::with_capacity(ids.len());
        if self.record.embedder.is_none() {
            return Ok(vectors);
        }
        for ids in ids.chunks(VECTORS) {
            let request = GetPoints {
                collection_name: self.pinned.clone(),
                ids: ids.iter().map(|&id| id_of(id)).collect(),
                with_payload: Some(payload(Some(&[]))),
                with_vectors: Some(WithVectorsSelector {
                    selector_options: Some(with_vectors_selector::SelectorOptions::Include(VectorsSelector {
                        names: vec![DENSE.to_owned()],
                    })),
                }),
                ..GetPoints::default()
            };
            let response = connection.wait(connection.call("reading vectors", Purpose::Read, || {
                let mut client = connection.points.clone();
                let request = request.clone();
                async move { client.get(request).await }
            }))?;
            vectors.extend(response.result.into_iter().filter_map(|point| {
                let id = uuid_of(point.id.as_ref())?;
                Some((id, dense(point)?))
            }));
        }
        Ok(vectors)
    }
}

fn dense(point: RetrievedPoint) -> Option<Vec<f32>> {
    let VectorsOptions::Vectors(mut named) = point.vectors?.vectors_options? else { return None };
    let VectorOutput { vector, .. } = named.vectors.remove(DENSE)?;
    match vector? {
        VectorKind::Dense(dense) => Some(dense.data),
        _ => None,
    }
}

/// Which fields to send: those, or all.
pub(crate) fn payload(wanted: Option<&[&str]>) -> WithPayloadSelector {
    let options = match wanted {
        None => with_payload_selector::SelectorOptions::Enable(true),
        Some([]) => with_payload_selector::SelectorOptions::Enable(false),
        Some(names) => with_payload_selector::SelectorOptions::Include(PayloadIncludeSelector {
            fields: names.iter().map(|&name| name.to_owned()).collect(),
        }),
    };
    WithPayloadSelector { selector_options: Some(options) }
}

/// Goes through the points that pass the filter, in the order of their ids, page by page.
pub(crate) async fn scroll(
    connection: &Connection,
    collection: &str,
    filter: Option<ServerFilter>,
    wanted: Option<&[&str]>,
    mut each: impl FnMut(RetrievedPoint),
) -> Result<(), Error> {
    let mut request = ScrollPoints {
        collection_name: collection.to_owned(),
        filter,
        limit: Some(PAGE),
        with_payload: Some(payload(wanted)),
        ..ScrollPoints::default()
    };
    loop {
        let response = connection
            .call("listing chunks", Purpose::Read, || {
                let mut client = connection.points.clone();
                let request = request.clone();
                async move { client.scroll(request).await }
            })
            .await?;
        response.result.into_iter().for_each(&mut each);
        request.offset = response.next_page_offset;
        if request.offset.is_none() {
            return Ok(());
        }
    }
}
