use pericope::eval::answer::Missing;
use pericope::eval::retriever::Finder;
use pyo3::prelude::*;
use pyo3::types::PyList;
use serde_json::{Value, json};

use super::{Raised, method_or_function};
use crate::json::from_python;

/// A retriever in Python: an object with the method `retrieve`, or a function, of a question and how many passages are wanted.
pub struct Retriever {
    object: Py<PyAny>,
    raised: Raised,
}

impl Retriever {
    pub fn new(object: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Self> {
        Ok(Self { object: method_or_function(object, "retrieve", "retriever")?.unbind(), raised })
    }
}

impl Finder for Retriever {
    fn find(&self, question: &str, k: usize) -> Result<Value, Missing> {
        Python::attach(|py| {
            let answer = self.object.bind(py).call1((question, k))?;
            // A list is the hits alone. Ranges count characters, as everywhere in Python, where it does not say otherwise.
            let mut value = from_python(&answer)?;
            if answer.is_instance_of::<PyList>() {
                value = json!({ "hits": value });
            }
            if let Value::Object(fields) = &mut value {
                fields.entry("offsets").or_insert_with(|| "chars".into());
            }
            Ok(value)
        })
        .map_err(|error: PyErr| Missing::Run(self.raised.keep(error)))
    }
}
