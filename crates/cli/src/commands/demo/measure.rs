//! Five chunkers on the handbook, by the harness.

use std::path::Path;

use pericope_eval::answer::Ledger;
use pericope_eval::comparison::Named;
use pericope_eval::record::{Cell, ChunkerRow, Comparison, Family, Summary, Verdict};
use serde::Serialize;

use super::handbook::QUESTIONS;
use crate::commands::compare::{CONFIG, RUN, experiment_text, parse_experiment};
use crate::commands::dataset::save;
use crate::session::{Finished, Session, one};
use crate::status::Failure;

/// What is compared: the usual ways, blind pieces of the size of those of `structure`, and one that follows the vocabulary. None needs a
/// model. The first is the baseline.
const CHUNKERS: [(&str, &str); 5] = [
    ("fixed", "fixed:words=100"),
    ("recursive", "recursive:chars=600"),
    ("structure", "structure"),
    ("same-size", "same-size:reference=structure"),
    (LEXICAL, LEXICAL),
];
/// The one whose cut is shown.
pub const LEXICAL: &str = "bayesseg";
/// What counts tokens: the same with and without models on the machine.
pub const COUNTER: &str = "words";
const SEED: u64 = 7;

/// A line of the table.
#[derive(Debug, Serialize)]
pub struct Row {
    /// As it is typed.
    pub spec: &'static str,
    /// Share of the answers' text that was found, 0 to 1.
    pub span_recall: f64,
    pub chunks: usize,
    pub mean_tokens: f64,
    /// To cut and to index.
    pub seconds: f64,
    /// Against the baseline, with the 95 % interval by document; absent for the baseline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<[f64; 3]>,
}

/// What was measured.
#[derive(Debug)]
pub struct Measured {
    pub questions: usize,
    pub documents: usize,
    /// Tokens that a search hands out.
    pub token_budget: usize,
    /// The highest share first.
    pub rows: Vec<Row>,
    pub sentence: String,
}

/// Runs the experiment in a folder that may be thrown away.
pub fn measure(questions: &str, folder: &Path) -> Result<Measured, Failure> {
    let file = folder.join(QUESTIONS);
    save(&file, questions)?;
    let named = CHUNKERS.map(|(name, spec)| Named { name: name.to_owned(), spec: spec.to_owned() });
    // With and without models alike.
    let counter = format!("tokenizer = \"{COUNTER}\"\n");
    let text = experiment_text((folder, SEED), &file, &named, "none", &counter)?;
    let experiment = parse_experiment(text, folder.join(CONFIG))?;
    let out = folder.join(RUN);
    let ledger = Ledger::of_run(&experiment, &out, false);
    let session = Session { offline: true, ..Session::default() };
    let finished = one(&experiment, &out, session, ledger, true)?;
    let measured = finished.as_ref().and_then(|Finished { report, .. }| measured(&report.summary));
    measured.ok_or_else(|| Failure::runtime("the run came to no verdict"))
}

fn measured(summary: &Summary) -> Option<Measured> {
    let verdict = summary.verdict.as_ref()?;
    let mut rows: Vec<Row> = summary.chunkers.iter().filter_map(|row| table_row(row, summary, verdict)).collect();
    rows.sort_by(|a, b| b.span_recall.total_cmp(&a.span_recall));
    Some(Measured {
        questions: summary.questions,
        documents: summary.documents,
        token_budget: verdict.primary.cutoff.size(),
        rows,
        sentence: verdict.sentence.clone(),
    })
}

fn table_row(row: &ChunkerRow, summary: &Summary, verdict: &Verdict) -> Option<Row> {
    let primary = &verdict.primary;
    let is_here = |cell: &&Cell| cell.chunker == row.name && cell.mode == primary.mode && cell.cutoff == primary.cutoff;
    let is_its = |c: &&Comparison| c.a == row.name && c.family == Some(Family::Primary);
    let against = summary.comparisons.iter().find(is_its);
    Some(Row {
        spec: CHUNKERS.iter().find(|(name, _)| *name == row.name)?.1,
        span_recall: *summary.cells.iter().find(is_here)?.metrics.get(&primary.metric)?,
        chunks: row.chunks,
        mean_tokens: row.mean_tokens,
        seconds: row.seconds()?,
        difference: against.map(|c| [c.difference, c.low, c.high]),
    })
}
