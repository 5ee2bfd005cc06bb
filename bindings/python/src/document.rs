//! Documents and what reads them.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use pericope::api::{self, Kind};
use pericope::read::{ReadError, ReadOptions, Reader, read_bytes, read_each, read_text, reader};
use pericope::store::Positions;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyByteArray, PyBytes, PyString, PyTuple, PyType};

use crate::command::isolation;
use crate::errors::{failed, of_read, usage};
use crate::numbers::Whole;
use crate::pickles::{KeptDocument, Reduced, reduced, restored};
use crate::process::detached;

/// A text, kept as it is, and what a reader found in it.
#[pyclass(frozen, module = "pericope")]
pub struct Document {
    pub inner: Arc<api::Document>,
    text: PyOnceLock<Py<PyString>>,
}

impl Document {
    pub fn of(inner: Arc<api::Document>) -> Self {
        Self { inner, text: PyOnceLock::new() }
    }
}

#[pymethods]
impl Document {
    #[new]
    #[pyo3(
        signature = (text, *, format = "plain".to_owned(), id = String::new()),
        text_signature = "(text, *, format='plain', id='')"
    )]
    fn new(
        py: Python<'_>,
        text: &Bound<'_, PyString>,
        format: String,
        #[pyo3(from_py_with = id_of)] id: String,
    ) -> PyResult<Self> {
        let text: Arc<str> = whole("the text", text)?.into();
        detached(py, || parsed(&id, &format, text)).map(Self::of)
    }

    /// A document of given sentences, joined by line ends; each is a paragraph of its own.
    #[staticmethod]
    #[pyo3(signature = (sentences, *, id = String::new()), text_signature = "(sentences, *, id='')")]
    fn from_sentences(sentences: Vec<Bound<'_, PyString>>, #[pyo3(from_py_with = id_of)] id: String) -> PyResult<Self> {
        let sentence = |(place, given): (usize, &Bound<'_, PyString>)| whole(&format!("sentences[{place}]"), given);
        let sentences: Vec<String> = sentences.iter().enumerate().map(sentence).collect::<PyResult<_>>()?;
        Ok(Self::of(Arc::new(api::Document::from_sentences(&id, &sentences))))
    }

    #[classmethod]
    fn _restored(_class: &Bound<'_, PyType>, kept: &str) -> PyResult<Self> {
        Ok(Self::of(Arc::new(restored::<KeptDocument>(kept)?.into())))
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        reduced(slf.as_any(), &KeptDocument::from(slf.get().inner.as_ref()))
    }

    #[getter]
    fn id(&self) -> &str {
        &self.inner.id
    }

    #[getter]
    fn title(&self) -> Option<&str> {
        self.inner.title.as_deref()
    }

    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.text.get_or_init(py, || PyString::new(py, &self.inner.source).unbind()).bind(py).clone()
    }

    #[getter]
    fn encoding(&self) -> Option<&str> {
        self.inner.encoding.as_deref()
    }

    #[getter]
    fn sentences(&self) -> Vec<Sentence> {
        let mut positions = Positions::new(&self.inner.source);
        let sentence = |found: &api::Sentence| {
            let text = self.inner.text(found.span);
            let begins = positions.at(found.span.start);
            Sentence {
                start: begins.char,
                end: begins.behind(text).char,
                start_byte: found.span.start,
                end_byte: found.span.end,
                lines: begins.lines(text).into(),
                kind: kind(found.kind).to_owned(),
                level: match found.kind {
                    Kind::Heading(level) => Some(level),
                    _ => None,
                },
                paragraph: found.paragraph,
                text: text.to_owned(),
            }
        };
        self.inner.sentences.iter().map(sentence).collect()
    }

    /// The headings above a sentence, outermost first.
    fn heading_path<'py>(&self, py: Python<'py>, sentence: Whole) -> PyResult<Bound<'py, PyTuple>> {
        let sentence = sentence.named("sentence")?;
        PyTuple::new(py, self.inner.heading_path(sentence).iter().map(|heading| heading.as_str()))
    }

    /// The whole text as a person reads it: tags gone, entities as characters.
    fn visible(&self) -> String {
        self.inner.visible((0..self.inner.source.len()).into()).into_owned()
    }

    fn __len__(&self) -> usize {
        self.inner.len()
    }

    // A document without sentences is one all the same.
    fn __bool__(&self) -> bool {
        true
    }

    fn __repr__(&self) -> String {
        let (id, sentences, bytes) = (&self.inner.id, self.inner.len(), self.inner.source.len());
        format!("Document(id={id:?}, {sentences} sentences, {bytes} bytes)")
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Heading(_) => "heading",
        Kind::ListItem => "list-item",
        Kind::Code => "code",
        Kind::Table => "table",
        Kind::Markup => "markup",
        _ => "prose",
    }
}

