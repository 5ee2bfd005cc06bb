//! Parts of the library that are written in Python: segmenters, encoders, rerankers, retrievers and judges. One a file.

mod encoder;
mod judge;
mod raised;
mod reranker;
mod retriever;
mod segmenter;

use pyo3::prelude::*;

pub use encoder::Encoder;
pub use judge::Judge;
pub use raised::{Raised, is_exit};
pub use reranker::Reranker;
pub use retriever::Retriever;
pub use segmenter::Segmenter;

use crate::errors::usage;

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
