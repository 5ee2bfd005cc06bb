//! Many texts, one after the other, in memory that does not grow.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, TryLockError};

use pericope::segment::Chunker;
use pyo3::prelude::*;
use pyo3::types::PyIterator;

use crate::chunk::{self, Chunk};
use crate::custom::Raised;
use crate::document::Text;
use crate::ending::{Call, exit};
use crate::errors::usage;
use crate::process::detached;
use crate::segmenter::{Cut, all};

/// Texts that are cut at a time: enough for all cores,
const TEXTS: usize = 128;
/// and no more once they have so many bytes.
const BYTES: usize = 4 << 20;

/// Gives the chunks of each text of an iterable.
#[pyclass(frozen, module = "pericope")]
pub struct ChunkIterator {
    chunker: Arc<Chunker>,
    raised: Raised,
    format: String,
    state: Mutex<State>,
}

struct State {
    /// Nothing once it is exhausted.
    texts: Option<Py<PyIterator>>,
    /// Texts that were taken.
    taken: usize,
    ready: VecDeque<Cut>,
    /// What the iterable raised; it comes after what it gave before.
    broken: Option<PyErr>,
}

impl ChunkIterator {
    pub fn new(chunker: Arc<Chunker>, raised: Raised, texts: Py<PyIterator>, format: String) -> Self {
        let state = State { texts: Some(texts), taken: 0, ready: VecDeque::new(), broken: None };
        Self { chunker, raised, format, state: Mutex::new(state) }
    }
}

impl State {
    /// The next texts, and in its place why one of them is none.
    fn batch(&mut self, py: Python<'_>) -> Vec<PyResult<Text>> {
        let (mut batch, mut bytes) = (Vec::new(), 0);
        let Some(call) = Call::begin() else {
            self.broken = Some(exit());
            return batch;
        };
        while let Some(texts) = &self.texts
            && batch.len() < TEXTS
            && bytes < BYTES
        {
            match call.inside(|| texts.bind(py).clone().next()) {
                Some(Ok(given)) => {
                    let text = Text::numbered(self.taken, &given);
                    bytes += text.as_ref().map_or(0, Text::bytes);
                    batch.push(text);
                    self.taken += 1;
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

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Vec<Chunk>>> {
        let mut state = match self.state.try_lock() {
            Ok(state) => state,
            Err(TryLockError::Poisoned(state)) => state.into_inner(),
            Err(TryLockError::WouldBlock) => {
                return Err(usage(
                    "the iterator is at work already, for another thread or for what gives it texts: one `iter` a thread",
                ));
            }
        };
        if state.ready.is_empty() {
            let batch = state.batch(py);
            if batch.is_empty() {
                return state.broken.take().map_or(Ok(None), Err);
            }
            let (chunker, format) = (&self.chunker, &self.format);
            let cut = detached(py, || all(chunker, batch, format));
            state.ready = cut.into_iter().map(|cut| cut.map_err(|error| self.raised.or(error))).collect();
            py.check_signals()?;
        }
        match state.ready.pop_front() {
            Some(cut) => cut.and_then(|(document, chunks)| chunk::to_python(py, &document, &chunks)).map(Some),
            None => Ok(None),
        }
    }
}
