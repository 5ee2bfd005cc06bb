//! Scores segmenters on data sets.
//!
//! Segmenters run one after another, so that none takes time from another; each works on the documents of a set in
//! parallel. The scores do not depend on the number of threads.

mod rows;
#[cfg(test)]
mod tests;

use std::time::Instant;

use pericope_api::{Boundaries, Document, SegmentError};
use pericope_segment::Chunker;
use pericope_segment::metrics::{DocumentScores, ScoreSummary, SegmentationScores, evaluate as score};
use pericope_segment::registry::is_outside;
use rayon::prelude::*;

use super::read::{Segmented, Set};
use pericope_eval::stats::standard_error;

pub use rows::{DocumentRow, Failure, SegmentationRow};

/// A segmenter as it takes part.
#[derive(Debug, Clone)]
pub struct System<'a> {
    /// What tables call it.
    pub name: String,
    /// What segments.
    pub chunker: &'a Chunker,
    /// Whether it is told the true number of segments.
    pub known_count: bool,
}

/// Is told about progress.
pub trait Observer: Sync {
    /// A document has been segmented, or has failed.
    fn tick(&self, system: &System<'_>, set: &str);
}

impl<F: Fn(&System<'_>, &str) + Sync> Observer for F {
    fn tick(&self, system: &System<'_>, set: &str) {
        self(system, set);
    }
}

/// What came out.
#[derive(Debug, Clone, Default)]
pub struct Evaluation {
    /// By set, then by system, both in the order given.
    pub rows: Vec<SegmentationRow>,
    /// By set, then by system, then by document, in the order given.
    pub documents: Vec<DocumentRow>,
}

impl Evaluation {
    /// The segmenters' names in the order of their first rows.
    #[must_use]
    pub fn segmenters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for row in &self.rows {
            if !names.contains(&row.segmenter.as_str()) {
                names.push(&row.segmenter);
            }
        }
        names
    }
}

/// Why an evaluation does not begin.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EvaluateError {
    /// A segmenter cannot do what it is here for.
    #[error("{segmenter}{}: {reason}", if *.known_count { " with the number of segments given" } else { "" })]
    Unusable {
        /// Its name.
        segmenter: String,
        /// Whether it was to be told the number of segments.
        known_count: bool,
        /// Why not.
        reason: String,
    },
}

/// Scores every system on every set.
///
/// A document that cannot be segmented is named in its row's [`SegmentationRow::failed`]; the rest goes on.
///
/// # Errors
/// [`EvaluateError`], before any document is touched, where a system cannot segment a document of two sentences. Those that ask a
/// program, a service or a language model are not tried.
pub fn evaluate(sets: &[Set], systems: &[System<'_>], observer: &dyn Observer) -> Result<Evaluation, EvaluateError> {
    let probe = Document::from_sentences("probe", &["Rain falls on the hills.", "Copper conducts heat well."]);
    for system in systems {
        // A program or a service may know its own documents alone, and a language model costs something.
        if is_outside(system.chunker.spec()) || system.chunker.segmenter().model_use().is_some() {
            continue;
        }
        segment(system, &probe, 2).map_err(|reason| EvaluateError::Unusable {
            segmenter: system.name.clone(),
            known_count: system.known_count,
            reason: reason.to_string(),
        })?;
    }
    let mut evaluation = Evaluation::default();
    for set in sets {
        for system in systems {
            let (row, documents) = evaluate_one(system, set, observer);
            evaluation.rows.push(row);
            evaluation.documents.extend(documents);
        }
    }
    Ok(evaluation)
}

fn segment(system: &System<'_>, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
    if system.known_count {
        system.chunker.boundaries_known(document, segments)
    } else {
        system.chunker.boundaries(document)
    }
}

/// A row, with its documents, for a set.
fn evaluate_one(system: &System<'_>, set: &Set, observer: &dyn Observer) -> (SegmentationRow, Vec<DocumentRow>) {
    let segmenter = system.chunker.segmenter();
    let (start, tokens_before, asked_before) = (Instant::now(), segmenter.tokens_read(), segmenter.model_use());
    let tick = || observer.tick(system, &set.name);
    let found: Vec<Result<Boundaries, SegmentError>> = if system.known_count {
        let told = |one: &Segmented| {
            let found = system.chunker.boundaries_known(&one.document, one.reference.segments());
            tick();
            found
        };
        set.documents.par_iter().with_max_len(1).map(told).collect()
    } else {
        let documents: Vec<&Document> = set.documents.iter().map(|one| &one.document).collect();
        system.chunker.boundaries_all(&documents, &tick)
    };
    let seconds = start.elapsed().as_secs_f64();
    let tokens_read = segmenter.tokens_read().zip(tokens_before).map(|(after, before)| after - before);
    let asked = segmenter.model_use().zip(asked_before).map(|(after, before)| after.since(before));

    let (mut scores, mut documents, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let mut sentences = 0;
    for (one, found) in set.documents.iter().zip(found) {
        let scored = found.map_err(|e| e.to_string()).and_then(|hypothesis| {
            let scores = score(&one.reference, &hypothesis).map_err(|e| e.to_string())?;
            Ok((hypothesis, scores))
        });
        match scored {
            Ok((hypothesis, found)) => {
                sentences += one.document.len();
                documents.push(document_row(system, set, one, &hypothesis, &found));
                scores.push(found);
            }
            Err(reason) => failed.push(Failure { document: one.document.id.clone(), reason }),
        }
    }
    let summary: ScoreSummary = scores.iter().collect();
    let error_of = |figure: fn(&SegmentationScores) -> f64| {
        standard_error(&scores.iter().map(|s| figure(&s.scores)).collect::<Vec<_>>())
    };
    let figure = |value: f64| if scores.is_empty() { f64::NAN } else { value };
    let row = SegmentationRow {
        set: set.name.clone(),
        segmenter: system.name.clone(),
        spec: system.chunker.spec().to_string(),
        known_count: system.known_count,
        documents: scores.len(),
        pk: figure(summary.mean.pk),
        pk_error: error_of(|s| s.pk),
        window_diff: figure(summary.mean.window_diff),
        window_diff_error: error_of(|s| s.window_diff),
        precision: figure(summary.counts.precision()),
        recall: figure(summary.counts.recall()),
        f1: figure(summary.micro_f1()),
        macro_precision: figure(summary.mean.precision),
        macro_recall: figure(summary.mean.recall),
        macro_f1: figure(summary.mean.f1),
        boundary_similarity: figure(summary.mean.boundary_similarity),
        segmentation_similarity: figure(summary.mean.segmentation_similarity),
        tiling: figure(summary.mean.tiling),
        tiling_penalised: figure(summary.mean.tiling_penalised),
        proposed_over_true: summary.counts.ratio(),
        seconds,
        tokens_read,
        asked,
        sentences_per_second: if seconds > 0.0 { sentences as f64 / seconds } else { 0.0 },
        failed,
    };
    (row, documents)
}

fn document_row(
    system: &System<'_>,
    set: &Set,
    one: &Segmented,
    hypothesis: &Boundaries,
    found: &DocumentScores,
) -> DocumentRow {
    DocumentRow {
        set: set.name.clone(),
        document: one.document.id.clone(),
        segmenter: system.name.clone(),
        known_count: system.known_count,
        sentences: one.document.len(),
        reference: one.reference.after().to_vec(),
        hypothesis: hypothesis.after().to_vec(),
        pk: found.scores.pk,
        window_diff: found.scores.window_diff,
        precision: found.scores.precision,
        recall: found.scores.recall,
        f1: found.scores.f1,
        boundary_similarity: found.scores.boundary_similarity,
    }
}
