//! Metrics of segmentations, of retrieval and of answers.

use std::collections::HashMap;

use pericope::api::{Boundaries, Span};
use pericope::eval::metrics::answers::AnswerScores;
use pericope::eval::metrics::retrieval::{Gold, Passage};
use pericope::segment::metrics::{evaluate, pk, window_diff};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::usage;
use crate::json;
use crate::numbers::{Whole, each, optional};
use crate::process::detached;

/// Every score of one document's segmentation; with `k`, Pk and WindowDiff by windows of that size.
#[pyfunction]
#[pyo3(signature = (reference, hypothesis, sentences, *, k = None))]
pub fn segmentation_scores<'py>(
    py: Python<'py>,
    reference: Vec<Whole>,
    hypothesis: Vec<Whole>,
    sentences: Whole,
    k: Option<Whole>,
) -> PyResult<Bound<'py, PyAny>> {
    let (reference, hypothesis) =
        (each(reference, "a boundary of reference")?, each(hypothesis, "a boundary of hypothesis")?);
    let (sentences, k) = (sentences.named("sentences")?, optional(k, "k")?);
    if k == Some(0) {
        return Err(usage("k is 0: a window holds at least 1 sentence"));
    }
    let reference = Boundaries::new(sentences, reference).map_err(usage)?;
    let hypothesis = Boundaries::new(sentences, hypothesis).map_err(usage)?;
    let mut scores = evaluate(&reference, &hypothesis).map_err(usage)?.scores;
    if let Some(k) = k {
        scores.pk = pk(&reference, &hypothesis, k).map_err(usage)?;
        scores.window_diff = window_diff(&reference, &hypothesis, k).map_err(usage)?;
    }
    json::to_python(py, &scores)
}

/// A range of a document, by its id: of characters or of bytes, as long as all are of one kind.
type Range = (String, Whole, Whole);

fn counted(ranges: Vec<Range>) -> PyResult<Vec<(String, Span)>> {
    let range = |(document, start, end): Range| {
        let span = (start.named("the start of a range")?, end.named("the end of a range")?);
        Ok((document, Span::new(span.0, span.1)))
    };
    ranges.into_iter().map(range).collect()
}

/// The scores of one question's ranking: gold and passages are ranges of documents.
#[pyfunction]
#[pyo3(signature = (gold, retrieved, *, chunks = None, k = None))]
pub fn retrieval_scores<'py>(
    py: Python<'py>,
    gold: Vec<Range>,
    retrieved: Vec<Range>,
    chunks: Option<Vec<Range>>,
    k: Option<Whole>,
) -> PyResult<Bound<'py, PyDict>> {
    let (gold, retrieved, k) = (counted(gold)?, counted(retrieved)?, optional(k, "k")?);
    let chunks = chunks.map(counted).transpose()?;
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut number = |document: String| {
        let next = numbers.len();
        *numbers.entry(document).or_insert(next)
    };
    let gold = Gold::new(gold.into_iter().map(|(document, span)| (number(document), span)));
    if gold.is_empty() {
        return Err(usage("a question without gold has no score: leave it out of averages"));
    }
    let mut passages = |ranges: Vec<(String, Span)>| -> Vec<Passage<usize>> {
        let passage = |(document, span)| Passage { document: number(document), span, tokens: 0 };
        ranges.into_iter().map(passage).collect()
    };
    let retrieved = passages(retrieved);
    let k = k.unwrap_or(retrieved.len());
    let top = retrieved.get(..k).unwrap_or(&retrieved);
    let spans = gold.span_scores(top);
    let found = PyDict::new(py);
    found.set_item("span_recall", spans.recall)?;
    found.set_item("span_precision", spans.precision)?;
    found.set_item("iou", spans.iou)?;
    let chunks = chunks.map(&mut passages);
    let ranks = gold.rank_scores(&retrieved, chunks.as_deref().unwrap_or(&[]), k);
    found.set_item("hit", ranks.hit)?;
    found.set_item("mrr", ranks.reciprocal_rank)?;
    found.set_item("document_recall", ranks.document_recall)?;
    // Both need to know what else could have been retrieved.
    if let Some(chunks) = chunks {
        found.set_item("ndcg", ranks.ndcg)?;
        found.set_item("precision_omega", gold.precision_omega(&chunks))?;
    }
    Ok(found)
}

/// The scores of an answer against the gold answer.
#[pyfunction]
pub fn answer_scores(py: Python<'_>, answer: String, gold: String) -> PyResult<Bound<'_, PyDict>> {
    let scores = detached(py, || AnswerScores::of(&answer, &gold, None, None));
    let found = PyDict::new(py);
    found.set_item("exact_match", scores.exact_match)?;
    found.set_item("token_f1", scores.token_f1)?;
    // What cannot be had is no 0.
    if let Some(rouge_l) = scores.rouge_l {
        found.set_item("rouge_l", rouge_l)?;
    }
    Ok(found)
}
