//! `segment-eval`: segmenters against documents whose boundaries are known.

use std::path::{Path, PathBuf};
use std::time::Instant;

use pericope_api::{Boundaries, Document, SegmentError};
use pericope_segment::Chunker;
use pericope_segment::metrics::{DocumentScores, LengthMismatch, Summary, evaluate};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::data::DataError;

/// A document and its true boundaries.
#[derive(Debug, Clone)]
pub struct Segmented {
    /// The sentences.
    pub document: Document,
    /// Where its segments end.
    pub reference: Boundaries,
}

#[derive(Deserialize)]
struct Line {
    id: String,
    sentences: Vec<String>,
    boundaries: Vec<usize>,
}

/// Reads a segmentation file: one JSON document a line (`{"id", "sentences": [...], "boundaries": [...]}`).
///
/// Lines that do not fit are left out and named in the second list.
///
/// # Errors
/// [`DataError`] where the file cannot be read, or no line of it can be used.
pub fn read_segmented(path: &Path) -> Result<(Vec<Segmented>, Vec<String>), DataError> {
    let text = std::fs::read_to_string(path).map_err(|source| DataError::Io { path: path.to_owned(), source })?;
    let mut found = Vec::new();
    let mut skipped = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match parse(line) {
            Ok(document) => found.push(document),
            Err(problem) => skipped.push(format!("{}:{}: {problem}", path.display(), number + 1)),
        }
    }
    if found.is_empty() {
        let first = skipped.first().cloned().unwrap_or_else(|| "it is empty".into());
        return Err(DataError::Layout {
            path: PathBuf::from(path),
            problem: format!("no document in it can be used ({first})"),
        });
    }
    Ok((found, skipped))
}

fn parse(line: &str) -> Result<Segmented, String> {
    let mut line: Line = serde_json::from_str(line).map_err(|e| e.to_string())?;
    let reference = Boundaries::new(line.sentences.len(), line.boundaries).map_err(|e| e.to_string())?;
    for sentence in &mut line.sentences {
        // A blank sentence would vanish from the document and shift every index after it.
        if sentence.trim().is_empty() {
            ".".clone_into(sentence);
        }
    }
    Ok(Segmented { document: Document::from_sentences(&line.id, &line.sentences), reference })
}

/// One segmenter's figures on one data set: a row of `segment-eval --json`.
#[derive(Debug, Clone, Serialize)]
pub struct SegmentationRow {
    /// Canonical spec.
    pub segmenter: String,
    /// Mean over documents, 0 to 1; lower is better.
    pub pk: f64,
    /// Mean over documents, 0 to 1 or slightly more; lower is better.
    pub window_diff: f64,
    /// Over all boundaries of the data set.
    pub precision: f64,
    /// Over all boundaries of the data set.
    pub recall: f64,
    /// Over all boundaries of the data set.
    pub f1: f64,
    /// Mean over documents.
    pub macro_precision: f64,
    /// Mean over documents.
    pub macro_recall: f64,
    /// Mean over documents.
    pub macro_f1: f64,
    /// Mean over documents.
    pub boundary_similarity: f64,
    /// Mean over documents.
    pub segmentation_similarity: f64,
    /// Boundaries proposed over true boundaries.
    pub proposed_over_true: Option<f64>,
    /// Wall-clock time of the segmenter.
    pub seconds: f64,
    /// Sentences of the data set over `seconds`.
    pub sentences_per_second: f64,
}

/// Scores one segmenter.
///
/// With `known_count` the segmenter is told the true number of segments. `tick` is called once a document.
///
/// # Errors
/// [`SegmentError`] of the first document (in file order) that cannot be segmented, with its id.
pub fn evaluate_segmenter(
    chunker: &Chunker,
    documents: &[Segmented],
    known_count: bool,
    tick: &(dyn Fn() + Sync),
) -> Result<SegmentationRow, (String, SegmentError)> {
    let start = Instant::now();
    let found: Vec<Result<Boundaries, SegmentError>> = documents
        .par_iter()
        .map(|one| {
            let cut = if known_count {
                chunker.segmenter().cut_known(&one.document, one.reference.segments())
            } else {
                chunker.boundaries(&one.document)
            };
            tick();
            cut
        })
        .collect();
    let seconds = start.elapsed().as_secs_f64();
    let mut scores: Vec<DocumentScores> = Vec::with_capacity(documents.len());
    for (one, hypothesis) in documents.iter().zip(found) {
        let hypothesis = hypothesis.map_err(|e| (one.document.id.clone(), e))?;
        let lengths = |e: LengthMismatch| SegmentError::Unsupported(e.to_string());
        scores.push(evaluate(&one.reference, &hypothesis).map_err(|e| (one.document.id.clone(), lengths(e)))?);
    }
    let sentences: usize = documents.iter().map(|d| d.document.len()).sum();
    let summary: Summary = scores.iter().collect();
    Ok(SegmentationRow {
        segmenter: chunker.spec().to_string(),
        pk: summary.mean.pk,
        window_diff: summary.mean.window_diff,
        precision: summary.counts.precision(),
        recall: summary.counts.recall(),
        f1: summary.micro_f1(),
        macro_precision: summary.mean.precision,
        macro_recall: summary.mean.recall,
        macro_f1: summary.mean.f1,
        boundary_similarity: summary.mean.boundary_similarity,
        segmentation_similarity: summary.mean.segmentation_similarity,
        proposed_over_true: summary.counts.ratio(),
        seconds,
        sentences_per_second: if seconds > 0.0 { sentences as f64 / seconds } else { 0.0 },
    })
}