/// The smallest unit that segmenters reason about.
#[pyclass(frozen, get_all, module = "pericope")]
pub struct Sentence {
    start: usize,
    end: usize,
    start_byte: usize,
    end_byte: usize,
    lines: (usize, usize),
    kind: String,
    level: Option<u8>,
    paragraph: u32,
    text: String,
}

#[pymethods]
impl Sentence {
    #[new]
    #[allow(clippy::too_many_arguments)] // what a pickle holds
    fn new(
        start: usize,
        end: usize,
        start_byte: usize,
        end_byte: usize,
        lines: (usize, usize),
        kind: String,
        level: Option<u8>,
        paragraph: u32,
        text: String,
    ) -> Self {
        Self { start, end, start_byte, end_byte, lines, kind, level, paragraph, text }
    }

    #[allow(clippy::type_complexity)] // what `new` takes
    fn __getnewargs__(&self) -> (usize, usize, usize, usize, (usize, usize), &str, Option<u8>, u32, &str) {
        (
            self.start,
            self.end,
            self.start_byte,
            self.end_byte,
            self.lines,
            &self.kind,
            self.level,
            self.paragraph,
            &self.text,
        )
    }

    fn __repr__(&self) -> String {
        format!("Sentence({}:{}, {}, {:?})", self.start, self.end, self.kind, self.text)
    }
}

/// A text as the reader of a format sees it. A format of files, of which a text may hold several documents or none, is refused.
pub fn parsed(id: &str, format: &str, text: Arc<str>) -> PyResult<Arc<api::Document>> {
    match reader(format).map(Reader::name) {
        Some("jsonl") => {
            return Err(usage(
                "a str is one document, and jsonl may hold several: read_all(text.encode(), \"jsonl\") gives them",
            ));
        }
        Some("pdf") => return Err(usage("a PDF is bytes, and no str: read_all(data, \"pdf\") reads them")),
        _ => {}
    }
    read_text(id, format, text, &ReadOptions::default()).map(Arc::new).map_err(of_read)
}

/// A string without half characters, which Rust has no place for; `what` it is, for messages.
pub fn whole(what: &str, given: &Bound<'_, PyString>) -> PyResult<String> {
    given.to_cow().map(Cow::into_owned).map_err(|error| {
        let start = error.value(given.py()).getattr("start").and_then(|start| start.extract::<usize>());
        let place = start.map_or_else(|_| String::new(), |start| format!(" at character {start}"));
        usage(format!("{what} has a lone surrogate{place}, which is no character: decode its bytes anew"))
    })
}

/// The id of a document.
fn id_of(given: &Bound<'_, PyAny>) -> PyResult<String> {
    whole("the id", given.cast::<PyString>()?)
}

/// Refuses one text where several are asked for: a string is an iterable of its letters.
pub fn check_several(given: &Bound<'_, PyAny>) -> PyResult<()> {
    match given.is_instance_of::<PyString>() || given.is_instance_of::<Document>() {
        true => {
            Err(usage("this is one text, where a list or another iterable of texts is asked for: `segment` cuts one"))
        }
        false => Ok(()),
    }
}

/// A text to be cut: a document, or a string that is still to be read.
pub enum Text {
    Read(Arc<api::Document>),
    Raw(Arc<str>),
}

impl Text {
    /// Takes a `str` or a `Document`.
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::named("", given)
    }

    /// As [`of`](Self::of), of the text of a place among others.
    pub fn numbered(place: usize, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::named(&format!("texts[{place}]: "), given)
    }

    /// The texts of a list.
    pub fn list(given: &Bound<'_, PyAny>) -> PyResult<Vec<Self>> {
        check_several(given)?;
        let given: Vec<Bound<'_, PyAny>> = given.extract()?;
        given.iter().enumerate().map(|(place, given)| Self::numbered(place, given)).collect()
    }

    fn named(place: &str, given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(document) = given.cast::<Document>() {
            return Ok(Self::Read(Arc::clone(&document.get().inner)));
        }
        match given.cast::<PyString>() {
            Ok(text) => Ok(Self::Raw(whole(&format!("{place}the text"), text)?.into())),
            Err(_) => Err(usage(format!("{place}a text is a str or a Document, not {}", given.get_type().name()?))),
        }
    }

    /// The document; a string is read as that format.
    pub fn document(self, format: &str) -> PyResult<Arc<api::Document>> {
        match self {
            Self::Read(document) => Ok(document),
            Self::Raw(text) => parsed("", format, text),
        }
    }

    /// Bytes of the text.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Read(document) => document.source.len(),
            Self::Raw(text) => text.len(),
        }
    }
}

