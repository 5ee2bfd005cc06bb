//! The report of a run on classification: `summary.md`, a self-contained `index.html`, and a table for the terminal.

mod markdown;
mod page;
mod standings;
mod text;

use std::fs;
use std::path::Path;

use pericope_eval::classification::ClassificationSummary;
use pericope_eval::record::RunRecord;
use pericope_util::{StagedFile, replace_file};
use serde::Deserialize;

use crate::run::{ReportError, whole};
use crate::text::{grid, paragraph};

/// The content of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The figures.
    pub summary: ClassificationSummary,
    /// The record of what was run.
    pub run: RunRecord,
}

/// What tells a run of this kind from others.
#[derive(Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Report {
    /// Reads `run.json` and `summary.json` of a run's folder; nothing where the run is of another kind.
    ///
    /// # Errors
    /// [`ReportError::Read`] where a file is missing, [`ReportError::Parse`] where one is damaged.
    pub fn load(folder: &Path) -> Result<Option<Self>, ReportError> {
        if !Self::is_one(folder)? {
            return Ok(None);
        }
        let summary = whole(&folder.join("summary.json"))?;
        Ok(Some(Self { summary, run: whole(&folder.join("run.json"))? }))
    }

    /// True where `summary.json` of a run's folder is that of a run on classification.
    ///
    /// # Errors
    /// [`ReportError::Read`] where the file is missing, [`ReportError::Parse`] where it is damaged.
    pub fn is_one(folder: &Path) -> Result<bool, ReportError> {
        let found: Kind = whole(&folder.join("summary.json"))?;
        Ok(found.kind.as_deref() == Some("classification"))
    }

    /// Writes `summary.md` and `index.html` into a folder, each whole or not at all. Nobody else may write there at the same time
    /// ([`pericope_util::FolderLock`]).
    ///
    /// # Errors
    /// [`ReportError::Write`] where the folder or a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(), ReportError> {
        fs::create_dir_all(folder).map_err(ReportError::write(folder))?;
        for (name, text) in [("summary.md", self.markdown()), ("index.html", self.page())] {
            let path = folder.join(name);
            let written = StagedFile::remove_left_over(&path).and_then(|()| replace_file(&path, &text));
            written.map_err(ReportError::write(&path))?;
        }
        Ok(())
    }

    /// `summary.md`.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::page(self)
    }

    /// `index.html`.
    #[must_use]
    pub fn page(&self) -> String {
        page::page(self)
    }

    /// The table for a terminal of so many columns, and what it shows.
    #[must_use]
    pub fn table(&self, width: usize) -> String {
        let mut out = String::new();
        let mut head = vec!["chunker".to_owned()];
        head.extend(standings::HEADS.iter().map(|(name, _)| (*name).to_owned()));
        let rows = standings::standings(&self.summary).into_iter().map(|one| {
            std::iter::once(one.name.to_owned()).chain(one.figures.into_iter().map(|figure| figure.text)).collect()
        });
        grid(&mut out, &head, &rows.collect::<Vec<Vec<String>>>(), width);
        paragraph(&mut out, "", &text::headline(&self.summary), width);
        for note in text::notes(&self.summary).into_iter().chain(text::failures(&self.summary)) {
            paragraph(&mut out, "", &note, width);
        }
        out.replace('\u{a0}', " ").replace('’', "'")
    }
}

#[cfg(test)]
pub(crate) mod samples {
    use pericope_eval::classification::{
        ClassRow, ClassificationSummary, ClassifiedRow, PublishedAccuracy, TrainingRow,
    };
    use pericope_eval::config::ExperimentKind;
    use pericope_eval::metric::Metric;
    use pericope_eval::record::{ChunkerRow, Comparison, Family, Outcome, PrimaryRecord, RunRecord, Verdict};

    use super::Report;

