use pericope::eval::answer::Missing;
use pericope::eval::retriever::Finder;
use pyo3::prelude::*;
use serde_json::{Value, json};

use super::{Raised, fingerprint_or_name, method_or_function};
use crate::json::from_python;

/// A retriever in Python: an object with the method `retrieve`, or a function, of a question and how many passages are wanted.
pub struct Retriever {
    object: Py<PyAny>,
    fingerprint: String,
    raised: Raised,
}

impl Retriever {
    pub fn new(object: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Self> {
        let call = method_or_function(object, "retrieve", "retriever")?;
        Ok(Self { object: call.unbind(), fingerprint: fingerprint_or_name(object)?, raised })
    }
}

impl Finder for Retriever {
    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn find(&self, question: &str, k: usize) -> Result<Value, Missing> {
        let found = self.raised.call(|py| {
            let answer = self.object.bind(py).call1((question, k))?;
            // A list is the hits alone. Ranges count characters, as everywhere in Python, where it does not say otherwise.
            let mut value = from_python(&answer)?;
            if value.is_array() {
                value = json!({ "hits": value });
            }
            if let Value::Object(fields) = &mut value {
                fields.entry("offsets").or_insert_with(|| "chars".into());
            }
            Ok(value)
        });
        found.map_err(Missing::Run)
    }
}
