//! What a segmenter says of a document, on its way to Python and back.

use numpy::{AllowTypeChange, PyArray1, PyArrayLike1, PyArrayMethods, PyUntypedArrayMethods};
use pericope::api::{self, Document, Segmentation, Span};
use pericope::store::Positions;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::usage;
use crate::numbers::{Whole, each};

/// For n sentences n - 1 numbers in 0..=1: how likely it is that a segment ends after the sentence.
#[pyclass(frozen, module = "pericope")]
pub struct Scores {
    /// An array of the caller's is held, and not copied; so is the one that is given out.
    values: Py<PyArray1<f64>>,
    #[pyo3(get)]
    threshold: f64,
}

#[pymethods]
impl Scores {
    #[new]
    #[pyo3(signature = (values, threshold = 0.5))]
    fn new(values: &Bound<'_, PyAny>, threshold: f64) -> PyResult<Self> {
        let values = match values.cast::<PyArray1<f64>>() {
            Ok(array) => array.clone(),
            Err(_) => {
                let given: PyArrayLike1<'_, f64, AllowTypeChange> = values.extract()?;
                PyArray1::from_vec(values.py(), given.as_array().to_vec())
            }
        };
        Ok(Self { values: values.unbind(), threshold })
    }

    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.values.bind(py).clone()
    }

    fn __getnewargs__(&self, py: Python<'_>) -> (Py<PyArray1<f64>>, f64) {
        (self.values.clone_ref(py), self.threshold)
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        self.values.bind(py).len()
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("Scores({:?}, threshold={})", self.numbers(py)?, self.threshold))
    }
}

/// The numbers of the sentences, from 1, after which a segment ends; the document's end is not listed.
#[pyclass(frozen, get_all, module = "pericope")]
pub struct Boundaries {
    after: Vec<usize>,
}

#[pymethods]
impl Boundaries {
    #[new]
    fn new(after: Vec<Whole>) -> PyResult<Self> {
        Ok(Self { after: each(after, "a boundary")? })
    }

    fn __getnewargs__(&self) -> (Vec<usize>,) {
        (self.after.clone(),)
    }

    fn __len__(&self) -> usize {
        self.after.len()
    }

    fn __repr__(&self) -> String {
        format!("Boundaries({:?})", self.after)
    }
}

/// Pieces of the text by their characters. Finished ones are kept as they are, and may overlap and leave text out; others
/// cover everything that is not blank, in order.
#[pyclass(frozen, get_all, module = "pericope")]
pub struct Spans {
    ranges: Vec<(usize, usize)>,
    finished: bool,
}

#[pymethods]
impl Spans {
    #[new]
    #[pyo3(signature = (ranges, *, finished = false))]
    fn new(ranges: Vec<(Whole, Whole)>, finished: bool) -> PyResult<Self> {
        let range =
            |(start, end): (Whole, Whole)| Ok((start.named("the start of a span")?, end.named("the end of a span")?));
        Ok(Self { ranges: ranges.into_iter().map(range).collect::<PyResult<_>>()?, finished })
    }

    #[allow(clippy::type_complexity)] // what `new` takes
    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Vec<(usize, usize)>,), Bound<'py, PyDict>)> {
        let keywords = PyDict::new(py);
        keywords.set_item("finished", self.finished)?;
        Ok(((self.ranges.clone(),), keywords))
    }

    fn __len__(&self) -> usize {
        self.ranges.len()
    }

    fn __repr__(&self) -> String {
        format!("Spans({:?}, finished={})", self.ranges, if self.finished { "True" } else { "False" })
    }
}