    /// A report on two chunkers with hostile names.
    pub(crate) fn report() -> Report {
        let row = |name: &str, accuracy: f64| ClassifiedRow {
            chunker: ChunkerRow { name: name.into(), spec: "fixed".into(), chunks: 10, ..ChunkerRow::default() },
            segments_per_document: 5.0,
            tokens_per_document: 600.0,
            failed: 0,
            failed_training: 0,
            accuracy,
            interval: Some([accuracy - 0.05, accuracy + 0.05]),
            validation_accuracy: None,
            train_seconds: 3.0,
            runs: vec![TrainingRow { seed: 1, epochs: 9, best_epoch: 4, validation_accuracy: None, accuracy }],
        };
        let comparison = Comparison {
            a: "b|<i>".into(),
            b: "a".into(),
            metric: Metric::ACCURACY,
            difference: 0.1,
            low: 0.02,
            high: 0.18,
            p: 0.01,
            p_holm: Some(0.01),
            family: Some(Family::Primary),
            outcome: Some(Outcome::Better),
            detectable: 0.03,
            n: 40,
            ..Comparison::default()
        };
        let verdict = Verdict {
            primary: PrimaryRecord {
                baseline: "a".into(),
                metric: Metric::ACCURACY,
                margin: 0.02,
                documents: 20,
                questions: 40,
                comparisons: 1,
                ..PrimaryRecord::default()
            },
            best: "b|<i>".into(),
            possible: vec!["b|<i>".into()],
            recommended: "b|<i>".into(),
            sentence: "In classification, take b|<i>.".into(),
            ..Verdict::default()
        };
        let class = |label: &str| ClassRow { label: label.into(), train: 10, validation: 2, test: 10 };
        let published = PublishedAccuracy {
            system: "Old <b>".into(),
            data: "News".into(),
            accuracy: 58.0,
            source: "A paper".into(),
        };
        let summary = ClassificationSummary {
            kind: ExperimentKind::Classification,
            name: "n<s>".into(),
            documents: 44,
            classes: vec![class("one"), class("two")],
            seeds: vec![1, 2],
            failed: 0,
            failed_training: 0,
            skipped: vec!["x.md: empty".into()],
            left_out: 1,
            unusable: 1,
            chunkers: vec![row("a", 0.5), row("b|<i>", 0.6)],
            comparisons: vec![comparison],
            verdict: Some(verdict),
            published: vec![published],
        };
        Report { summary, run: RunRecord::default() }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::samples::report;
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: String| fs::write(folder.path().join(name), text).unwrap();
        let report = report();
        write("summary.json", serde_json::to_string(&report.summary).unwrap());
        write("run.json", serde_json::to_string(&report.run).unwrap());
        let read = Report::load(folder.path()).unwrap().unwrap();
        assert_eq!(read, report);
        read.write(folder.path()).unwrap();
        assert!(folder.path().join("index.html").is_file() && folder.path().join("summary.md").is_file());
        write("summary.json", "{\"name\":\"n\"}".into());
        assert_eq!(Report::load(folder.path()).unwrap(), None);
    }

    #[test]
    fn documents_that_a_chunker_failed_on_are_said_everywhere() {
        let mut report = report();
        report.summary.chunkers[0].failed = 2;
        report.summary.chunkers[0].failed_training = 1;
        let terminal = report.table(400);
        for text in [report.page(), report.markdown(), terminal] {
            let text = text.replace('\u{a0}', " ");
            assert!(text.contains("a failed on 2 test documents: each counts as given another class."), "{text}");
            assert!(text.contains("a failed on 1 document to train on or to stop by"), "{text}");
        }
    }

    #[test]
    fn pages_hold_no_text_as_markup_and_tables_all_cells() {
        let report = report();
        let page = report.page();
        assert!(page.contains("Old &lt;b&gt;") && !page.contains("Old <b>") && !page.contains("NaN"));
        assert!(!page.contains("http://") && !page.contains("https://"));
        let markdown = report.markdown();
        for row in markdown.lines().filter(|line| line.starts_with("| b\\|")) {
            assert_eq!(row.replace("\\|", "").matches('|').count() % 2, 1, "{row}");
        }
        assert!(markdown.contains("60.0") && markdown.contains("+10.0") && markdown.contains("(recommended)"));
        assert!(markdown.contains("| Old &lt;b&gt; | 58.0 |") && !markdown.contains("NaN"));
        let table = report.table(100);
        assert!(table.contains("55.0 to 65.0") && table.contains("take b|<i>"), "{table}");
    }
}
