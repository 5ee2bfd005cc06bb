//! The content of a report, and the same as data.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::beside::against;
use pericope_segeval::compare::{Comparison, Standing, comparisons, standings};
use pericope_segeval::config::Published;
use pericope_segeval::evaluate::{Evaluation, SegmentationRow};
use pericope_segeval::read::Set;

/// A data set as the report describes it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SetFacts {
    /// What tables call it.
    pub name: String,
    /// Documents.
    pub documents: usize,
    /// Sentences of all documents.
    pub sentences: usize,
    /// True segments of all documents.
    pub segments: usize,
    /// What could not be read, each with its place and reason.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<String>,
    /// The ids in the files of documents that stand by another one here, since an earlier one has theirs, by that other id.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub renamed: BTreeMap<String, String>,
}

/// A set with what its segmenters show.
#[derive(Serialize)]
struct Decided<'a> {
    #[serde(flatten)]
    facts: &'a SetFacts,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<String>,
}

/// What a report is made of.
#[derive(Debug, Clone)]
pub struct Report {
    /// The experiment's name.
    pub name: String,
    /// The data.
    pub sets: Vec<SetFacts>,
    /// Rows and documents.
    pub evaluation: Evaluation,
    /// Every segmenter with the first of its set.
    pub comparisons: Vec<Comparison>,
    /// Which of the segmenters of a set may be the best.
    pub standings: Vec<Standing>,
    /// Figures of others, x 100.
    pub published: Vec<Published>,
    /// Seconds of embedding all sentences beforehand, where the segmenters shared the vectors.
    pub embedding_seconds: Option<f64>,
}

#[derive(Serialize)]
struct Summary<'a> {
    name: &'a str,
    version: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    embedding_seconds: Option<f64>,
    sets: Vec<Decided<'a>>,
    results: &'a [SegmentationRow],
    comparisons: &'a [Comparison],
    standings: &'a [Standing],
    published: Vec<PublishedShare<'a>>,
}

/// A published row with shares as 0 to 1, like everything else in `summary.json`.
#[derive(Serialize)]
struct PublishedShare<'a> {
    system: &'a str,
    set: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pk: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_diff: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    proposed_over_true: Option<f64>,
    known_count: bool,
    source: &'a str,
}

/// Why a report was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentReportError {
    /// A file could not be written.
    #[error("cannot write {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// The figures are not JSON.
    #[error("cannot put the figures into JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl Report {
    /// Puts together what the evaluation of `sets` gave.
    #[must_use]
    pub fn new(name: &str, sets: &[Set], evaluation: Evaluation, published: &[Published]) -> Self {
        let facts = |set: &Set| SetFacts {
            name: set.name.clone(),
            documents: set.documents.len(),
            sentences: set.documents.iter().map(|one| one.document.len()).sum(),
            segments: set.documents.iter().map(|one| one.reference.segments()).sum(),
            skipped: set.skipped.clone(),
            renamed: set.renamed.iter().map(|(id, own)| (id.clone(), own.clone())).collect(),
        };
        Self {
            name: name.to_owned(),
            sets: sets.iter().map(facts).collect(),
            comparisons: comparisons(&evaluation),
            standings: standings(&evaluation),
            evaluation,
            published: published.to_vec(),
            embedding_seconds: None,
        }
    }

    /// Who does better and worse than the first segmenter of a set, and which may be the best, in a sentence; none where
    /// there is nothing to compare.
    #[must_use]
    pub fn verdict(&self, set: &str) -> Option<String> {
        Some(against(self, set)?.replace('\u{a0}', " "))
    }

    /// `summary.json`; shares as 0 to 1.
    ///
    /// # Errors
    /// [`SegmentReportError::Json`], which no figure of an evaluation causes.
    pub fn summary(&self) -> Result<String, SegmentReportError> {
        let share = |x: Option<f64>| x.map(|x| x / 100.0);
        let published = self.published.iter().map(|row| PublishedShare {
            system: &row.system,
            set: &row.set,
            pk: share(row.pk),
            window_diff: share(row.window_diff),
            f1: share(row.f1),
            proposed_over_true: row.proposed_over_true,
            known_count: row.known,
            source: &row.source,
        });
        let summary = Summary {
            name: &self.name,
            version: env!("CARGO_PKG_VERSION"),
            embedding_seconds: self.embedding_seconds,
            sets: self.sets.iter().map(|facts| Decided { facts, verdict: self.verdict(&facts.name) }).collect(),
            results: &self.evaluation.rows,
            comparisons: &self.comparisons,
            standings: &self.standings,
            published: published.collect(),
        };
        Ok(serde_json::to_string_pretty(&summary)? + "\n")
    }

    /// `documents.jsonl`: a line a document and segmenter.
    ///
    /// # Errors
    /// [`SegmentReportError::Json`], which no figure of an evaluation causes.
    pub fn documents(&self) -> Result<String, SegmentReportError> {
        let mut out = String::new();
        for row in &self.evaluation.documents {
            out.push_str(&serde_json::to_string(row)?);
            out.push('\n');
        }
        Ok(out)
    }
}
