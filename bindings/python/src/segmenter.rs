//! Segmenters by their specs, and those written in Python.

use std::sync::Arc;

use pericope::api::{self, SegmentError, SentenceEncoder};
use pericope::segment::spec::Spec;
use pericope::segment::{Chunker, Limits};
use pericope::store::StoreMeta;
use pericope::{Engine, tokenizer_for};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use rayon::prelude::*;

use crate::chunk::{self, Chunk};
use crate::custom::{self, Raised};
use crate::document::{Text, check_several};
use crate::embedder::Given;
use crate::errors::{failed, of_engine, usage};
use crate::numbers::{Whole, optional};
use crate::process::detached;
use crate::segmentation;
use crate::stream::ChunkIterator;
use crate::tree::{self, Tree};

/// A segmenter with its size policy: texts in, chunks out.
#[pyclass(frozen, module = "pericope")]
pub struct Segmenter {
    pub chunker: Arc<Chunker>,
    pub raised: Raised,
    /// What a caller made it of: the segmenter and the keywords.
    given: Option<(Py<PyAny>, Py<PyDict>)>,
}

/// What cuts, as a caller names it.
enum Cuts {
    Spec(String),
    Custom(custom::Segmenter),
}

impl Cuts {
    fn spec(&self) -> Option<&str> {
        match self {
            Self::Spec(spec) => Some(spec),
            Self::Custom(_) => None,
        }
    }
}

/// The tokenizer where none is named: by what embeds the chunks, and by what the segmenter reads with.
pub fn tokenizer_beside(embedder: &str, spec: Option<&str>) -> String {
    let spec = spec.and_then(|spec| Spec::parse(spec).ok());
    tokenizer_for(embedder, &spec)
}

/// How a segmenter counts: the limits and the tokenizer that a caller names, and the store that its chunks are for.
pub struct Counted<'a> {
    pub limits: Limits,
    pub tokenizer: Option<String>,
    pub store: Option<ForStore<'a>>,
}

/// What says how long the chunks of a store are where nothing else does: what it was made with before, what embeds them, and the tokens
/// that this reads before each.
pub struct ForStore<'a> {
    pub before: Option<&'a StoreMeta>,
    pub encoder: Option<&'a dyn SentenceEncoder>,
    pub room: usize,
}

impl Segmenter {
    /// The segmenter of a spec or of an object in Python.
    pub fn made(
        py: Python<'_>,
        segmenter: &Bound<'_, PyAny>,
        counted: Counted<'_>,
        embedder: Option<Given>,
        corpus: Vec<Text>,
        offline: bool,
    ) -> PyResult<Self> {
        let mut raised = Raised::default();
        if let Some(Given::Encoder(_, own)) = &embedder {
            raised = own.clone();
        }
        let cuts = match segmenter.cast::<PyString>() {
            Ok(spec) => Cuts::Spec(spec.to_cow()?.into_owned()),
            Err(_) => Cuts::Custom(custom::Segmenter::new(segmenter, raised.clone())?),
        };
        let Counted { limits, tokenizer, store } = counted;
        let chunker = detached(py, || {
            let corpus: Vec<Arc<api::Document>> =
                corpus.into_iter().map(|text| text.document("plain")).collect::<PyResult<_>>()?;
            let visit = |each: &mut dyn FnMut(&api::Document)| corpus.iter().for_each(|document| each(document));
            let mut engine = Engine::new().with_overrides(limits).offline(offline);
            if !corpus.is_empty() {
                engine = engine.with_corpus(&visit);
            }
            engine = engine.with_tokenizer(tokenizer.unwrap_or_else(|| {
                // An encoder that was named for the segmenter is another.
                let is_default = embedder.as_ref().is_none_or(|given| given.name() == "minilm");
                tokenizer_beside("none", cuts.spec().filter(|_| is_default))
            }));
            engine = match embedder {
                Some(Given::Name(name)) => engine.with_segment_embedder(Some(name)),
                Some(Given::Encoder(encoder, _)) => engine.with_encoder(encoder),
                None => engine,
            };
            if let Some(ForStore { before, encoder, room }) = store {
                engine = engine.with_limits_of(before, encoder, room);
            }
            match cuts {
                Cuts::Spec(spec) => engine.chunker(&spec),
                Cuts::Custom(segmenter) => engine.custom_chunker(Box::new(segmenter)),
            }
            .map_err(of_engine)
        });
        let chunker = chunker.map_err(|error| raised.or(error))?;
        Ok(Self { chunker: Arc::new(chunker), raised, given: None })
    }
}

