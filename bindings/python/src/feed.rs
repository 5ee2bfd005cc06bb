//! What Python gives to an index: documents, and paths that are read here.

use std::collections::{HashSet, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use pericope::index::pipeline::Failure;
use pericope::read::{ReadError, ReadOptions, WalkOptions, read_each, walk};
use pericope::{Missed, api};
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyString};

use crate::custom::Raised;
use crate::document::{self, Document};
use crate::ending::{Call, exit};
use crate::errors::usage;

/// Documents from Python: documents as they are, and paths of files and folders, which are read here.
pub struct Feed {
    given: Option<Py<PyIterator>>,
    paths: VecDeque<Result<PathBuf, Failure>>,
    ready: VecDeque<Result<api::Document, Failure>>,
    options: ReadOptions,
    /// The ids of documents that came.
    ids: HashSet<String>,
    /// What iterating raised.
    pub raised: Raised,
    missed: Arc<Mutex<Missed>>,
}

impl Feed {
    /// Documents of an iterable, or one document or path.
    pub fn new(given: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = given.py();
        // One document, or one path, is a list of one.
        let is_path = given.is_instance_of::<PyString>() || given.hasattr("__fspath__")?;
        let alone = is_path || given.is_instance_of::<Document>();
        let given = if alone { PyList::new(py, [given])?.try_iter()? } else { given.try_iter()? };
        Ok(Self {
            given: Some(given.unbind()),
            paths: VecDeque::new(),
            ready: VecDeque::new(),
            options: document::options(py, None),
            ids: HashSet::new(),
            raised: Raised::of_one_call(),
            missed: Arc::default(),
        })
    }

    /// What could not be read: it is known when nothing more comes.
    pub fn missed(&self) -> Arc<Mutex<Missed>> {
        Arc::clone(&self.missed)
    }

    /// Gives a document, unless one of its id was given: a store holds one document of an id.
    fn give(&mut self, document: api::Document) {
        if self.ids.contains(&document.id) {
            let problem = "a document of this id was given before in the same call: it was left out";
            self.ready.push_back(Err(Failure::new(document.id, problem)));
        } else {
            self.ids.insert(document.id.clone());
            self.ready.push_back(Ok(document));
        }
    }

    /// Gives the documents of a file.
    fn read(&mut self, path: &Path) {
        let mut found = Vec::new();
        read_each(path, &self.options, &mut |read| found.push(read));
        for read in found {
            match read {
                Ok(document) => self.give(document),
                Err(error) => {
                    let failure = self.failure(path, &error);
                    self.ready.push_back(Err(failure));
                }
            }
        }
    }

    /// A failure, under the name of the path that was given.
    fn failure(&self, path: &Path, error: &ReadError) -> Failure {
        let name = path.display().to_string();
        self.missed.lock().unwrap_or_else(PoisonError::into_inner).note(&name, path, error);
        let in_part = matches!(error, ReadError::InPart { .. });
        Failure { in_part, ..Failure::new(name, error.to_string()) }
    }

    /// Takes the next of what was given; false where nothing more comes.
    fn take(&mut self) -> bool {
        let Some(given) = &self.given else { return false };
        let ask = |py: Python<'_>| {
            let Some(next) = given.bind(py).clone().next() else { return Ok(None) };
            let next = next?;
            if let Ok(document) = next.cast::<Document>() {
                let document = &document.get().inner;
                if document.id.is_empty() {
                    return Err(usage(
                        "a document without an id, by which an index knows it: Document(text, id=...) names it",
                    ));
                }
                return Ok(Some(Taken::Document(Arc::clone(document))));
            }
            let path = next.extract::<PathBuf>().map_err(|_| {
                let name = next.get_type().name().map(|name| name.to_string()).unwrap_or_default();
                usage(format!(
                    "documents are Documents and paths, not {name}: Document(text, id=...) makes one of a text"
                ))
            })?;
            Ok::<_, PyErr>(Some(Taken::Path(path)))
        };
        let taken = Call::begin().and_then(|call| call.ask(ask)).unwrap_or_else(|| Err(exit()));
        match taken {
            Ok(Some(Taken::Document(document))) => self.give(document.as_ref().clone()),
            Ok(Some(Taken::Path(path))) => {
                let found = walk(&[&path], &WalkOptions::default());
                let found: Vec<_> =
                    found.into_iter().map(|found| found.map_err(|error| self.failure(&path, &error))).collect();
                self.paths.extend(found);
            }
            Ok(None) => self.given = None,
            Err(error) => {
                self.raised.hold(error);
                self.given = None;
            }
        }
        true
    }
}

enum Taken {
    Document(Arc<api::Document>),
    Path(PathBuf),
}

impl Iterator for Feed {
    type Item = Result<api::Document, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(document) = self.ready.pop_front() {
                return Some(document);
            }
            match self.paths.pop_front() {
                Some(Ok(path)) => self.read(&path),
                Some(Err(failure)) => self.ready.push_back(Err(failure)),
                None if !self.take() => return None,
                None => {}
            }
        }
    }
}
