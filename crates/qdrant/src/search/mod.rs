//! Queries in the server's terms, and what the server is asked.

mod chunk;
mod filter;
mod neighbours;

use pericope_store::{ChunkId, Filter, Mode, Ranked};
use qdrant_client::qdrant::query::Variant;
use qdrant_client::qdrant::{
    DenseVector, PrefetchQuery, QuantizationSearchParams, Query as ServerQuery, QueryPoints, Rrf, SearchParams,
    SparseVector, VectorInput, vector_input,
};

pub use self::chunk::ScoredChunk;
pub(crate) use self::filter::{keyword, to_server};
use crate::collection::payload;
use crate::connection::Purpose;
use crate::payload::Payload;
use crate::point::{DENSE, SPARSE};
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
    /// The query's vector, by the embedder that the collection was built with; for dense and hybrid. One of zeros is as
    /// near to one chunk as to any other, and finds nothing.
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

    /// True where nothing can be found by the vector.
    fn is_near_nothing(&self) -> bool {
        self.vector.iter().flatten().all(|x| *x == 0.0)
    }

    /// True where nothing can be found at all.
    fn finds_nothing(&self) -> bool {
        self.k == 0
            || match self.mode {
                Mode::Bm25 => self.sparse.is_empty(),
                Mode::Dense => self.is_near_nothing(),
                Mode::Hybrid => self.sparse.is_empty() && self.is_near_nothing(),
            }
    }
}

impl Collection {
    /// Returns the `k` best chunks, the best first; those of equal score ordered by document and place. Asks for the name
    /// that the collection was opened by, and so follows an alias that is switched.
    ///
    /// # Errors
    /// [`Error::NoVectors`], [`Error::NoQueryVector`] and [`Error::Dimension`] for a query that does not fit;
    /// [`Error::NotAChunk`] and [`Error::Answer`] for what is no chunk or no score; [`Error::GaveUp`], [`Error::Key`] and
    /// [`Error::Refused`] from the server.
    pub fn search(&self, query: &VectorQuery) -> Result<Vec<ScoredChunk>, Error> {
        let answer = self.query(query, None, ScoredChunk::read);
        let mut found = match answer {
            Err(Error::TooLarge { .. }) => self.search_in_pages(query)?,
            answer => answer?,
        };
        sort_ties(&mut found, |one| one.score, |one| (&one.chunk.document, one.chunk.ordinal, one.id));
        Ok(found)
    }

    /// Ranks as [`search`](Self::search), without asking for texts.
    ///
    /// # Errors
    /// As [`search`](Self::search); [`Error::TooLarge`] for more hits than fit a message.
    pub fn rank(&self, query: &VectorQuery) -> Result<Vec<Ranked>, Error> {
        let mut found = self.query(query, Some(&[fields::DOCUMENT, fields::ORDINAL]), |payload, score| {
            let (document, ordinal) = payload.place()?;
            Ok(Ranked { id: payload.id()?, document, ordinal, score })
        })?;
        sort_ties(&mut found, |one| one.score, |one| (&one.document, one.ordinal, one.id));
        Ok(found)
    }

    /// Ranks first and reads the chunks then, a page at a time.
    fn search_in_pages(&self, query: &VectorQuery) -> Result<Vec<ScoredChunk>, Error> {
        let wanted = [fields::DOCUMENT, fields::ORDINAL, fields::REVISION];
        let ranked = self.query(query, Some(&wanted), |payload, score| {
            Ok((payload.id()?, payload.string(fields::REVISION)?, score))
        })?;
        let ids: Vec<_> = ranked.iter().map(|(id, _, _)| *id).collect();
        let mut chunks = self.chunks(&ids)?;
        // What was deleted in between is no hit.
        let found = ranked
            .into_iter()
            .filter_map(|(id, revision, score)| Some(ScoredChunk { id, score, revision, chunk: chunks.remove(&id)? }));
        Ok(found.collect())
    }

    /// Asks the server, and reads each of the points.
    fn query<T>(
        &self,
        query: &VectorQuery,
        wanted: Option<&[&str]>,
        read: impl Fn(&Payload, f64) -> Result<T, Error>,
    ) -> Result<Vec<T>, Error> {
        const CALL: &str = "searching";
        self.check(query)?;
        // The server takes no such query, or has an answer to it all the same.
        if query.finds_nothing() {
            return Ok(Vec::new());
        }
        let request = self.request(query, wanted);
        let connection = &self.connection;
        let response = connection.wait(connection.call(CALL, Purpose::Read, || {
            let mut client = connection.points.clone();
            let request = request.clone();
            async move { client.query(request).await }
        }))?;
        let points = response.result.iter().take(query.k).map(|point| {
            let score = f64::from(point.score);
            if !score.is_finite() {
                return Err(connection.unusable(CALL, format!("a score is {score}")));
            }
            read(&Payload { collection: &self.name, id: point.id.as_ref(), fields: &point.payload }, score)
        });
        points.collect()
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
                let mut prefetches = Vec::with_capacity(2);
                if !query.is_near_nothing() {
                    prefetches.push(prefetch(dense(), DENSE));
                }
                if !query.sparse.is_empty() {
                    prefetches.push(prefetch(sparse(), SPARSE));
                }
                let fuse = Variant::Rrf(Rrf { k: Some(RRF_K), weights: Vec::new() });
                QueryPoints { prefetch: prefetches, query: Some(ServerQuery { variant: Some(fuse) }), ..base }
            }
        }
    }
}

/// The server's order holds (by distance the smallest score is the best); its ties have none.
fn sort_ties<T>(found: &mut [T], score: fn(&T) -> f64, key: fn(&T) -> (&str, usize, ChunkId)) {
    for tied in found.chunk_by_mut(|a, b| score(a).total_cmp(&score(b)).is_eq()) {
        tied.sort_by(|a, b| key(a).cmp(&key(b)));
    }
}

fn nearest(variant: vector_input::Variant) -> ServerQuery {
    ServerQuery { variant: Some(Variant::Nearest(VectorInput { variant: Some(variant) })) }
}
