//! Values of the library as Python's, by way of JSON.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict, PyMapping, PyTuple};
use serde_json::Value;

use crate::errors::{failed, usage};
use crate::search::Hit;

/// A value as Python's own types. A number that is none (NaN, infinite) is `None`.
pub fn to_python<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(failed)?;
    py.import("json")?.call_method1("loads", (text,))
}

/// A value of Python's own types, of any mapping, of numpy's types, of paths or of hits, without entries that are `None`. A number
/// that is none is refused.
pub fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let py = value.py();
    let keywords = PyDict::new(py);
    keywords.set_item("default", PyCFunction::new_closure(py, None, None, plain)?)?;
    keywords.set_item("allow_nan", false)?;
    let text = py.import("json")?.call_method("dumps", (value,), Some(&keywords)).map_err(|error| {
        match error.is_instance_of::<PyValueError>(py) {
            true => usage(format!("a number that is NaN or infinite, or a value within itself: {}", error.value(py))),
            false => error,
        }
    });
    let mut value = serde_json::from_str(&text?.extract::<String>()?).map_err(failed)?;
    without_nulls(&mut value);
    Ok(value)
}

/// A mapping, a hit, a path, a number or an array of numpy's as Python's own; nothing else is known.
fn plain(arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>) -> PyResult<Py<PyAny>> {
    let value = arguments.get_item(0)?;
    if let Ok(mapping) = value.cast::<PyMapping>() {
        return Ok(value.py().get_type::<PyDict>().call1((mapping,))?.unbind());
    }
    if let Ok(hit) = value.cast::<Hit>() {
        return Ok(hit.get().to_dict(value.py())?.unbind());
    }
    if value.hasattr("__fspath__")? {
        return Ok(value.call_method0("__fspath__")?.unbind());
    }
    match value.getattr_opt("tolist")? {
        Some(tolist) => Ok(tolist.call0()?.unbind()),
        None => Err(PyTypeError::new_err(format!("{} is no value of JSON", value.get_type().name()?))),
    }
}

fn without_nulls(value: &mut Value) {
    match value {
        Value::Object(entries) => {
            entries.retain(|_, value| !value.is_null());
            entries.values_mut().for_each(without_nulls);
        }
        Value::Array(values) => values.iter_mut().for_each(without_nulls),
        _ => {}
    }
}
