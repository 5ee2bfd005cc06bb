//! The report of an evaluation: `summary.json`, `documents.jsonl`, `segments.md`, a self-contained `index.html`, and the
//! plots as SVG files.

mod lines;
mod markdown;
mod page;
pub mod plot;
#[cfg(test)]
pub(crate) mod samples;
mod text;

use std::path::{Path, PathBuf};

use serde::Serialize;

use pericope_segeval::compare::{Comparison, comparisons};
use pericope_segeval::config::Published;
use pericope_segeval::evaluate::{Evaluation, SegmentationRow};
use pericope_segeval::read::Set;
use plot::{DocumentPlot, bars_svg, extremes, groups, speed_svg, speeds, tiles_svg};

pub(crate) use lines::{Line, lines};

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
    /// The first two segmenters of each set.
    pub comparisons: Vec<Comparison>,
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
    sets: &'a [SetFacts],
    results: &'a [SegmentationRow],
    comparisons: &'a [Comparison],
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
        };
        Self {
            name: name.to_owned(),
            sets: sets.iter().map(facts).collect(),
            comparisons: comparisons(&evaluation),
            evaluation,
            published: published.to_vec(),
            embedding_seconds: None,
        }
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
            sets: &self.sets,
            results: &self.evaluation.rows,
            comparisons: &self.comparisons,
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

    /// `segments.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::markdown(self)
    }

    /// `index.html`.
    #[must_use]
    pub fn page(&self) -> String {
        page::page(self)
    }

    /// The plot of the documents on which the first segmenter does best, in the middle and worst, with all segmenters.
    #[must_use]
    pub fn tiles(&self, set: &str) -> String {
        let chosen = extremes(&self.evaluation, set);
        let plots: Vec<DocumentPlot<'_>> =
            chosen.iter().filter_map(|(_, id)| DocumentPlot::of(&self.evaluation, set, id, None)).collect();
        let first = self.evaluation.segmenters().first().copied().unwrap_or_default().to_owned();
        let which: Vec<&str> = chosen.iter().map(|(which, _)| *which).collect();
        tiles_svg(&format!("{set}: the {} of {first} by Pk", which.join(", ")), &plots)
    }

    /// Writes everything into `folder`, which is made where it is missing, and returns the files' paths: `summary.json`,
    /// `documents.jsonl`, `segments.md`, `index.html`, `f1.svg`, `speed.svg` and `tiles-SET.svg`.
    ///
    /// # Errors
    /// [`SegmentReportError`] where a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, SegmentReportError> {
        std::fs::create_dir_all(folder).map_err(|source| SegmentReportError::Io { path: folder.to_owned(), source })?;
        let mut files = vec![
            ("summary.json".to_owned(), self.summary()?),
            ("documents.jsonl".to_owned(), self.documents()?),
            ("segments.md".to_owned(), self.markdown()),
            ("index.html".to_owned(), self.page()),
            ("f1.svg".to_owned(), bars_svg(&format!("{}: F1", self.name), "F1", &groups(&self.evaluation))),
            ("speed.svg".to_owned(), speed_svg(&format!("{}: F1 and speed", self.name), &speeds(&self.evaluation))),
        ];
        files.extend(self.sets.iter().map(|set| (format!("tiles-{}.svg", slug(&set.name)), self.tiles(&set.name))));
        let mut written = Vec::with_capacity(files.len());
        for (name, text) in files {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|source| SegmentReportError::Io { path: path.clone(), source })?;
            written.push(path);
        }
        Ok(written)
    }
}

/// A name as a part of a file's name and of an address in a page.
fn slug(name: &str) -> String {
    name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::samples::report;

    #[test]
    fn everything_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let written = report().write(&folder.path().join("new/run")).unwrap();
        let names: Vec<String> =
            written.iter().map(|p| p.file_name().unwrap().to_string_lossy().into_owned()).collect();
        assert_eq!(
            names,
            [
                "summary.json",
                "documents.jsonl",
                "segments.md",
                "index.html",
                "f1.svg",
                "speed.svg",
                "tiles-one.svg",
                "tiles-two.svg"
            ]
        );
    }

    #[test]
    fn shares_are_shares_in_json() {
        let summary: serde_json::Value = serde_json::from_str(&report().summary().unwrap()).unwrap();
        assert_eq!(summary["published"][0]["pk"], 0.3);
        assert_eq!(summary["sets"][0]["documents"], 3);
        assert!(summary["results"][0]["f1"].as_f64().unwrap() <= 1.0);
        assert_eq!(report().documents().unwrap().lines().count(), report().evaluation.documents.len());
    }

    #[test]
    fn pages_hold_no_text_as_markup() {
        let page = report().page();
        assert!(page.contains("Old &lt;b&gt; system") && !page.contains("<b> system"));
        assert!(!page.contains("NaN") && !page.contains("http://") && !page.contains("https://"));
    }
}
