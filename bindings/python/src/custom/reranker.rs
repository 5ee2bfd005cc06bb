use pericope::api::{self, RerankError};
use pyo3::prelude::*;

use super::{Raised, fingerprint, method_or_function};
use crate::errors::usage;

/// A reranker in Python: an object with the method `scores`, or a function, of a query and passages.
pub struct Reranker {
    object: Py<PyAny>,
    fingerprint: String,
    raised: Raised,
}

impl Reranker {
    pub fn new(object: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Self> {
        let call = method_or_function(object, "scores", "reranker")?;
        Ok(Self { object: call.unbind(), fingerprint: fingerprint(object)?.unwrap_or_default(), raised })
    }
}

impl api::Reranker for Reranker {
    fn name(&self) -> &str {
        "custom"
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn scores(&self, query: &str, passages: &[&str]) -> Result<Vec<f32>, RerankError> {
        let scores = self.raised.call(|py| {
            let answer = self.object.bind(py).call1((query, passages.to_vec()))?;
            let scores: Vec<f32> = answer.extract()?;
            if scores.len() != passages.len() {
                return Err(usage(format!(
                    "the reranker gave {} scores for {} passages",
                    scores.len(),
                    passages.len()
                )));
            }
            match scores.iter().find(|score| !score.is_finite()) {
                Some(score) => Err(usage(format!("the reranker gave the score {score}"))),
                None => Ok(scores),
            }
        });
        scores.map_err(|problem| RerankError::Run(problem.into()))
    }
}
