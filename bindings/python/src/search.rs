//! Stores that are searched.

use std::sync::{Arc, PoisonError, RwLock};

use numpy::{AllowTypeChange, PyArrayLike1};
use pericope::api::{Reranker, SentenceEncoder};
use pericope::store::{
    self, Expand, Expansion, Filter, Freshness, Mode, Query, RERANK_DEPTH, Reranked, Retriever, fit_budget,
};
use pericope::{Engine, stores};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::custom::{self, Raised};
use crate::embedder::Given;
use crate::errors::{of_engine, of_store, usage};
use crate::index::place;
use crate::json;

/// A store: a folder, or a collection on a Qdrant server.
#[pyclass(frozen, module = "pericope")]
pub struct Index {
    place: String,
    offline: bool,
    /// Opened where a query is to be embedded.
    encoder: Option<Py<PyAny>>,
    state: RwLock<Arc<State>>,
    raised: RwLock<Raised>,
}

struct State {
    store: Box<dyn Retriever>,
    has_encoder: bool,
}

impl State {
    fn open(place: &str) -> PyResult<Self> {
        Ok(Self { store: stores::open(place).map_err(of_store)?, has_encoder: false })
    }

    fn take(&mut self, encoder: Arc<dyn SentenceEncoder>) -> PyResult<()> {
        self.store.set_encoder(encoder).map_err(of_store)?;
        self.has_encoder = true;
        Ok(())
    }
}

/// Opens a store to search it.
#[pyfunction]
#[pyo3(signature = (place, *, embedder = None, offline = false))]
pub fn open(
    py: Python<'_>,
    place: &Bound<'_, PyAny>,
    embedder: Option<Bound<'_, PyAny>>,
    offline: bool,
) -> PyResult<Index> {
    let place = self::place(place)?;
    let state = RwLock::new(Arc::new(py.detach(|| State::open(&place))?));
    Ok(Index { place, offline, encoder: embedder.map(Bound::unbind), state, raised: RwLock::default() })
}

