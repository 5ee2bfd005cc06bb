//! Parts of the library that are written in Python: segmenters, encoders, rerankers, retrievers and judges. One a file.

mod encoder;
mod judge;
mod reranker;
mod retriever;
mod segmenter;

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;

pub use encoder::Encoder;
pub use judge::Judge;
pub use reranker::Reranker;
pub use retriever::Retriever;
pub use segmenter::Segmenter;

use crate::errors::usage;

/// The first exception that Python code raised while the library was calling it: the caller gets it as it was.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps an exception, unless one is kept already; returns what it says.
    pub fn keep(&self, error: PyErr) -> String {
        let text = error.to_string();
        self.slot().get_or_insert(error);
        text
    }

    /// What was raised; from now on nothing.
    pub fn take(&self) -> Option<PyErr> {
        self.slot().take()
    }

    /// What was raised, else this.
    pub fn or(&self, error: PyErr) -> PyErr {
        self.take().unwrap_or(error)
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<PyErr>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The method of that name, or the object itself, which is then a function; `what` it is to be.
fn method_or_function<'py>(object: &Bound<'py, PyAny>, method: &str, what: &str) -> PyResult<Bound<'py, PyAny>> {
    let call = match object.getattr_opt(method)? {
        Some(found) => found,
        None => object.clone(),
    };
    if call.is_callable() {
        return Ok(call);
    }
    let name = object.get_type().name()?;
    Err(usage(format!("{name} is no {what}: it has no method `{method}` and is no function")))
}

/// The object's `fingerprint`; of a method that of the object whose it is; else the qualified name of the function or class. By
/// name all functions of a place look alike, and so do a function and what it is after a change.
fn fingerprint_or_name(object: &Bound<'_, PyAny>) -> PyResult<String> {
    if let Some(found) = fingerprint(object)? {
        return Ok(found);
    }
    if let Some(owner) = object.getattr_opt("__self__")?
        && let Some(found) = fingerprint(&owner)?
    {
        return Ok(found);
    }
    // What `functools.partial` made.
    if let Some(function) = object.getattr_opt("func")?.filter(Bound::is_callable) {
        return fingerprint_or_name(&function);
    }
    let named = if object.hasattr("__qualname__")? { object.clone() } else { object.get_type().into_any() };
    let (module, name): (String, String) =
        (named.getattr("__module__")?.to_string(), named.getattr("__qualname__")?.extract()?);
    Ok(format!("{module}.{name}"))
}

/// The object's `fingerprint`, where it has one.
fn fingerprint(object: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    object.getattr_opt("fingerprint")?.map(|found| found.extract::<String>()).transpose()
}
