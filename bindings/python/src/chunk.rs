//! Chunks, counted in characters as Python counts.

use std::hash::{DefaultHasher, Hash, Hasher};

use pericope::api::{self, Heading};
use pericope::store::Positions;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};

use crate::errors::usage;

/// A piece of a document: `text == document.text[start:end]`.
#[pyclass(frozen, get_all, module = "pericope")]
pub struct Chunk {
    document: Py<PyString>,
    ordinal: usize,
    text: Py<PyString>,
    start: usize,
    end: usize,
    start_byte: usize,
    end_byte: usize,
    lines: (usize, usize),
    heading_path: Py<PyTuple>,
    tokens: usize,
}

impl Chunk {
    /// The numbers that tell chunks of a document apart.
    fn place(&self) -> (usize, usize, usize, usize) {
        (self.ordinal, self.start_byte, self.end_byte, self.tokens)
    }

    fn is_same(&self, other: &Self, py: Python<'_>) -> PyResult<bool> {
        let texts = |chunk: &Self| (chunk.text.bind(py).clone(), chunk.document.bind(py).clone());
        let ((text, document), (other_text, other_document)) = (texts(self), texts(other));
        Ok(self.place() == other.place()
            && text.as_any().eq(other_text)?
            && document.as_any().eq(other_document)?
            && self.heading_path.bind(py).as_any().eq(other.heading_path.bind(py))?)
    }
}

#[pymethods]
impl Chunk {
    #[new]
    #[allow(clippy::too_many_arguments)] // what a pickle holds
    fn new(
        document: Py<PyString>,
        ordinal: usize,
        text: Py<PyString>,
        start: usize,
        end: usize,
        start_byte: usize,
        end_byte: usize,
        lines: (usize, usize),
        heading_path: Py<PyTuple>,
        tokens: usize,
    ) -> PyResult<Self> {
        if end < start || end_byte < start_byte {
            return Err(usage(format!(
                "a chunk ends before it starts: characters {start} to {end}, bytes {start_byte} to {end_byte}"
            )));
        }
        Ok(Self { document, ordinal, text, start, end, start_byte, end_byte, lines, heading_path, tokens })
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        (
            &self.document,
            self.ordinal,
            &self.text,
            self.start,
            self.end,
            self.start_byte,
            self.end_byte,
            self.lines,
            &self.heading_path,
            self.tokens,
        )
            .into_pyobject(py)
    }

    /// The same as a dictionary.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let found = PyDict::new(py);
        found.set_item("document", &self.document)?;
        found.set_item("ordinal", self.ordinal)?;
        found.set_item("start", self.start)?;
        found.set_item("end", self.end)?;
        found.set_item("start_byte", self.start_byte)?;
        found.set_item("end_byte", self.end_byte)?;
        found.set_item("lines", self.lines)?;
        found.set_item("tokens", self.tokens)?;
        found.set_item("heading_path", self.heading_path.bind(py).to_list())?;
        found.set_item("text", &self.text)?;
        Ok(found)
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> PyResult<bool> {
        other.cast::<Self>().map_or(Ok(false), |chunk| self.is_same(chunk.get(), other.py()))
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<u64> {
        let mut hasher = DefaultHasher::new();
        (self.document.bind(py).hash()?, self.place()).hash(&mut hasher);
        Ok(hasher.finish())
    }

    fn __len__(&self) -> usize {
        self.end - self.start
    }

    fn __str__(&self, py: Python<'_>) -> Py<PyString> {
        self.text.clone_ref(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.text.bind(py).repr()?;
        Ok(format!("Chunk({}, {}:{}, {} tokens, {text})", self.ordinal, self.start, self.end, self.tokens))
    }
}

/// The chunks of a document as Python's objects. Texts, ids and heading paths that are the same are shared.
pub fn to_python(py: Python<'_>, document: &api::Document, chunks: &[api::Chunk]) -> PyResult<Vec<Chunk>> {
    let id = PyString::new(py, &document.id).unbind();
    let mut positions = Positions::new(&document.source);
    let mut path: Option<(&[Heading], Py<PyTuple>)> = None;
    let mut found = Vec::with_capacity(chunks.len());
    for chunk in chunks {
        let text = document.text(chunk.span);
        let begins = positions.at(chunk.span.start);
        let heading_path = match &path {
            Some((known, tuple)) if *known == chunk.heading_path.as_slice() => tuple.clone_ref(py),
            _ => {
                let tuple = PyTuple::new(py, chunk.heading_path.iter().map(|heading| heading.as_str()))?.unbind();
                path = Some((&chunk.heading_path, tuple.clone_ref(py)));
                tuple
            }
        };
        found.push(Chunk {
            document: id.clone_ref(py),
            ordinal: chunk.ordinal,
            text: PyString::new(py, text).unbind(),
            start: begins.char,
            end: begins.behind(text).char,
            start_byte: chunk.span.start,
            end_byte: chunk.span.end,
            lines: begins.lines(text).into(),
            heading_path,
            tokens: chunk.tokens,
        });
    }
    Ok(found)
}
