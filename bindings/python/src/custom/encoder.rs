use numpy::ndarray::ArrayView2;
use numpy::{AllowTypeChange, PyArray2, PyArrayLike2, PyArrayMethods};
use pericope::api::{Embeddings, EncodeError, SentenceEncoder};
use pericope_util::to_length_one;
use pyo3::prelude::*;

use super::{Raised, fingerprint};
use crate::errors::usage;
use crate::numbers::{Whole, optional};

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
        let dimension = object.getattr_opt("dimension")?.ok_or_else(|| missing("dimension"))?.extract::<Whole>()?;
        let dimension = dimension.named("dimension")?;
        let fingerprint = fingerprint(object)?;
        let max_tokens = object.getattr_opt("max_tokens")?.map(|found| found.extract::<Whole>()).transpose()?;
        let max_tokens = optional(max_tokens, "max_tokens")?;
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
        let shape = (texts.len(), self.dimension);
        let values = self.raised.call(|py| {
            let answer = self.object.bind(py).call_method1(method, (texts.to_vec(),))?;
            if let Ok(vectors) = answer.cast::<PyArray2<f32>>() {
                return of_length_one(vectors.try_readonly()?.as_array(), shape, method);
            }
            let vectors: PyArrayLike2<'_, f64, AllowTypeChange> = answer.extract()?;
            of_length_one(vectors.as_array(), shape, method)
        });
        Ok(Embeddings::new(self.dimension, values.map_err(EncodeError::Model)?))
    }
}

/// The rows brought to length 1, as the library's own encoders give them; one of zeros stays. A number that is none would make
/// vectors that lie close to nothing, or to everything.
fn of_length_one<T: Copy + Into<f64>>(
    vectors: ArrayView2<'_, T>,
    wanted: (usize, usize),
    method: &str,
) -> PyResult<Vec<f32>> {
    let (rows, columns) = vectors.dim();
    if (rows, columns) != wanted {
        let problem = format!("{method} gave {rows} x {columns} numbers, not {} x {}", wanted.0, wanted.1);
        return Err(usage(problem));
    }
    let mut values = Vec::with_capacity(vectors.len());
    for (number, row) in vectors.outer_iter().enumerate() {
        let row: Vec<f64> = row.iter().map(|value| (*value).into()).collect();
        let Some(scaled) = to_length_one(&row) else {
            let value = row.iter().find(|value| !value.is_finite()).copied().unwrap_or_default();
            return Err(usage(format!("{method} gave a vector, the one of text {number}, that holds {value}")));
        };
        values.extend(row.into_iter().map(scaled));
    }
    Ok(values)
}
