//! Queries, hits, and what the server is asked.

mod filter;
mod hit;
mod neighbours;

use std::fmt;
use std::str::FromStr;

use qdrant_client::qdrant::query::Variant;
use qdrant_client::qdrant::{
    DenseVector, PrefetchQuery, QuantizationSearchParams, Query as ServerQuery, QueryPoints, Rrf, SearchParams,
    SparseVector, VectorInput, vector_input,
};

pub use self::filter::Filter;
pub(crate) use self::filter::keyword;
pub use self::hit::Hit;
pub(crate) use self::hit::{integer, string};
use crate::collection::payload;
use crate::connection::Purpose;
use crate::point::{DENSE, SPARSE, uuid_of};
use crate::{Collection, Error};

/// The constant of reciprocal rank fusion: a hit at place `r` (from 0) of a list counts `1 / (60 + r)`.
const RRF_K: u32 = 60;

/// How chunks are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// By the words they share with the query.
    Bm25,
    /// By the nearness of their vector to the query's.
    Dense,
    /// By both, joined by reciprocal rank fusion on the server.
    Hybrid,
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "bm25" => Ok(Mode::Bm25),
            "dense" => Ok(Mode::Dense),
            "hybrid" => Ok(Mode::Hybrid),
            _ => Err(format!("there is no mode `{s}`; the modes are bm25, dense, hybrid")),
        }
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Mode::Bm25 => "bm25",
            Mode::Dense => "dense",
            Mode::Hybrid => "hybrid",
        })
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// How chunks are found.
    pub mode: Mode,
    /// The query's terms, by [`Bm25::query`](crate::Bm25::query); without any, BM25 finds nothing.
    pub sparse: Vec<(u32, f32)>,
    /// The query's vector, by the embedder that the collection was built with; for dense and hybrid.
    pub vector: Option<Vec<f32>>,
    /// How many hits at most.
    pub k: usize,
    /// Compares every vector instead of walking a graph: slower, and finds the nearest for certain.
    pub exact: bool,
    /// Which chunks may be found.
    pub filter: Filter,
    /// How many hits of each kind are joined (hybrid); at least `k`.
    pub depth: usize,
}

impl Query {
    /// A query without terms, vector and filter, which joins 100 hits of each kind.
    #[must_use]
    pub fn new(mode: Mode, k: usize) -> Self {
        Self { mode, sparse: Vec::new(), vector: None, k, exact: false, filter: Filter::default(), depth: 100 }
    }
}

impl Collection {
    /// The `k` best chunks, the best first; those of equal score ordered by document and place. Asks for the name that
    /// the collection was opened by, and so follows an alias that is switched.
    ///
    /// # Errors
    /// [`Error::NoVectors`], [`Error::NoQueryVector`] and [`Error::Dimension`] for a query that does not fit;
    /// [`Error::GaveUp`], [`Error::Key`] and [`Error::Refused`] from the server.
    pub fn search(&self, query: &Query) -> Result<Vec<Hit>, Error> {
        self.check(query)?;
        // Neither means that nothing can be found, and the server takes neither.
        if query.k == 0 || (query.mode == Mode::Bm25 && query.sparse.is_empty()) {
            return Ok(Vec::new());
        }
        let request = self.request(query);
        let connection = &self.connection;
        let response = connection.wait(connection.call("searching", Purpose::Read, || {
            let mut client = connection.points.clone();
            let request = request.clone();
            async move { client.query(request).await }
        }))?;
        let mut hits: Vec<Hit> = response
            .result
            .into_iter()
            .map(|point| Hit::from_payload(uuid_of(point.id.as_ref()), point.payload, f64::from(point.score)))
            .collect();
        // The server's order holds (by distance the smallest score is the best); its ties have none.
        for tied in hits.chunk_by_mut(|a, b| a.score.total_cmp(&b.score).is_eq()) {
            tied.sort_by(|a, b| (&a.document, a.ordinal, a.id).cmp(&(&b.document, b.ordinal, b.id)));
        }
        Ok(hits)
    }

    fn check(&self, query: &Query) -> Result<(), Error> {
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

    fn request(&self, query: &Query) -> QueryPoints {
        let filter = query.filter.to_server();
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
            with_payload: Some(payload(None)),
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