#[pymethods]
impl Index {
    /// The number of chunks.
    #[getter]
    fn chunks(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.read().store.chunks()).map_err(of_store)
    }

    /// The number of documents that have a chunk.
    #[getter]
    fn documents(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.read().store.documents()).map_err(of_store)
    }

    /// The name for messages: never with a key.
    #[getter]
    fn name(&self, py: Python<'_>) -> String {
        py.detach(|| self.read().store.about().name.clone())
    }

    /// The spec of the segmenter that it was built with.
    #[getter]
    fn segmenter(&self, py: Python<'_>) -> String {
        py.detach(|| self.read().store.about().meta.segmenter.clone())
    }

    /// The name of the embedder that made the vectors; `None` for a store without vectors.
    #[getter]
    fn embedder(&self, py: Python<'_>) -> Option<String> {
        py.detach(|| self.read().store.about().embedder().map(str::to_owned))
    }

    /// Finds chunks, best first.
    #[pyo3(
        signature = (
            query, k = 10, *, mode = None, paths = Vec::new(), headings = Vec::new(), types = Vec::new(), vector = None,
            rerank = None, rerank_depth = RERANK_DEPTH, expand = "none".to_owned(),
            expand_tokens = store::EXPAND_TOKENS, context = 0, token_budget = None
        ),
        text_signature = "($self, query, k=10, *, mode=None, paths=(), headings=(), types=(), vector=None, rerank=None, \
            rerank_depth=50, expand='none', expand_tokens=512, context=0, token_budget=None)"
    )]
    #[allow(clippy::too_many_arguments)] // keywords
    fn search(
        &self,
        py: Python<'_>,
        query: String,
        k: usize,
        mode: Option<String>,
        paths: Vec<String>,
        headings: Vec<String>,
        types: Vec<String>,
        vector: Option<PyArrayLike1<'_, f32, AllowTypeChange>>,
        rerank: Option<Bound<'_, PyAny>>,
        rerank_depth: usize,
        expand: String,
        expand_tokens: usize,
        context: usize,
        token_budget: Option<usize>,
    ) -> PyResult<Vec<Hit>> {
        if query.trim().is_empty() {
            return Err(usage("the query is empty"));
        }
        let embedded = self.embedder(py).is_some();
        let mode = match mode {
            Some(mode) => mode.parse::<Mode>().map_err(usage)?,
            None if embedded => Mode::Hybrid,
            None => Mode::Bm25,
        };
        if mode != Mode::Bm25 && embedded && vector.is_none() {
            self.take_encoder(py)?;
        }
        let mut query = Query::new(query, mode, k).with_filter(Filter { paths, headings, file_types: types });
        query.vector = vector.map(|vector| vector.as_array().to_vec());
        let expand: Expand = expand.parse().map_err(usage)?;
        let expansion = Expansion { expand, tokens: expand_tokens };
        let by_reranker = Raised::default();
        let reranker = match rerank {
            Some(given) => self.reranker(&given, &by_reranker)?,
            None => None,
        };
        let hits = py.detach(|| {
            let state = self.read();
            let found = find(state.store.as_ref(), reranker.as_deref(), rerank_depth, &query, expansion, context);
            let mut hits = found.map_err(of_store)?;
            if let Some(budget) = token_budget {
                fit_budget(&mut hits, budget);
            }
            Ok::<_, PyErr>(hits)
        });
        let hits: Vec<store::Hit> = hits.map_err(|error| by_reranker.or(self.raised().or(error)))?;
        Ok(hits.into_iter().map(|inner| Hit { inner }).collect())
    }

    /// The documents, a dictionary each, in the order of their ids: those that begin with `prefix` and come after `after`.
    #[pyo3(
        signature = (prefix = String::new(), *, after = None, limit = 1000),
        text_signature = "($self, prefix='', *, after=None, limit=1000)"
    )]
    fn list<'py>(
        &self,
        py: Python<'py>,
        prefix: String,
        after: Option<String>,
        limit: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let found = py.detach(|| self.read().store.list(&prefix, after.as_deref(), limit)).map_err(of_store)?;
        json::to_python(py, &found)
    }

    /// Sees the newest state of the store from now on; true where it is another one.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        py.detach(|| {
            let freshness = self.read().store.refresh().map_err(of_store)?;
            if freshness == Freshness::Replaced {
                let state = Arc::new(State::open(&self.place)?);
                *self.state.write().unwrap_or_else(PoisonError::into_inner) = state;
            }
            Ok(freshness != Freshness::Same)
        })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        format!("Index({:?})", self.name(py))
    }
}