/// What a file is read from.
enum Source {
    Path(PathBuf),
    Bytes(Vec<u8>),
}

fn source(given: &Bound<'_, PyAny>) -> PyResult<Source> {
    if let Ok(bytes) = given.cast::<PyBytes>() {
        return Ok(Source::Bytes(bytes.as_bytes().to_vec()));
    }
    if let Ok(bytes) = given.cast::<PyByteArray>() {
        return Ok(Source::Bytes(bytes.to_vec()));
    }
    Ok(Source::Path(given.extract::<PathBuf>()?))
}

/// The settings with which this module reads.
pub fn options(py: Python<'_>, format: Option<String>) -> ReadOptions {
    ReadOptions { format, isolation: isolation(py), ..ReadOptions::default() }
}

/// Reads all documents of a file or of bytes.
#[pyfunction]
#[pyo3(
    signature = (source, format = None, *, id = None, whole_page = false, max_bytes = Whole::of(0)),
    text_signature = "(source, format=None, *, id=None, whole_page=False, max_bytes=0)"
)]
pub fn read_all(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    format: Option<String>,
    id: Option<String>,
    whole_page: bool,
    max_bytes: Whole,
) -> PyResult<Vec<Document>> {
    let source = self::source(source)?;
    let max_bytes = max_bytes.named("max_bytes")? as u64;
    let options = ReadOptions { whole_page, max_bytes, ..options(py, format) };
    let mut found: Vec<api::Document> = Vec::new();
    let mut problem: Option<ReadError> = None;
    let mut missing: Vec<String> = Vec::new();
    detached(py, || {
        let sink: &mut dyn FnMut(Result<api::Document, ReadError>) = &mut |read| match read {
            Ok(document) => found.push(document),
            Err(error @ ReadError::InPart { .. }) => missing.push(error.to_string()),
            Err(error) => problem = problem.take().or(Some(error)),
        };
        match source {
            Source::Path(path) => read_each(path, &options, sink),
            Source::Bytes(bytes) => {
                let format = options.format.as_deref().ok_or_else(|| usage("bytes have no name: say their format"))?;
                let (id, length) = (id.as_deref().unwrap_or("-"), bytes.len() as u64);
                match max_bytes > 0 && length > max_bytes {
                    true => sink(Err(ReadError::TooLarge { path: id.into(), bytes: length, limit: max_bytes })),
                    false => read_bytes(id, format, bytes, &options, sink),
                }
            }
        }
        Ok::<(), PyErr>(())
    })?;
    if let Some(error) = problem {
        return Err(of_read(error));
    }
    // What was read is there: a warning, which a caller may make an error.
    for message in missing {
        py.import("warnings")?.call_method1("warn", (message,))?;
    }
    if let (Some(id), [one]) = (id, found.as_mut_slice()) {
        one.id = id;
    }
    Ok(found.into_iter().map(|document| Document::of(Arc::new(document))).collect())
}

/// Reads the document of a file or of bytes.
#[pyfunction]
#[pyo3(
    signature = (source, format = None, *, id = None, whole_page = false, max_bytes = Whole::of(0)),
    text_signature = "(source, format=None, *, id=None, whole_page=False, max_bytes=0)"
)]
pub fn read(
    py: Python<'_>,
    source: &Bound<'_, PyAny>,
    format: Option<String>,
    id: Option<String>,
    whole_page: bool,
    max_bytes: Whole,
) -> PyResult<Document> {
    let mut found = read_all(py, source, format, id, whole_page, max_bytes)?;
    match (found.pop(), found.len()) {
        (Some(one), 0) => Ok(one),
        (Some(_), more) => Err(usage(format!("it holds {} documents: read_all gives them all", more + 1))),
        (None, _) => Err(failed("it holds no document")),
    }
}
