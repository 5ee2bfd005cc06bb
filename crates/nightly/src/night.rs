//! One night as the history keeps it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use pericope_eval::cell::CellKey;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Checksums, ChunkerRow, Machine};

/// What came out of a night.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Every check that could be judged holds.
    #[default]
    Passed,
    /// At least one does not.
    Failed,
    /// It failed, and a person said that this is how it should be: good from then on.
    Accepted,
}

impl Verdict {
    /// As it stands in the history and in `latest.json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Passed => "passed",
            Verdict::Failed => "failed",
            Verdict::Accepted => "accepted",
        }
    }

    /// The verdict of that name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Verdict::Passed, Verdict::Failed, Verdict::Accepted].into_iter().find(|v| v.name() == name)
    }

    /// True for nights that later ones are compared with.
    #[must_use]
    pub fn is_good(self) -> bool {
        self != Verdict::Failed
    }
}

/// The program that ran.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Program {
    /// Its version.
    pub version: String,
    /// SHA-256 of its file: two builds of one version are two programs. Empty where it is not known.
    #[serde(default)]
    pub sha256: String,
}

/// A question as it was asked that night.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// Its id.
    pub id: String,
    /// The question.
    pub text: String,
    /// Id of the document that answers it.
    pub document: String,
    /// Hash of question, gold answer and the document's id: scores are paired only where it is the same.
    pub sum: String,
}

/// The scores of one cell.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NightlyCell {
    /// Chunker, mode and setting.
    #[serde(flatten)]
    pub key: CellKey,
    /// Mean tokens given to the reader.
    pub context_tokens: f64,
    /// Items without a result.
    pub failed: usize,
    /// By metric: a score for each of the night's questions, in their order, or none.
    pub scores: BTreeMap<Metric, Vec<Option<f64>>>,
}

impl NightlyCell {
    /// The mean of a metric over the questions that have a score.
    #[must_use]
    pub fn mean(&self, metric: &Metric) -> Option<f64> {
        mean(self.scores.get(metric)?.iter().flatten().copied())
    }
}

/// The mean; none of nothing.
pub fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (mut sum, mut n) = (0.0, 0_usize);
    for value in values {
        sum += value;
        n += 1;
    }
    (n > 0).then(|| sum / n as f64)
}

/// A time that was taken.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Timing {
    /// The chunker; empty for what belongs to the whole night.
    pub chunker: String,
    /// The retrieval mode; empty where the time does not depend on it.
    pub mode: String,
    /// `segment_seconds`, `index_seconds`, `query_p50_ms`, `query_p95_ms`, `calibration_seconds`, `seconds`.
    pub what: String,
    /// The time, in the unit that the name says.
    pub value: f64,
}

/// Everything that the history keeps of a night.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct NightlyRun {
    /// Its place in the history, from 1. Nights are ordered by it, never by the clock.
    pub number: u32,
    /// Unique among all nights of all histories: a hash of what came out.
    pub uid: String,
    /// Name of the experiment.
    pub experiment: String,
    /// When it began (RFC 3339).
    pub started: String,
    /// When it ended (RFC 3339).
    pub finished: String,
    /// Seconds of the run.
    pub seconds: f64,
    /// What came out.
    pub verdict: Verdict,
    /// The same in one line.
    pub line: String,
    /// The good night that it was compared with.
    pub reference: Option<u32>,
    /// The baseline that it was compared with.
    pub baseline: Option<u32>,
    /// The program that ran.
    pub program: Program,
    /// Where it ran.
    pub machine: Machine,
    /// What tokens were counted with.
    pub tokenizer: String,
    /// SHA-256 of data files, models and prompts.
    pub checksums: Checksums,
    /// The experiment, all defaults and overrides in place.
    pub config: serde_json::Value,
    /// SHA-256 of every document's source, by its id.
    pub documents: BTreeMap<String, String>,
    /// The questions in their order.
    pub questions: Vec<Asked>,
    /// The chunkers and what their cutting amounted to.
    pub chunkers: Vec<ChunkerRow>,
    /// The scores.
    pub cells: Vec<NightlyCell>,
    /// The times.
    pub timings: Vec<Timing>,
    /// Items without a result.
    pub failed: usize,
    /// All items.
    pub items: usize,
    /// Questions, documents and lines of the data that could not be used; `None` in nights of older versions, which did not
    /// count them.
    #[serde(default)]
    pub left_out: Option<usize>,
}

impl NightlyRun {
    /// The cell of that key.
    #[must_use]
    pub fn cell(&self, key: &CellKey) -> Option<&NightlyCell> {
        self.cells.iter().find(|cell| cell.key == *key)
    }

    /// The time of that name.
    #[must_use]
    pub fn timing(&self, chunker: &str, mode: &str, what: &str) -> Option<f64> {
        let is = |t: &&Timing| t.chunker == chunker && t.mode == mode && t.what == what;
        self.timings.iter().find(is).map(|t| t.value).filter(|x| x.is_finite())
    }

    /// `night 31 (2026-11-21)`.
    #[must_use]
    pub fn name(&self) -> String {
        named(self.number, &self.started)
    }
}

/// `night 31 (2026-11-21)`, or without the day where it is not known.
pub fn named(number: u32, started: &str) -> String {
    match day(started) {
        "" => format!("night {number}"),
        day => format!("night {number} ({day})"),
    }
}

/// The day of a time in RFC 3339; empty where it is none.
pub fn day(time: &str) -> &str {
    time.get(..10).filter(|day| day.bytes().all(|b| b.is_ascii_digit() || b == b'-')).unwrap_or("")
}