impl Index {
    /// The store as it is now. No lock is held while it is searched: what is written in Python may ask this index again.
    fn read(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The reranker of a spec, or one that is written in Python.
    fn reranker(&self, given: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<Option<Arc<dyn Reranker>>> {
        let Ok(spec) = given.cast::<PyString>() else {
            return Ok(Some(Arc::new(custom::Reranker::new(given, raised.clone())?)));
        };
        let spec = spec.to_cow()?;
        given.py().detach(|| Engine::new().offline(self.offline).reranker(&spec)).map_err(of_engine)
    }

    fn raised(&self) -> Raised {
        self.raised.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Gives the store what embeds queries, once.
    fn take_encoder(&self, py: Python<'_>) -> PyResult<()> {
        self.raised().take();
        if py.detach(|| self.read().has_encoder) {
            return Ok(());
        }
        let given = match &self.encoder {
            Some(given) => Given::of(given.bind(py))?,
            None => Given::Name(self.embedder(py).unwrap_or_default()),
        };
        py.detach(|| {
            let (encoder, raised) = given.open(self.offline)?;
            let Some(encoder) = encoder else { return Ok(()) };
            let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
            match Arc::get_mut(&mut state) {
                Some(state) => state.take(encoder)?,
                // A search is at work in it, and goes on with what it has.
                None => {
                    let mut opened = State::open(&self.place)?;
                    opened.take(encoder)?;
                    *state = Arc::new(opened);
                }
            }
            *self.raised.write().unwrap_or_else(PoisonError::into_inner) = raised;
            Ok(())
        })
    }
}

fn find(
    store: &dyn Retriever,
    reranker: Option<&dyn Reranker>,
    depth: usize,
    query: &Query,
    expansion: Expansion,
    context: usize,
) -> Result<Vec<store::Hit>, store::StoreError> {
    let reranked = reranker.map(|reranker| Reranked::new(store, reranker, depth.max(query.k)));
    let store: &dyn Retriever = match &reranked {
        Some(reranked) => reranked,
        None => store,
    };
    let mut hits = store.search_expanded(query, expansion)?;
    if context > 0 {
        store.add_context(&mut hits, context)?;
    }
    Ok(hits)
}

/// A chunk that was found. Its places are those in the document's source.
#[pyclass(frozen, module = "pericope")]
pub struct Hit {
    inner: store::Hit,
}

#[pymethods]
impl Hit {
    #[getter]
    fn rank(&self) -> usize {
        self.inner.rank
    }

    #[getter]
    fn score(&self) -> f64 {
        self.inner.score
    }

    #[getter]
    fn id(&self) -> String {
        self.inner.id.to_string()
    }

    #[getter]
    fn document(&self) -> &str {
        &self.inner.chunk.document
    }

    #[getter]
    fn title(&self) -> Option<&str> {
        self.inner.chunk.title.as_deref()
    }

    #[getter]
    fn anchor(&self) -> Option<&str> {
        self.inner.chunk.anchor.as_deref()
    }

    #[getter]
    fn ordinal(&self) -> usize {
        self.inner.chunk.ordinal
    }

    #[getter]
    fn tokens(&self) -> usize {
        self.inner.chunk.tokens
    }

    #[getter]
    fn text(&self) -> &str {
        &self.inner.chunk.text
    }

    #[getter]
    fn heading_path<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.inner.chunk.heading_path.iter().map(|heading| heading.as_str()))
    }

    #[getter]
    fn start_byte(&self) -> usize {
        self.inner.chunk.start
    }

    #[getter]
    fn end_byte(&self) -> usize {
        self.inner.chunk.end
    }

    /// The first character; `None` in a store of an earlier version, which counted none. So with `end` and `lines`.
    #[getter]
    fn start(&self) -> Option<usize> {
        self.inner.chunk.chars().map(|chars| chars.start)
    }

    #[getter]
    fn end(&self) -> Option<usize> {
        self.inner.chunk.chars().map(|chars| chars.end)
    }

    #[getter]
    fn lines(&self) -> Option<(usize, usize)> {
        self.inner.chunk.lines().map(Into::into)
    }

    #[getter]
    fn snippet(&self) -> &str {
        self.inner.snippet.of(&self.inner.chunk.text)
    }

    /// The chunk with its neighbours, where `context` was asked for.
    #[getter]
    fn context(&self) -> Option<&str> {
        self.inner.context.as_ref().map(|context| context.text.as_str())
    }

    /// The query's words in the text, by characters.
    #[getter]
    fn highlights(&self) -> Vec<(usize, usize)> {
        let mut counted = self.inner.clone();
        counted.count_in_chars();
        counted.highlights.iter().map(|mark| (mark.start, mark.end)).collect()
    }

    /// The hit as `pericope search --json` has it.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        json::to_python(py, &self.inner)
    }

    fn __repr__(&self) -> String {
        let (rank, score, chunk) = (self.inner.rank, self.inner.score, &self.inner.chunk);
        format!("Hit({rank}, {score:.3}, {:?} {}..{})", chunk.document, chunk.start, chunk.end)
    }
}
