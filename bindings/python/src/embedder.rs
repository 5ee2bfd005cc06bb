//! Encoders by name, and their vectors in numpy.

use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pericope::Engine;
use pericope::api::{Embeddings, EncodeError, SentenceEncoder};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use crate::custom::{Encoder, Raised};
use crate::errors::{failed, of_engine, usage};
use crate::process::detached;

/// Turns texts into vectors of length 1.
#[pyclass(frozen, module = "pericope")]
pub struct Embedder {
    encoder: Arc<dyn SentenceEncoder>,
    raised: Raised,
    /// What a caller made it of.
    given: (Py<PyAny>, bool),
}

#[pymethods]
impl Embedder {
    #[new]
    #[pyo3(signature = (name = None, *, offline = false), text_signature = "(name='minilm', *, offline=False)")]
    fn new(name: Option<&Bound<'_, PyAny>>, offline: bool, py: Python<'_>) -> PyResult<Self> {
        let default = PyString::new(py, "minilm").into_any();
        let name = name.unwrap_or(&default);
        let given = (name.clone().unbind(), offline);
        match Given::of(name)? {
            Given::Name(name) if name == "none" => Err(usage("embedder none: it gives no vectors")),
            Given::Name(name) => {
                let found = detached(py, || Engine::new().offline(offline).embedder(&name)).map_err(of_engine)?;
                let encoder = found.ok_or_else(|| usage(format!("embedder {name}: it gives no vectors")))?;
                Ok(Self { encoder, raised: Raised::default(), given })
            }
            Given::Encoder(encoder, raised) => Ok(Self { encoder, raised, given }),
        }
    }

    #[allow(clippy::type_complexity)] // what `new` takes
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Py<PyAny>,), Bound<'py, PyDict>)> {
        let (name, offline) = &self.given;
        let keywords = PyDict::new(py);
        keywords.set_item("offline", offline)?;
        Ok(((name.clone_ref(py),), keywords))
    }

    #[getter]
    fn name(&self) -> &str {
        self.encoder.name()
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    #[getter]
    fn dimension(&self) -> usize {
        self.encoder.dimension()
    }

    #[getter]
    fn max_tokens(&self) -> usize {
        self.encoder.max_tokens()
    }

    /// The number of tokens as this encoder counts; `None` where it does not say.
    fn count_tokens(&self, py: Python<'_>, text: String) -> Option<usize> {
        detached(py, || self.encoder.count_tokens(&text))
    }

    /// One row a text.
    fn encode_passages<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = one_or_many)] texts: Vec<String>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.encode(py, &texts, |texts| self.encoder.encode_passages(texts))
    }

    /// One row a question.
    fn encode_queries<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = one_or_many)] texts: Vec<String>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        self.encode(py, &texts, |texts| self.encoder.encode_queries(texts))
    }

    fn __repr__(&self) -> String {
        format!("Embedder({:?}, dimension={})", self.encoder.name(), self.encoder.dimension())
    }
}

impl Embedder {
    fn encode<'py>(
        &self,
        py: Python<'py>,
        texts: &[String],
        encode: impl Fn(&[&str]) -> Result<Embeddings, EncodeError> + Sync,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let found = detached(py, || encode(&texts)).map_err(|error| self.raised.or(failed(error)))?;
        let shape = [texts.len(), self.encoder.dimension()];
        // The array takes the numbers over.
        PyArray1::from_vec(py, found.into_values()).reshape(shape)
    }
}

/// A list of texts, or one text, which is a list of one.
pub fn one_or_many(given: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    match given.cast::<PyString>() {
        Ok(one) => Ok(vec![one.to_cow()?.into_owned()]),
        Err(_) => given.extract(),
    }
}

/// What a caller names an encoder by.
#[derive(Clone)]
pub enum Given {
    Name(String),
    Encoder(Arc<dyn SentenceEncoder>, Raised),
}

impl Given {
    /// Takes a name, an `Embedder`, or an encoder written in Python.
    pub fn of(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(name) = given.cast::<PyString>() {
            return Ok(Self::Name(name.to_cow()?.into_owned()));
        }
        if let Ok(embedder) = given.cast::<Embedder>() {
            let embedder = embedder.get();
            return Ok(Self::Encoder(Arc::clone(&embedder.encoder), embedder.raised.clone()));
        }
        let raised = Raised::default();
        Ok(Self::Encoder(Arc::new(Encoder::new(given, raised.clone())?), raised))
    }

    /// The name of the embedder whose tokenizer counts; `none` for an encoder in Python, whatever it is called.
    pub fn counted_by(&self) -> &str {
        match self {
            Self::Encoder(encoder, _) if encoder.count_tokens("").is_none() => "none",
            _ => self.name(),
        }
    }

    /// The name.
    pub fn name(&self) -> &str {
        match self {
            Self::Name(name) => name,
            Self::Encoder(encoder, _) => encoder.name(),
        }
    }

    /// The encoder; nothing for the name `none`.
    pub fn open(self, offline: bool) -> PyResult<(Option<Arc<dyn SentenceEncoder>>, Raised)> {
        match self {
            Self::Name(name) => {
                let found = Engine::new().offline(offline).embedder(&name).map_err(of_engine)?;
                Ok((found, Raised::default()))
            }
            Self::Encoder(encoder, raised) => Ok((Some(encoder), raised)),
        }
    }
}