/// A segmentation as Python's object.
pub fn to_python<'py>(py: Python<'py>, document: &Document, segmentation: Segmentation) -> PyResult<Bound<'py, PyAny>> {
    let (spans, finished) = match segmentation {
        Segmentation::Scores { scores, threshold } => {
            let values = PyArray1::from_vec(py, scores).unbind();
            return Ok(Bound::new(py, Scores { values, threshold })?.into_any());
        }
        Segmentation::Boundaries(found) => {
            return Ok(Bound::new(py, Boundaries { after: found.after().to_vec() })?.into_any());
        }
        Segmentation::Spans(spans) => (spans, false),
        Segmentation::Chunks(spans) => (spans, true),
    };
    let mut positions = Positions::new(&document.source);
    let ranges = spans.into_iter().map(|span| {
        let begins = positions.at(span.start);
        (begins.char, begins.behind(document.text(span)).char)
    });
    Ok(Bound::new(py, Spans { ranges: ranges.collect(), finished })?.into_any())
}

/// The segmentation that a segmenter written in Python answered with.
pub fn from_python(answer: &Bound<'_, PyAny>, document: &Document) -> PyResult<Segmentation> {
    if let Ok(scores) = answer.cast::<Scores>() {
        return scored(answer.py(), scores.get(), document);
    }
    if let Ok(found) = answer.cast::<Boundaries>() {
        let found = api::Boundaries::new(document.len(), found.get().after.clone()).map_err(usage)?;
        return Ok(Segmentation::Boundaries(found));
    }
    if let Ok(spans) = answer.cast::<Spans>() {
        let spans = spans.get();
        let found = in_bytes(&spans.ranges, &document.source)?;
        if !spans.finished {
            check_all_covered(&spans.ranges, &found, &document.source)?;
        }
        return Ok(if spans.finished { Segmentation::Chunks(found) } else { Segmentation::Spans(found) });
    }
    Err(usage(format!("a segmenter answers with Scores, Boundaries or Spans, not {}", answer.get_type().name()?)))
}

impl Scores {
    fn numbers(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        Ok(self.values.bind(py).try_readonly()?.as_array().to_vec())
    }
}

fn scored(py: Python<'_>, scores: &Scores, document: &Document) -> PyResult<Segmentation> {
    let values = scores.numbers(py)?;
    let (given, gaps) = (values.len(), document.len().saturating_sub(1));
    if given != gaps {
        return Err(usage(format!(
            "{given} scores for a document of {} sentences, which has {gaps} gaps",
            document.len()
        )));
    }
    let is_share = |value: &f64| (0.0..=1.0).contains(value);
    if let Some(value) = values.iter().chain([&scores.threshold]).find(|value| !is_share(value)) {
        return Err(usage(format!("{value} is no score: scores and thresholds lie in 0..=1")));
    }
    Ok(Segmentation::Scores { scores: values, threshold: scores.threshold })
}

/// Refuses pieces that are out of order or leave text out, in characters as they were given: the library counts bytes.
fn check_all_covered(ranges: &[(usize, usize)], found: &[Span], source: &str) -> PyResult<()> {
    let is_blank = |from: usize, to: usize| source.get(from..to).is_some_and(|between| between.trim().is_empty());
    let mut covered = 0;
    for (number, (&(start, end), span)) in ranges.iter().zip(found).enumerate() {
        if !is_blank(covered, span.start) {
            return Err(usage(format!(
                "span {number}, characters {start} to {end}, does not follow the one before: spans that are not finished are in order \
                 and leave out nothing but blanks"
            )));
        }
        covered = span.end;
    }
    match is_blank(covered, source.len()) {
        true => Ok(()),
        false => Err(usage(
            "the last span ends before the text does: spans that are not finished leave out nothing but blanks",
        )),
    }
}

/// Ranges of characters as ranges of bytes.
fn in_bytes(ranges: &[(usize, usize)], source: &str) -> PyResult<Vec<Span>> {
    let mut bytes: Vec<usize> = source.char_indices().map(|(at, _)| at).collect();
    bytes.push(source.len());
    let span = |&(start, end): &(usize, usize)| match (bytes.get(start), bytes.get(end)) {
        (Some(&from), Some(&to)) if start < end => Ok(Span::new(from, to)),
        _ => Err(usage(format!("{start}..{end} is no range of the text's {} characters", bytes.len() - 1))),
    };
    ranges.iter().map(span).collect()
}
