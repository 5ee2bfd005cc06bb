//! Paired statistics: documents are the units.

use pericope::eval::stats::{self, ALPHA, numbered, resamples_for};
use pyo3::prelude::*;

use crate::errors::usage;
use crate::json;
use crate::process::detached;

/// The numbers of the documents that answer the questions; without names each question has one of its own.
fn units(questions: usize, documents: Option<Vec<String>>) -> PyResult<Vec<usize>> {
    match documents {
        None => Ok((0..questions).collect()),
        Some(names) if names.len() == questions => Ok(numbered(&names)),
        Some(names) => Err(usage(format!("{questions} questions and {} documents: name one a question", names.len()))),
    }
}

/// Compares a with b on the same questions.
#[pyfunction]
#[pyo3(signature = (a, b, *, documents = None, seed = 0))]
pub fn compare<'py>(
    py: Python<'py>,
    a: Vec<f64>,
    b: Vec<f64>,
    documents: Option<Vec<String>>,
    seed: u64,
) -> PyResult<Bound<'py, PyAny>> {
    let documents = units(a.len(), documents)?;
    let paired = detached(py, || stats::compare_by(&a, &b, &documents, seed));
    let paired = paired.ok_or_else(|| {
        usage(format!("{} and {} scores: there must be as many, at least one, and all finite", a.len(), b.len()))
    })?;
    json::to_python(py, &paired)
}

/// The 95 % interval of a mean.
#[pyfunction]
#[pyo3(signature = (values, *, documents = None, seed = 0))]
pub fn bootstrap_interval(
    py: Python<'_>,
    values: Vec<f64>,
    documents: Option<Vec<String>>,
    seed: u64,
) -> PyResult<(f64, f64)> {
    let documents = units(values.len(), documents)?;
    Ok(detached(py, || stats::interval_by(&values, &documents, seed)))
}

/// The two-sided p-value of the paired permutation test; `differences` are sums by document.
#[pyfunction]
#[pyo3(signature = (differences, *, family = 1, seed = 0))]
pub fn permutation_p(py: Python<'_>, differences: Vec<f64>, family: usize, seed: u64) -> f64 {
    detached(py, || stats::permutation_p(&differences, resamples_for(family.max(1), ALPHA), seed))
}

/// P-values of one family, corrected after Holm.
#[pyfunction]
pub fn holm(p: Vec<f64>) -> Vec<f64> {
    stats::holm(&p)
}
