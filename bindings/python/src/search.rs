//! Stores that are searched.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use numpy::{AllowTypeChange, PyArrayLike1};
use pericope::api::{Reranker, SentenceEncoder};
use pericope::store::{
    self, Expand, Expansion, Filter, Freshness, Mode, Query, RERANK_DEPTH, Reranked, Retriever, fit_budget,
    query_vector,
};
use pericope::{Engine, stores};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple, PyType};

use crate::custom::{self, Raised};
use crate::document::whole;
use crate::embedder::{Given, one_or_many};
use crate::errors::{of_engine, of_store, usage};
use crate::index::place;
use crate::json;
use crate::numbers::{Whole, optional};
use crate::pickles::{KeptHit, Reduced, reduced, restored};
use crate::process::detached;

/// A store: a folder, or a collection on a Qdrant server.
#[pyclass(frozen, module = "pericope")]
pub struct Index {
    place: String,
    offline: bool,
    /// What embeds queries, where the caller says it.
    embedder: Option<Py<PyAny>>,
    /// The embedder that was asked for by its name, once it was needed.
    opened: Mutex<Option<(String, Arc<dyn SentenceEncoder>)>>,
    store: RwLock<Arc<dyn Retriever>>,
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
    let store = detached(py, || stores::open(&place)).map_err(of_store)?;
    Ok(Index {
        place,
        offline,
        embedder: embedder.map(Bound::unbind),
        opened: Mutex::default(),
        store: RwLock::new(Arc::from(store)),
    })
}

#[pymethods]
impl Index {
    /// The number of chunks.
    #[getter]
    fn chunks(&self, py: Python<'_>) -> PyResult<u64> {
        let store = self.store();
        detached(py, || store.chunks()).map_err(of_store)
    }

    /// The number of documents that have a chunk.
    #[getter]
    fn documents(&self, py: Python<'_>) -> PyResult<u64> {
        let store = self.store();
        detached(py, || store.documents()).map_err(of_store)
    }

    /// The name for messages: never with a key.
    #[getter]
    fn name(&self) -> String {
        self.store().about().name.clone()
    }

    /// The spec of the segmenter that it was built with.
    #[getter]
    fn segmenter(&self) -> String {
        self.store().about().meta.segmenter.clone()
    }

    /// The name of the embedder that made the vectors; `None` for a store without vectors.
    #[getter]
    fn embedder(&self) -> Option<String> {
        self.store().about().embedder().map(str::to_owned)
    }

    /// Finds chunks, best first.
    #[pyo3(
        signature = (
            query, k = 10, *, mode = None, paths = Vec::new(), headings = Vec::new(), types = Vec::new(), vector = None,
            rerank = None, rerank_depth = Whole::of(RERANK_DEPTH), expand = "none".to_owned(),
            expand_tokens = Whole::of(store::EXPAND_TOKENS), context = Whole::of(0), token_budget = None
        ),
        text_signature = "($self, query, k=10, *, mode=None, paths=(), headings=(), types=(), vector=None, rerank=None, \
            rerank_depth=50, expand='none', expand_tokens=512, context=0, token_budget=None)"
    )]
    #[allow(clippy::too_many_arguments)] // keywords
    fn search(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = query_of)] query: String,
        k: i64,
        mode: Option<String>,
        #[pyo3(from_py_with = one_or_many)] paths: Vec<String>,
        #[pyo3(from_py_with = one_or_many)] headings: Vec<String>,
        #[pyo3(from_py_with = one_or_many)] types: Vec<String>,
        vector: Option<PyArrayLike1<'_, f32, AllowTypeChange>>,
        rerank: Option<Bound<'_, PyAny>>,
        rerank_depth: Whole,
        expand: String,
        expand_tokens: Whole,
        context: Whole,
        token_budget: Option<Whole>,
    ) -> PyResult<Vec<Hit>> {
        if query.trim().is_empty() {
            return Err(usage("the query is empty"));
        }
        let k = usize::try_from(k).ok().filter(|&k| k > 0).ok_or_else(|| usage(format!("k is {k}: at least 1 hit")))?;
        let (rerank_depth, context) = (rerank_depth.named("rerank_depth")?, context.named("context")?);
        let expand_tokens = expand_tokens.named("expand_tokens")?;
        let token_budget = optional(token_budget, "token_budget")?;
        // One store for all of the search, whatever else is written or refreshed meanwhile.
        let store = self.store();
        let embedded = store.about().embedder().is_some();
        let mode = match mode {
            Some(mode) => mode.parse::<Mode>().map_err(usage)?,
            None if embedded => Mode::Hybrid,
            None => Mode::Bm25,
        };
        let mut query = Query::new(query, mode, k).with_filter(Filter { paths, headings, file_types: types });
        query.vector = match vector {
            Some(vector) => Some(vector.as_array().to_vec()),
            None if mode != Mode::Bm25 && embedded => Some(self.embed(py, &query, store.as_ref())?),
            None => None,
        };
        let expand: Expand = expand.parse().map_err(usage)?;
        let expansion = Expansion { expand, tokens: expand_tokens }.within(token_budget);
        let by_reranker = Raised::default();
        let reranker = match rerank {
            Some(given) => self.reranker(&given, &by_reranker)?,
            None => None,
        };
        let hits = detached(py, || {
            let found = find(store.as_ref(), reranker.as_deref(), rerank_depth, &query, expansion, context);
            let mut hits = found.map_err(of_store)?;
            if let Some(budget) = token_budget {
                fit_budget(&mut hits, budget);
            }
            Ok::<_, PyErr>(hits)
        });
        let hits: Vec<store::Hit> = hits.map_err(|error| by_reranker.or(error))?;
        Ok(hits.into_iter().map(|inner| Hit { inner }).collect())
    }

    /// The documents, a dictionary each, in the order of their ids: those that begin with `prefix` and come after `after`.
    #[pyo3(
        signature = (prefix = String::new(), *, after = None, limit = Whole::of(1000)),
        text_signature = "($self, prefix='', *, after=None, limit=1000)"
    )]
    fn list<'py>(
        &self,
        py: Python<'py>,
        prefix: String,
        after: Option<String>,
        limit: Whole,
    ) -> PyResult<Bound<'py, PyAny>> {
        let store = self.store();
        let limit = limit.named("limit")?;
        let found = detached(py, || store.list(&prefix, after.as_deref(), limit)).map_err(of_store)?;
        json::to_python(py, &found)
    }

    /// Sees the newest state of the store from now on; true where it is another one.
    fn refresh(&self, py: Python<'_>) -> PyResult<bool> {
        detached(py, || {
            let freshness = self.store().refresh().map_err(of_store)?;
            if freshness == Freshness::Replaced {
                let store = stores::open(&self.place).map_err(of_store)?;
                *self.store.write().unwrap_or_else(PoisonError::into_inner) = Arc::from(store);
            }
            Ok(freshness != Freshness::Same)
        })
    }

    fn __repr__(&self) -> String {
        format!("Index({:?})", self.name())
    }
}

