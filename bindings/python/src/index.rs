//! Documents into a store.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError};

use pericope::api::{self, SegmentError};
use pericope::index::pipeline::{Failure, Options, Progress, Report, index_documents_with};
use pericope::segment::{Chunker, Limits};
use pericope::store::{Destination, Finished, HEADING_TOKENS, Publication, StoreError};
use pericope::{Engine, stores};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::custom::{Raised, is_exit};
use crate::embedder::Given;
use crate::errors::{of_engine, of_store, usage};
use crate::feed::Feed;
use crate::forked;
use crate::process::{Threads, detached};
use crate::segmenter::{Counted, ForStore, Segmenter, tokenizer_beside};

/// Bytes of text after which a store is committed.
const COMMIT_BYTES: u64 = 64 << 20;

/// What was indexed.
#[pyclass(frozen, get_all, module = "pericope")]
pub struct IndexReport {
    /// Documents written.
    documents: u64,
    /// Chunks written.
    chunks: u64,
    /// Bytes of their sources.
    bytes: u64,
    /// Ids of documents without text.
    empty: Vec<String>,
    /// What was left out, and why.
    failures: Vec<(String, String)>,
    /// What was read in part, and what is missing.
    incomplete: Vec<(String, String)>,
    /// Ids of documents of the old store for whose sake a rebuild did not take its place.
    lost: Vec<String>,
    /// Texts that were embedded; others were known.
    embedded: u64,
    /// Chunks whose end the embedder does not read.
    truncated: u64,
    /// Documents in the store that was written.
    total_documents: u64,
    /// Chunks in the store that was written.
    total_chunks: u64,
}

#[pymethods]
impl IndexReport {
    fn __repr__(&self) -> String {
        let (documents, chunks, failures) = (self.documents, self.chunks, self.failures.len());
        format!("IndexReport({documents} documents, {chunks} chunks, {failures} failures)")
    }
}

/// Cuts documents and writes them into a store: a folder, or `qdrant://HOST:PORT/COLLECTION`. A document that is there
/// already is replaced. A rebuild takes the place of the old store unless that would lose documents that could not be read.
#[pyfunction]
#[pyo3(
    signature = (
        documents, into, *, segmenter = None, embedder = None, rebuild = false, prefix_headings = false,
        late_chunking = false, offline = false
    ),
    text_signature = "(documents, into, *, segmenter='structure', embedder=None, rebuild=False, prefix_headings=False, \
        late_chunking=False, offline=False)"
)]
#[allow(clippy::too_many_arguments)] // keywords
pub fn index(
    py: Python<'_>,
    documents: &Bound<'_, PyAny>,
    into: &Bound<'_, PyAny>,
    segmenter: Option<&Bound<'_, PyAny>>,
    embedder: Option<&Bound<'_, PyAny>>,
    rebuild: bool,
    prefix_headings: bool,
    late_chunking: bool,
    offline: bool,
) -> PyResult<IndexReport> {
    let into = place(into)?;
    let default = PyString::new(py, "structure").into_any();
    let embedder = embedder.map(Given::of).transpose()?;
    let beside = embedder.as_ref().map_or("none", Given::counted_by).to_owned();
    // What was said when the store was made holds for all that is added to it.
    let before = if rebuild { None } else { detached(py, || stores::built_with(&into)).map_err(of_store)? };
    let (encoder, raised) = match embedder {
        Some(given) => detached(py, || given.open(offline))?,
        None => (None, Raised::default()),
    };
    let room = if prefix_headings { HEADING_TOKENS } else { 0 };
    let store = ForStore { before: before.as_ref(), encoder: encoder.as_deref(), room };
    let segmenter = segmenter_of(segmenter.unwrap_or(&default), &beside, store, offline)?;
    let threads = Threads::here(py);
    let encoder = encoder.map(|encoder| forked::encoder(encoder, &threads));
    let (chunker, cutting) = (Arc::clone(&segmenter.get().chunker), segmenter.get().raised.clone());
    let feed = Feed::new(documents)?;
    let (reading, interrupt) = (feed.raised.clone(), Interrupt::new());
    let done = py.detach(|| {
        let store = threads.run(|| {
            let spec = Engine::new().with_tokenizer(chunker.counter().name()).index_spec(&chunker, encoder);
            let spec = spec.map_err(of_engine)?.with_heading_prefix(prefix_headings).with_late_chunking(late_chunking);
            stores::create(&into, &spec, rebuild, COMMIT_BYTES).map_err(of_store)
        })?;
        let store = forked::store(store, &threads);
        let cut = cutter(chunker, cutting, threads, interrupt.clone());
        write(store, feed, cut, &interrupt).map_err(|error| raised.or(of_store(error)))
    });
    if let Some(error) = interrupt.raised.first().or_else(|| reading.first()) {
        return Err(error);
    }
    let (Report { progress, failures, empty, embedded, truncated, .. }, finished) = done?;
    let (incomplete, failures): (Vec<_>, Vec<_>) = failures.into_iter().partition(|failure| failure.in_part);
    let told = |failures: Vec<Failure>| -> Vec<(String, String)> {
        failures.into_iter().map(|failure| (failure.document, failure.reason)).collect()
    };
    Ok(IndexReport {
        documents: progress.documents,
        chunks: progress.chunks,
        bytes: progress.bytes,
        empty,
        failures: told(failures),
        incomplete: told(incomplete),
        lost: match finished.publication {
            Publication::KeptOld { lost } => lost,
            Publication::InPlace | Publication::Published | Publication::Unfinished => Vec::new(),
        },
        embedded: embedded.encoded,
        truncated,
        total_documents: finished.stats.documents,
        total_chunks: finished.stats.chunks,
    })
}