#[pymethods]
impl Segmenter {
    #[new]
    #[pyo3(signature = (
        segmenter, *, max_tokens = None, min_tokens = None, target_tokens = None, overlap = None, tokenizer = None,
        embedder = None, corpus = None, offline = false
    ))]
    #[allow(clippy::too_many_arguments)] // keywords
    fn new(
        py: Python<'_>,
        segmenter: &Bound<'_, PyAny>,
        max_tokens: Option<Whole>,
        min_tokens: Option<Whole>,
        target_tokens: Option<Whole>,
        overlap: Option<Whole>,
        tokenizer: Option<String>,
        embedder: Option<&Bound<'_, PyAny>>,
        corpus: Option<&Bound<'_, PyAny>>,
        offline: bool,
    ) -> PyResult<Self> {
        let limits = Limits {
            max_tokens: optional(max_tokens, "max_tokens")?,
            min_tokens: optional(min_tokens, "min_tokens")?,
            target_tokens: optional(target_tokens, "target_tokens")?,
            overlap: optional(overlap, "overlap")?,
        };
        let keywords = PyDict::new(py);
        keywords.set_item("max_tokens", limits.max_tokens)?;
        keywords.set_item("min_tokens", limits.min_tokens)?;
        keywords.set_item("target_tokens", limits.target_tokens)?;
        keywords.set_item("overlap", limits.overlap)?;
        keywords.set_item("tokenizer", &tokenizer)?;
        keywords.set_item("embedder", embedder)?;
        keywords.set_item("offline", offline)?;
        let embedder = embedder.map(Given::of).transpose()?;
        let is_sized = corpus.is_some();
        let corpus = corpus.map(Text::list).transpose()?.unwrap_or_default();
        let counted = Counted { limits, tokenizer, store: None };
        let made = Self::made(py, segmenter, counted, embedder, corpus, offline)?;
        // What was measured on a corpus stands in the spec.
        let segmenter = match is_sized && segmenter.is_instance_of::<PyString>() {
            true => PyString::new(py, &made.spec()).into_any(),
            false => segmenter.clone(),
        };
        Ok(Self { given: Some((segmenter.unbind(), keywords.unbind())), ..made })
    }

    #[allow(clippy::type_complexity)] // what `new` takes
    fn __getnewargs_ex__(&self, py: Python<'_>) -> PyResult<((Py<PyAny>,), Py<PyDict>)> {
        let given =
            self.given.as_ref().ok_or_else(|| usage("this segmenter was made by `index`: it cannot be copied"))?;
        Ok(((given.0.clone_ref(py),), given.1.clone_ref(py)))
    }

    /// The resolved spec, with the limits in force.
    #[getter]
    fn spec(&self) -> String {
        self.chunker.spec().to_string()
    }

    /// Names the weights that it reads with; empty where the spec says all.
    #[getter]
    fn fingerprint(&self) -> String {
        self.chunker.fingerprint()
    }

    /// The name of what counts tokens.
    #[getter]
    fn tokenizer(&self) -> &str {
        self.chunker.counter().name()
    }

    /// The chunks of a text.
    #[pyo3(signature = (text, *, format = "plain".to_owned()), text_signature = "($self, text, *, format='plain')")]
    fn segment(&self, py: Python<'_>, text: &Bound<'_, PyAny>, format: String) -> PyResult<Vec<Chunk>> {
        let (document, chunks) = self.ask(py, text, &format, |document| self.chunker.chunks(document))?;
        chunk::to_python(py, &document, &chunks)
    }

    /// The chunks of each of several texts, cut on all cores.
    #[pyo3(signature = (texts, *, format = "plain".to_owned()), text_signature = "($self, texts, *, format='plain')")]
    fn segment_all(&self, py: Python<'_>, texts: &Bound<'_, PyAny>, format: String) -> PyResult<Vec<Vec<Chunk>>> {
        let texts = Text::list(texts)?.into_iter().map(Ok).collect();
        let cut = detached(py, || all(&self.chunker, texts, &format));
        // Every exception is asked for, the first of them comes back.
        let cut: Vec<Cut> = cut.into_iter().map(|cut| cut.map_err(|error| self.raised.or(error))).collect();
        let one = |cut: Cut| cut.and_then(|(document, chunks)| chunk::to_python(py, &document, &chunks));
        cut.into_iter().map(one).collect()
    }

    /// The chunks of each text of an iterable, a list a text, in order. It holds some batches of texts at a time.
    #[pyo3(signature = (texts, *, format = "plain".to_owned()), text_signature = "($self, texts, *, format='plain')")]
    fn iter(&self, texts: &Bound<'_, PyAny>, format: String) -> PyResult<ChunkIterator> {
        check_several(texts)?;
        let texts = texts.try_iter()?.unbind();
        Ok(ChunkIterator::new(Arc::clone(&self.chunker), self.raised.clone(), texts, format))
    }

    /// What the segmenter itself says, before the size policy.
    #[pyo3(signature = (text, *, format = "plain".to_owned()), text_signature = "($self, text, *, format='plain')")]
    fn segmentation<'py>(
        &self,
        py: Python<'py>,
        text: &Bound<'_, PyAny>,
        format: String,
    ) -> PyResult<Bound<'py, PyAny>> {
        let segment = |document: &api::Document| match document.is_empty() {
            true => Ok(api::Segmentation::Boundaries(api::Boundaries::none(0))),
            false => self.chunker.segmenter().segment(document),
        };
        let (document, found) = self.ask(py, text, &format, segment)?;
        segmentation::to_python(py, &document, found)
    }

    /// The numbers of the sentences, from 1, after which chunks end, as the size policy has it; with `segments`, as many as
    /// make so many segments, whatever their size.
    #[pyo3(
        signature = (text, *, segments = None, format = "plain".to_owned()),
        text_signature = "($self, text, *, segments=None, format='plain')"
    )]
    fn boundaries(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        segments: Option<Whole>,
        format: String,
    ) -> PyResult<Vec<usize>> {
        let segments = optional(segments, "segments")?;
        let find = |document: &api::Document| match segments {
            Some(segments) => self.chunker.boundaries_known(document, segments),
            None => self.chunker.boundaries(document),
        };
        let (_, found) = self.ask(py, text, &format, find)?;
        Ok(found.after().to_vec())
    }

    /// The segments within segments of a text, from coarse to fine.
    #[pyo3(signature = (text, *, format = "plain".to_owned()), text_signature = "($self, text, *, format='plain')")]
    fn tree(&self, py: Python<'_>, text: &Bound<'_, PyAny>, format: String) -> PyResult<Py<Tree>> {
        let trees = self.chunker.trees().map_err(|error| usage(error.to_string()))?;
        let (document, tree) = self.ask(py, text, &format, |document| trees.tree(document))?;
        tree::to_python(py, &document, &tree)
    }

    fn __repr__(&self) -> String {
        format!("Segmenter({:?})", self.spec())
    }
}

