use numpy::{AllowTypeChange, PyArrayLike2};
use pericope::api::{Embeddings, EncodeError, SentenceEncoder};
use pyo3::prelude::*;

use super::{Raised, fingerprint};
use crate::errors::usage;

/// An encoder in Python: an object with `name`, `dimension` and the method `encode_passages`.
pub struct Encoder {
    object: Py<PyAny>,
    name: String,
    fingerprint: String,
    dimension: usize,
    max_tokens: usize,
    /// Whether it has a method of its own for queries.
    tells_queries: bool,
    raised: Raised,
}

/// The tokens that an encoder reads where it does not say.
const MAX_TOKENS: usize = 512;

impl Encoder {
    pub fn new(object: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Self> {
        let missing = |what: &str| {
            let name = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            usage(format!("{name} is no encoder: it has no `{what}`"))
        };
        object.getattr_opt("encode_passages")?.ok_or_else(|| missing("encode_passages"))?;
        let name: String = object.getattr_opt("name")?.ok_or_else(|| missing("name"))?.extract::<String>()?;
        let dimension = object.getattr_opt("dimension")?.ok_or_else(|| missing("dimension"))?.extract::<usize>()?;
        let fingerprint = fingerprint(object)?;
        let max_tokens = object.getattr_opt("max_tokens")?.map(|found| found.extract::<usize>()).transpose()?;
        let tells_queries = object.getattr_opt("encode_queries")?.is_some();
        Ok(Self {
            tells_queries,
            object: object.clone().unbind(),
            fingerprint: fingerprint.unwrap_or_else(|| name.clone()),
            name,
            dimension,
            max_tokens: max_tokens.unwrap_or(MAX_TOKENS),
            raised,
        })
    }
}

impl SentenceEncoder for Encoder {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        self.ask("encode_passages", texts)
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Embeddings, EncodeError> {
        self.ask(if self.tells_queries { "encode_queries" } else { "encode_passages" }, queries)
    }
}

impl Encoder {
    fn ask(&self, method: &str, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let values = self.raised.call(|py| {
            let answer = self.object.bind(py).call_method1(method, (texts.to_vec(),))?;
            let vectors: PyArrayLike2<'_, f32, AllowTypeChange> = answer.extract()?;
            let vectors = vectors.as_array();
            let (found, wanted) = (vectors.dim(), (texts.len(), self.dimension));
            if found != wanted {
                let (rows, columns) = found;
                let problem = format!("{method} gave {rows} x {columns} numbers, not {} x {}", wanted.0, wanted.1);
                return Err(usage(problem));
            }
            Ok(vectors.iter().copied().collect())
        });
        let values = values.map_err(EncodeError::Model)?;
        Ok(Embeddings::new(self.dimension, of_length_one(values, self.dimension)))
    }
}

/// Brings every row to length 1, as the library's own encoders do.
fn of_length_one(mut values: Vec<f32>, dimension: usize) -> Vec<f32> {
    for row in values.chunks_exact_mut(dimension.max(1)) {
        let length = row.iter().map(|value| value * value).sum::<f32>().sqrt();
        if length > 0.0 {
            row.iter_mut().for_each(|value| *value /= length);
        }
    }
    values
}
