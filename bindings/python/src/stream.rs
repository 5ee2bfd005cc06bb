//! Many texts, one after the other, in memory that does not grow.

use std::collections::VecDeque;
use std::sync::Arc;

use pericope::segment::Chunker;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::chunk::{self, Chunk};
use crate::custom::Raised;
use crate::document::Text;
use crate::process::detached;
use crate::segmenter::{Cut, all};

/// Texts that are cut at a time: enough for all cores,
const TEXTS: usize = 128;
/// and no more once they have so many bytes.
const BYTES: usize = 4 << 20;

/// Gives the chunks of each text of an iterable.
#[pyclass(module = "pericope")]
pub struct ChunkIterator {
    chunker: Arc<Chunker>,
    raised: Raised,
    /// Nothing once it is exhausted.
    texts: Option<Py<PyIterator>>,
    format: String,
    ready: VecDeque<Cut>,
    /// What the iterable raised; it comes after what it gave before.
    broken: Option<PyErr>,
}

impl ChunkIterator {
    pub fn new(chunker: Arc<Chunker>, raised: Raised, texts: Py<PyIterator>, format: String) -> Self {
        Self { chunker, raised, texts: Some(texts), format, ready: VecDeque::new(), broken: None }
    }

    /// The next texts.
    fn batch(&mut self, py: Python<'_>) -> Vec<Text> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        while let Some(texts) = &self.texts
            && batch.len() < TEXTS
            && bytes < BYTES
        {
            match texts.bind(py).clone().next().map(|given| given.and_then(|given| Text::of(&given))) {
                Some(Ok(text)) => {
                    bytes += text.bytes();
                    batch.push(text);
                }
                Some(Err(error)) => {
                    self.broken = Some(error);
                    self.texts = None;
                }
                None => self.texts = None,
            }
        }
        batch
    }
}

#[pymethods]
impl ChunkIterator {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&mut self, py: Python<'_>) -> PyResult<Option<Vec<Chunk>>> {
        if self.ready.is_empty() {
            let batch = self.batch(py);
            if batch.is_empty() {
                return self.broken.take().map_or(Ok(None), Err);
            }
            self.raised.take();
            let (chunker, format) = (&self.chunker, &self.format);
            self.ready = detached(py, || all(chunker, batch, format)).into();
            py.check_signals()?;
        }
        match self.ready.pop_front() {
            Some(Ok((document, chunks))) => chunk::to_python(py, &document, &chunks).map(Some),
            Some(Err(error)) => Err(self.raised.or(error)),
            None => Ok(None),
        }
    }
}
