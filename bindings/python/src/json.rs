//! Values of the library as Python's, by way of JSON.

use pyo3::prelude::*;
use serde_json::Value;

use crate::errors::failed;

/// A value as Python's own types. A number that is none (NaN, infinite) is `None`.
pub fn to_python<'py>(py: Python<'py>, value: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(value).map_err(failed)?;
    py.import("json")?.call_method1("loads", (text,))
}

/// A value of Python's own types, without entries that are `None`.
pub fn from_python(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    let text: String = value.py().import("json")?.call_method1("dumps", (value,))?.extract()?;
    let mut value = serde_json::from_str(&text).map_err(failed)?;
    without_nulls(&mut value);
    Ok(value)
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
