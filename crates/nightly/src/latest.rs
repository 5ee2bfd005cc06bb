//! `latest.json`: the night for machines, and what hooks are sent.

use pericope_eval::metric::Metric;
use serde::Serialize;

use super::compare::{Difference, QuestionDiffs};
use super::conclude::{ComparisonTarget, Conclusion};
use super::gates::Check;
use crate::night::{Program, Timing};
use pericope_eval::cell::CellKey;
use pericope_eval::config::without_login;

/// The layout of `latest.json`.
#[derive(Serialize)]
pub struct Latest<'a> {
    experiment: &'a str,
    night: u32,
    verdict: &'static str,
    /// The verdict in one line; chat services show this field.
    text: &'a str,
    started: &'a str,
    finished: &'a str,
    seconds: f64,
    program: &'a Program,
    documents: usize,
    questions: usize,
    failed: usize,
    items: usize,
    left_out: usize,
    reference: Option<Beside<'a>>,
    baseline: Option<Beside<'a>>,
    notes: &'a [String],
    checks: &'a [Check],
    losses: &'a [Difference],
    gains: &'a [Difference],
    flips: &'a [QuestionDiffs],
    cells: Vec<Means<'a>>,
    timings: &'a [Timing],
    page: String,
    report: Option<String>,
}

#[derive(Serialize)]
struct Beside<'a> {
    night: u32,
    started: &'a str,
    comparable: bool,
    common_questions: usize,
    pairing: &'a str,
    changes: Vec<String>,
}

#[derive(Serialize)]
struct Means<'a> {
    #[serde(flatten)]
    cell: &'a CellKey,
    failed: usize,
    metrics: std::collections::BTreeMap<&'a Metric, f64>,
}

impl<'a> Latest<'a> {
    /// Of a conclusion; `base` is where the history's folder can be read (empty: relative links), `report` whether the
    /// night's full report is there.
    pub fn of(conclusion: &'a Conclusion, base: &str, report: bool) -> Self {
        let night = &conclusion.night;
        let beside = |against: &'a ComparisonTarget| Beside {
            night: against.number,
            started: &against.started,
            comparable: against.comparable,
            common_questions: against.questions,
            pairing: &against.pairing,
            changes: against.changes.lines().iter().map(|line| line.replace('\u{a0}', " ")).collect(),
        };
        let means = night.cells.iter().map(|cell| Means {
            cell: &cell.key,
            failed: cell.failed,
            metrics: cell.scores.keys().filter_map(|metric| Some((metric, cell.mean(metric)?))).collect(),
        });
        Self {
            experiment: &night.experiment,
            night: night.number,
            verdict: night.verdict.name(),
            text: &night.line,
            started: &night.started,
            finished: &night.finished,
            seconds: night.seconds,
            program: &night.program,
            documents: night.documents.len(),
            questions: night.questions.len(),
            failed: night.failed,
            items: night.items,
            left_out: night.left_out.unwrap_or(0),
            reference: conclusion.reference.as_ref().map(beside),
            baseline: conclusion.baseline.as_ref().map(beside),
            notes: &conclusion.notes,
            checks: &conclusion.checks,
            losses: &conclusion.losses,
            gains: &conclusion.gains,
            flips: &conclusion.flips,
            cells: means.collect(),
            timings: &night.timings,
            page: format!("{base}index.html"),
            report: report.then(|| format!("{base}{}", report_link(night.number))),
        }
    }
}

/// Where a night's full report lies, seen from the history's folder.
pub fn report_link(number: u32) -> String {
    format!("nights/{number:06}/index.html")
}

/// The configured address with a slash at its end, and without who logs in there; empty where there is none.
pub fn base(url: Option<&str>) -> String {
    match url.map(str::trim) {
        None | Some("") => String::new(),
        Some(url) if url.ends_with('/') => without_login(url),
        Some(url) => format!("{}/", without_login(url)),
    }
}