/// What cuts documents with the threads of this process.
fn cutter(
    chunker: Arc<Chunker>,
    raised: Raised,
    threads: Threads,
    interrupt: Interrupt,
) -> impl Fn(&api::Document) -> Result<Vec<api::Chunk>, SegmentError> + Send + Sync + 'static {
    move |document: &api::Document| {
        threads.run(|| chunker.chunks(document)).map_err(|error| match raised.of(&error.to_string()) {
            Some((raised, problem)) => {
                if let Some(raised) = raised.filter(is_exit) {
                    interrupt.by(raised);
                }
                SegmentError::Unsupported(problem)
            }
            None => error,
        })
    }
}

/// Cuts documents and writes them. It is called on the caller's own thread: Python hears signals on no other.
fn write(
    mut store: Box<dyn Destination>,
    feed: Feed,
    cut: impl Fn(&api::Document) -> Result<Vec<api::Chunk>, SegmentError> + Send + Sync + 'static,
    interrupt: &Interrupt,
) -> Result<(Report, Finished), StoreError> {
    let (reading, missed) = (feed.raised.clone(), feed.missed());
    let options = Options { stop: Arc::clone(&interrupt.stop), ..Options::default() };
    let progress = |_: &Progress| {
        if let Some(Err(error)) = Python::try_attach(|py| py.check_signals()) {
            interrupt.by(error);
        }
    };
    let mut report = index_documents_with(store.as_mut(), feed, cut, &options, progress)?;
    // Documents that did not come are lacking: a store that was built anew is not to take the place of the old one.
    report.interrupted |= reading.holds();
    let finished = missed.lock().unwrap_or_else(PoisonError::into_inner).finish(store, &report)?;
    Ok((report, finished))
}

/// What ends a call early.
#[derive(Clone)]
struct Interrupt {
    raised: Raised,
    stop: Arc<AtomicBool>,
}

impl Interrupt {
    fn new() -> Self {
        Self { raised: Raised::of_one_call(), stop: Arc::default() }
    }

    /// Ends the call by an exception, the first of several.
    fn by(&self, error: PyErr) {
        self.raised.hold(error);
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The place of a store: an address or a path.
pub fn place(given: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(text.to_cow()?.into_owned());
    }
    let path = given.extract::<PathBuf>()?;
    path.into_os_string().into_string().map_err(|path| usage(format!("{path:?} is not UTF-8")))
}

/// A `Segmenter`, or the one of a spec or of an object in Python, which counts as what embeds its chunks does.
fn segmenter_of<'py>(
    given: &Bound<'py, PyAny>,
    embedder: &str,
    store: ForStore<'_>,
    offline: bool,
) -> PyResult<Bound<'py, Segmenter>> {
    if let Ok(segmenter) = given.cast::<Segmenter>() {
        return Ok(segmenter.clone());
    }
    let spec = given.cast::<PyString>().ok().map(|spec| spec.to_cow()).transpose()?;
    let tokenizer = match store.before {
        Some(before) => before.tokenizer.clone(),
        None => tokenizer_beside(embedder, spec.as_deref()),
    };
    let counted = Counted { limits: Limits::default(), tokenizer: Some(tokenizer), store: Some(store) };
    Bound::new(given.py(), Segmenter::made(given.py(), given, counted, None, Vec::new(), offline)?)
}