impl Index {
    /// The store as it is now. No lock is held while it is searched: what is written in Python may ask this index again.
    fn store(&self) -> Arc<dyn Retriever> {
        Arc::clone(&self.store.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The reranker of a spec, or one that is written in Python.
    fn reranker(&self, given: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<Option<Arc<dyn Reranker>>> {
        let Ok(spec) = given.cast::<PyString>() else {
            return Ok(Some(Arc::new(custom::Reranker::new(given, raised.clone())?)));
        };
        let spec = spec.to_cow()?;
        detached(given.py(), || Engine::new().offline(self.offline).reranker(&spec)).map_err(of_engine)
    }

    /// The query's vector, by the encoder that the store's vectors are of.
    fn embed(&self, py: Python<'_>, query: &Query, store: &dyn Retriever) -> PyResult<Vec<f32>> {
        let about = store.about();
        let given = match &self.embedder {
            Some(given) => Given::of(given.bind(py))?,
            None => Given::Name(about.embedder().unwrap_or_default().to_owned()),
        };
        detached(py, || {
            let (encoder, raised) = match given {
                Given::Name(name) => (self.named(&name)?, Raised::default()),
                Given::Encoder(encoder, raised) => (encoder, raised),
            };
            if let Some(own) = &about.meta.embedder
                && *own != own.by(encoder.as_ref())
            {
                return Err(usage(format!(
                    "{}: its vectors are those of {own}, and the query's would be those of {}",
                    about.name,
                    own.by(encoder.as_ref())
                )));
            }
            query_vector(query, Some(encoder.as_ref()), about.embedder()).map_err(|error| raised.or(of_store(error)))
        })
    }

    /// The encoder of a name; it stays open.
    fn named(&self, name: &str) -> PyResult<Arc<dyn SentenceEncoder>> {
        let opened = || self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, encoder)) = opened().as_ref().filter(|(known, _)| known == name) {
            return Ok(Arc::clone(encoder));
        }
        // Without the lock: a thread that waits for parts of a model may begin another search meanwhile.
        let found = Engine::new().offline(self.offline).embedder(name).map_err(of_engine)?;
        let encoder = found.ok_or_else(|| usage(format!("embedder {name}: it gives no vectors")))?;
        *opened() = Some((name.to_owned(), Arc::clone(&encoder)));
        Ok(encoder)
    }
}

/// What is asked for.
fn query_of(given: &Bound<'_, PyAny>) -> PyResult<String> {
    whole("the query", given.cast::<PyString>()?)
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

    /// The hit as a dictionary, which counts characters as its attributes do, with the bytes beside them.
    pub fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut counted = self.inner.clone();
        counted.count_in_chars();
        let found = json::to_python(py, &counted)?;
        found.set_item("start", self.start())?;
        found.set_item("end", self.end())?;
        found.set_item("start_byte", self.start_byte())?;
        found.set_item("end_byte", self.end_byte())?;
        Ok(found)
    }

    #[classmethod]
    fn _restored(_class: &Bound<'_, PyType>, kept: &str) -> PyResult<Self> {
        Ok(Self { inner: restored::<KeptHit>(kept)?.into() })
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduced(slf.as_any(), &KeptHit::from(&slf.get().inner))
    }

    fn __repr__(&self) -> String {
        let (rank, score, chunk) = (self.inner.rank, self.inner.score, &self.inner.chunk);
        format!("Hit({rank}, {score:.3}, {:?} {}..{})", chunk.document, chunk.start, chunk.end)
    }
}
