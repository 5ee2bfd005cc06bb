//! Paired statistics: documents are the units.

use pericope::eval::stats::{self, ALPHA, numbered, resamples_for};
use pyo3::prelude::*;

use crate::errors::usage;
use crate::json;
use crate::numbers::Whole;
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
#[pyo3(
    signature = (a, b, *, documents = None, seed = Whole::of(0)),
    text_signature = "(a, b, *, documents=None, seed=0)"
)]
pub fn compare<'py>(
    py: Python<'py>,
    a: Vec<f64>,
    b: Vec<f64>,
    documents: Option<Vec<String>>,
    seed: Whole,
) -> PyResult<Bound<'py, PyAny>> {
    let documents = units(a.len(), documents)?;
    let seed = seed.named("seed")? as u64;
    let paired = detached(py, || stats::compare_by(&a, &b, &documents, seed));
    let paired = paired.ok_or_else(|| {
        usage(format!("{} and {} scores: there must be as many, at least one, and all finite", a.len(), b.len()))
    })?;
    json::to_python(py, &paired)
}

/// The 95 % interval of a mean.
#[pyfunction]
#[pyo3(
    signature = (values, *, documents = None, seed = Whole::of(0)),
    text_signature = "(values, *, documents=None, seed=0)"
)]
pub fn bootstrap_interval(
    py: Python<'_>,
    values: Vec<f64>,
    documents: Option<Vec<String>>,
    seed: Whole,
) -> PyResult<(f64, f64)> {
    let documents = units(values.len(), documents)?;
    let seed = seed.named("seed")? as u64;
    check_finite("values", &values)?;
    Ok(detached(py, || stats::interval_by(&values, &documents, seed)))
}

/// The two-sided p-value of the paired permutation test; `differences` are sums by document.
#[pyfunction]
#[pyo3(
    signature = (differences, *, family = Whole::of(1), seed = Whole::of(0)),
    text_signature = "(differences, *, family=1, seed=0)"
)]
pub fn permutation_p(py: Python<'_>, differences: Vec<f64>, family: Whole, seed: Whole) -> PyResult<f64> {
    check_finite("differences", &differences)?;
    let (family, seed) = (family.named("family")?, seed.named("seed")? as u64);
    if family == 0 {
        return Err(usage("family is 0: it counts this comparison too"));
    }
    Ok(detached(py, || stats::permutation_p(&differences, resamples_for(family, ALPHA), seed)))
}

/// P-values of one family, corrected after Holm.
#[pyfunction]
pub fn holm(p: Vec<f64>) -> PyResult<Vec<f64>> {
    match p.iter().find(|p| !(0.0..=1.0).contains(*p)) {
        Some(p) => Err(usage(format!("{p} is no p-value: they lie in 0..=1"))),
        None => Ok(stats::holm(&p)),
    }
}

/// Numbers that say nothing would make a p-value or an interval that does.
fn check_finite(name: &str, numbers: &[f64]) -> PyResult<()> {
    match numbers.iter().position(|number| !number.is_finite()) {
        Some(place) => Err(usage(format!("{name}[{place}] is NaN or infinite"))),
        None => Ok(()),
    }
}
