//! What is in a collection.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::mem;

use pericope_store::{ChunkId, ChunkRecord};
use qdrant_client::qdrant::vector_output::Vector as VectorKind;
use qdrant_client::qdrant::vectors_output::VectorsOptions;
use qdrant_client::qdrant::{
    CountPoints, Filter as ServerFilter, GetPoints, PayloadIncludeSelector, PointId, RetrievedPoint, ScrollPoints,
    VectorOutput, VectorsSelector, WithPayloadSelector, WithVectorsSelector, with_payload_selector,
    with_vectors_selector,
};
use uuid::Uuid;

use crate::connection::{Connection, Purpose};
use crate::payload::Payload;
use crate::point::{DENSE, fields, id_of};
use crate::search::{ScoredChunk, keyword};
use crate::{Collection, Error};

/// Points in one page of a listing, or asked for by their ids.
const PAGE: u32 = 2048;
/// Vectors in one answer: 1024 of 1024 dimensions are 4 MiB.
const VECTORS: usize = 1024;
/// A page that is too large is asked for again with so many times fewer points.
const FEWER: u32 = 8;

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
        self.count_in(&self.pinned, "counting the chunks", None)
    }

    /// Number of chunks that a search is made among: follows an alias, as [`search`](Self::search) does.
    pub(crate) fn count_searched(&self) -> Result<u64, Error> {
        self.count_in(&self.name, "counting the chunks", None)
    }

    /// Number of points in a collection, or behind an alias, that meet a filter.
    pub(super) fn count_in(
        &self,
        collection: &str,
        call: &'static str,
        filter: Option<ServerFilter>,
    ) -> Result<u64, Error> {
        let connection = &self.connection;
        let collection_name = collection.to_owned();
        let request = CountPoints { collection_name, filter, exact: Some(true), ..CountPoints::default() };
        let response = connection.wait(connection.call(call, Purpose::Read, || {
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
            let payload = Payload { collection: &self.pinned, id: point.id.as_ref(), fields: &point.payload };
            let document = payload.string(fields::DOCUMENT)?;
            let revision = Some(payload.string(fields::REVISION)?);
            let chunks = payload.number(fields::CHUNKS)?;
            let origin = payload.optional(fields::ORIGIN)?;
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
            Ok(())
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
            let fields = &point.payload;
            ids.push(Payload { collection: &self.pinned, id: point.id.as_ref(), fields }.id()?);
            Ok(())
        }))?;
        ids.sort_unstable();
        Ok(ids)
    }

    /// A document's chunks in their order, each with score 0.
    ///
    /// # Errors
    /// As [`count`](Self::count).
    pub fn chunks_of(&self, document: &str) -> Result<Vec<ScoredChunk>, Error> {
        self.chunks_in(&self.pinned, document)
    }

    /// The same of the collection that is searched: follows an alias, as [`search`](Self::search) does.
    pub(crate) fn searched_chunks_of(&self, document: &str) -> Result<Vec<ScoredChunk>, Error> {
        self.chunks_in(&self.name, document)
    }

    fn chunks_in(&self, collection: &str, document: &str) -> Result<Vec<ScoredChunk>, Error> {
        let mut hits = Vec::new();
        let filter = ServerFilter::must([keyword(fields::DOCUMENT, document)]);
        self.connection.wait(scroll(&self.connection, collection, Some(filter), None, |point| {
            let payload = Payload { collection, id: point.id.as_ref(), fields: &point.payload };
            hits.push(ScoredChunk::read(&payload, 0.0)?);
            Ok(())
        }))?;
        hits.sort_by_key(|hit| (hit.chunk.ordinal, hit.chunk.start, hit.id));
        Ok(hits)
    }

    /// Reads those chunks that are there, by id. Follows an alias, as [`search`](Self::search) does.
    ///
    /// # Errors
    /// As [`count`](Self::count); [`Error::NotAChunk`] for a point that another program wrote.
    pub fn chunks(&self, ids: &[ChunkId]) -> Result<HashMap<ChunkId, ChunkRecord>, Error> {
        let request =
            GetPoints { collection_name: self.name.clone(), with_payload: Some(payload(None)), ..GetPoints::default() };
        let mut chunks = HashMap::with_capacity(ids.len());
        self.get("reading chunks", &request, ids, PAGE as usize, |point| {
            let payload = Payload { collection: &self.name, id: point.id.as_ref(), fields: &point.payload };
            chunks.insert(payload.id()?, payload.chunk()?);
            Ok(())
        })?;
        Ok(chunks)
    }

    /// The dense vectors of those chunks that are there, as the server keeps them (at length 1 where the distance is
    /// cosine): a chunk that only moved need not be embedded again.
    ///
    /// # Errors
    /// As [`count`](Self::count); [`Error::Answer`] for a vector that is not of the collection's length or not finite.
    pub fn vectors(&self, ids: &[Uuid]) -> Result<HashMap<Uuid, Vec<f32>>, Error> {
        const CALL: &str = "reading vectors";
        let mut vectors = HashMap::with_capacity(ids.len());
        let Some(dimension) = self.record.dimension() else { return Ok(vectors) };
        let request = GetPoints {
            collection_name: self.pinned.clone(),
            with_payload: Some(payload(Some(&[]))),
            with_vectors: Some(WithVectorsSelector {
                selector_options: Some(with_vectors_selector::SelectorOptions::Include(VectorsSelector {
                    names: vec![DENSE.to_owned()],
                })),
            }),
            ..GetPoints::default()
        };
        self.get(CALL, &request, ids, VECTORS, |point| {
            let id = Payload { collection: &self.pinned, id: point.id.as_ref(), fields: &point.payload }.id()?;
            let Some(vector) = dense(point) else { return Ok(()) };
            if vector.len() != dimension || !vector.iter().all(|x| x.is_finite()) {
                let reason = format!("the vector of {id} is not of {dimension} finite numbers");
                return Err(self.connection.unusable(CALL, reason));
            }
            vectors.insert(id, vector);
            Ok(())
        })?;
        Ok(vectors)
    }

    /// Asks for points by their ids, so many at a time, and for fewer where the answer would be too large.
    fn get(
        &self,
        call: &'static str,
        request: &GetPoints,
        ids: &[Uuid],
        mut page: usize,
        mut each: impl FnMut(RetrievedPoint) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let connection = &self.connection;
        let mut rest = ids;
        while !rest.is_empty() {
            let (now, later) = rest.split_at(page.min(rest.len()));
            let request = GetPoints { ids: now.iter().map(|&id| id_of(id)).collect(), ..request.clone() };
            let answer = connection.wait(connection.call(call, Purpose::Read, || {
                let mut client = connection.points.clone();
                let request = request.clone();
                async move { client.get(request).await }
            }));
            match answer {
                Err(Error::TooLarge { .. }) if now.len() > 1 => page = (now.len() / FEWER as usize).max(1),
                Err(error) => return Err(error),
                Ok(response) => {
                    response.result.into_iter().try_for_each(&mut each)?;
                    rest = later;
                }
            }
        }
        Ok(())
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
    mut each: impl FnMut(RetrievedPoint) -> Result<(), Error>,
) -> Result<(), Error> {
    const CALL: &str = "listing chunks";
    let mut request = ScrollPoints {
        collection_name: collection.to_owned(),
        filter,
        limit: Some(PAGE),
        with_payload: Some(payload(wanted)),
        ..ScrollPoints::default()
    };
    let mut begun: HashSet<Option<PointId>> = HashSet::new();
    loop {
        let answer = connection
            .call(CALL, Purpose::Read, || {
                let mut client = connection.points.clone();
                let request = request.clone();
                async move { client.scroll(request).await }
            })
            .await;
        let response = match (answer, request.limit) {
            (Err(Error::TooLarge { .. }), Some(limit)) if limit > 1 => {
                request.limit = Some((limit / FEWER).max(1));
                continue;
            }
            (answer, _) => answer?,
        };
        response.result.into_iter().try_for_each(&mut each)?;
        if response.next_page_offset.is_none() {
            return Ok(());
        }
        // A listing that comes back to a page would never end.
        if !begun.insert(mem::replace(&mut request.offset, response.next_page_offset)) {
            return Err(connection.unusable(CALL, "it lists the same page again"));
        }
    }
}