impl Segmenter {
    /// Asks about one text, while other threads run.
    fn ask<T: Send>(
        &self,
        py: Python<'_>,
        text: &Bound<'_, PyAny>,
        format: &str,
        ask: impl Fn(&api::Document) -> Result<T, SegmentError> + Sync,
    ) -> PyResult<(Arc<api::Document>, T)> {
        let text = Text::of(text)?;
        let answer = detached(py, || {
            let document = text.document(format)?;
            let answer = ask(&document).map_err(failed)?;
            Ok::<_, PyErr>((document, answer))
        });
        answer.map_err(|error| self.raised.or(error))
    }
}

/// A document and its chunks, or why there are none.
pub type Cut = PyResult<(Arc<api::Document>, Vec<api::Chunk>)>;

/// Reads and cuts several texts on all cores.
pub fn all(chunker: &Chunker, texts: Vec<PyResult<Text>>, format: &str) -> Vec<Cut> {
    let read: Vec<PyResult<Arc<api::Document>>> = texts.into_par_iter().map(|text| text?.document(format)).collect();
    let documents: Vec<&api::Document> = read.iter().flatten().map(Arc::as_ref).collect();
    let mut cut = chunker.chunks_all(&documents, &|| ()).into_iter();
    let missing = || Err(SegmentError::Unsupported("the segmenter gave no answer for a document".into()));
    let join = |document: PyResult<Arc<api::Document>>| {
        let document = document?;
        let chunks = cut.next().unwrap_or_else(missing).map_err(failed)?;
        Ok((document, chunks))
    };
    read.into_iter().map(join).collect()
}

/// The segmenters that specs may name: a dictionary each.
#[pyfunction]
pub fn segmenters(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |entry: &pericope::segment::registry::SegmenterEntry| {
        let keys = PyDict::new(py);
        for key in entry.keys {
            keys.set_item(key.name, key.doc)?;
        }
        let found = PyDict::new(py);
        found.set_item("name", entry.name)?;
        found.set_item("summary", entry.summary)?;
        found.set_item("example", entry.example)?;
        found.set_item("keys", keys)?;
        Ok(found)
    };
    pericope::segmenters().iter().map(entry).collect()
}
