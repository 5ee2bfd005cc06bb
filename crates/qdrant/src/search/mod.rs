//! Queries in the server's terms, and what the server is asked.

mod chunk;
mod filter;
mod neighbours;

use pericope_store::{Filter, Mode, Ranked};
use qdrant_client::qdrant::query::Variant;
use qdrant_client::qdrant::{
    DenseVector, PrefetchQuery, QuantizationSearchParams, Query as ServerQuery, QueryPoints, Rrf, SearchParams,
    SparseVector, VectorInput, vector_input,
};

pub use self::chunk::ScoredChunk;
pub(crate) use self::chunk::{integer, string};
pub(crate) use self::filter::{keyword, to_server};
use crate::collection::payload;
use crate::connection::Purpose;
use crate::point::{DENSE, SPARSE, uuid_of};
use crate::{Collection, Error, fields};

/// The constant of reciprocal rank fusion: a hit at place `r` (from 0) of a list counts `1 / (60 + r)`.
const RRF_K: u32 = 60;

/// A query in the server's terms: vectors instead of a text.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorQuery {
    /// The way in which chunks are found.
    pub mode: Mode,
    /// The query's terms, by [`Bm25::query`](crate::Bm25::query); without any, BM25 finds nothing.
    pub sparse: Vec<(u32, f32)>,
    /// The query's vector, by the embedder that the collection was built with; for dense and hybrid.
    pub vector: Option<Vec<f32>>,
    /// The number of hits, at most.
    pub k: usize,
    /// Compares every vector instead of walking a graph: slower, and finds the nearest for certain.
    pub exact: bool,
    /// The conditions that chunks must meet.
    pub filter: Filter,
    /// The number of hits of each kind that are joined (hybrid); at least `k`.
    pub depth: usize,
}

impl VectorQuery {
    /// Returns a query without terms, vector and filter, which joins 100 hits of each kind.
    #[must_use]
    pub fn new(mode: Mode, k: usize) -> Self {
        Self { mode, sparse: Vec::new(), vector: None, k, exact: false, filter: Filter::default(), depth: 100 }
    }
}

impl Collection {
    /// Returns the `k` best chunks, the best first; those of equal score ordered by document and place. Asks for the name
    /// that the collection was opened by, and so follows an alias that is switched.
    ///
    /// # Errors
    /// [`Error::NoVectors`], [`Error::NoQueryVector`] and [`Error::Dimension`] for a query that does not fit;
    /// [`Error::GaveUp`], [`Error::Key`] and [`Error::Refused`] from the server.
    pub fn search(&self, query: &VectorQuery) -> Result<Vec<ScoredChunk>, Error> {
        self.query(query, None)
    }

    /// Ranks as [`search`](Self::search), without asking for texts.
    ///
    /// # Errors
    /// As [`search`](Self::search).
    pub fn rank(&self, query: &VectorQuery) -> Result<Vec<Ranked>, Error> {
        let found = self.query(query, Some(&[fields::DOCUMENT, fields::ORDINAL]))?;
        Ok(found.iter().map(ScoredChunk::ranked).collect())
    }

    fn query(&self, query: &VectorQuery, wanted: Option<&[&str]>) -> Result<Vec<ScoredChunk>, Error> {
        self.check(query)?;
        // Neither means that nothing can be found, and the server takes neither.
        if query.k == 0 || (query.mode == Mode::Bm25 && query.sparse.is_empty()) {
            return Ok(Vec::new());
        }
        let request = self.request(query, wanted);
        let connection = &self.connection;
        let response = connection.wait(connection.call("searching", Purpose::Read, || {
            let mut client = connection.points.clone();
            let request = request.clone();
            async move { client.query(request).await }
        }))?;
        let mut found: Vec<ScoredChunk> = response
            .result
            .iter()
            .map(|point| ScoredChunk::from_payload(uuid_of(point.id.as_ref()), &point.payload, f64::from(point.score)))
            .collect();
        // The server's order holds (by distance the smallest score is the best); its ties have none.
        for tied in found.chunk_by_mut(|a, b| a.score.total_cmp(&b.score).is_eq()) {
            tied.sort_by(|a, b| {
                (&a.chunk.document, a.chunk.ordinal, a.id).cmp(&(&b.chunk.document, b.chunk.ordinal, b.id))
            });
        }
        Ok(found)
    }

    fn check(&self, query: &VectorQuery) -> Result<(), Error> {
        if query.mode == Mode::Bm25 {
            return Ok(());
        }
        let Some(expected) = self.record.dimension() else {
            return Err(Error::NoVectors { collection: self.name.clone() });
        };
        match query.vector.as_ref().map(Vec::len) {
            None => Err(Error::NoQueryVector { mode: query.mode }),
            Some(found) if found != expected => {
                let what = "the query".to_owned();
                Err(Error::Dimension { what, collection: self.name.clone(), found, expected })
            }
            Some(_) => Ok(()),
        }
    }

    fn request(&self, query: &VectorQuery, wanted: Option<&[&str]>) -> QueryPoints {
        let filter = to_server(&query.filter);
        let rescored = QuantizationSearchParams { rescore: Some(true), oversampling: Some(2.0), ignore: None };
        let params = SearchParams {
            exact: Some(query.exact),
            quantization: (self.quantized && !query.exact).then_some(rescored),
            ..SearchParams::default()
        };
        let dense = || {
            let data = query.vector.clone().unwrap_or_default();
            nearest(vector_input::Variant::Dense(DenseVector { data }))
        };
        let sparse = || {
            let (indices, values) = query.sparse.iter().copied().unzip();
            nearest(vector_input::Variant::Sparse(SparseVector { values, indices }))
        };
        let base = QueryPoints {
            collection_name: self.name.clone(),
            limit: Some(query.k as u64),
            with_payload: Some(payload(wanted)),
            timeout: Some(self.connection.target.settings.timeout.as_secs().max(1)),
            ..QueryPoints::default()
        };
        let one = |query, using: &str| QueryPoints {
            query: Some(query),
            using: Some(using.to_owned()),
            filter: filter.clone(),
            params: Some(params.clone()),
            ..base.clone()
        };
        match query.mode {
            Mode::Bm25 => one(sparse(), SPARSE),
            Mode::Dense => one(dense(), DENSE),
            Mode::Hybrid => {
                let prefetch = |part, using: &str| PrefetchQuery {
                    query: Some(part),
                    using: Some(using.to_owned()),
                    filter: filter.clone(),
                    params: Some(params.clone()),
                    limit: Some(query.depth.max(query.k) as u64),
                    ..PrefetchQuery::default()
                };
                let mut prefetches = vec![prefetch(dense(), DENSE)];
                if !query.sparse.is_empty() {
                    prefetches.push(prefetch(sparse(), SPARSE));
                }
                let fuse = Variant::Rrf(Rrf { k: Some(RRF_K), weights: Vec::new() });
                QueryPoints { prefetch: prefetches, query: Some(ServerQuery { variant: Some(fuse) }), ..base }
            }
        }
    }
}

fn nearest(variant: vector_input::Variant) -> ServerQuery {
    ServerQuery { variant: Some(Variant::Nearest(VectorInput { variant: Some(variant) })) }
}
