//! `[[gate]]`: the checks that a night must pass.

mod quality;
mod speed;

pub use pericope_eval::config::{CALIBRATION, Gate, Measure};

use serde::Serialize;

use super::compare::Compared;
use crate::night::{NightlyRun, Timing};
use pericope_eval::cell::CellKey;
use pericope_eval::format;

/// What a check is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A metric against the last good night.
    Drop,
    /// A metric against the baseline: many small drops add up.
    Drift,
    /// A metric that may not be below a number.
    Floor,
    /// Items without a result.
    Failed,
    /// Parts of the data that could not be used.
    #[serde(rename = "left_out")]
    LeftOut,
    /// A time, relative to another of the same night, against the last good nights.
    Speed,
}

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum State {
    /// The check holds.
    #[serde(rename = "held")]
    Passed,
    /// The check does not hold, and the nightly run fails.
    #[serde(rename = "broken")]
    Failed,
    /// There is nothing to judge by.
    #[serde(rename = "unjudged")]
    Inconclusive,
}

/// One gate at one cell.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Check {
    /// What is checked: `span recall of semantic at k = 3, dense`.
    pub what: String,
    /// What it is about.
    pub kind: Kind,
    /// How it came out.
    pub state: State,
    /// What it looks at.
    pub metric: Measure,
    /// The cell, for metrics of questions.
    pub cell: Option<CellKey>,
    /// The night that is compared with.
    pub against: Option<u32>,
    /// What the gate allows: a fall, a floor, a share, a quotient.
    pub limit: f64,
    /// The value before, on the questions that pair up.
    pub before: Option<f64>,
    /// Tonight's.
    pub tonight: Option<f64>,
    /// Tonight's minus the one before; for speed their quotient.
    pub difference: Option<f64>,
    /// p-value after Holm's correction, where there is a test.
    pub p: Option<f64>,
    /// The p-value below which a fall counts.
    pub alpha: Option<f64>,
    /// Questions compared; for speed nights.
    pub n: Option<usize>,
    /// The outcome in a sentence.
    pub says: String,
}

impl Check {
    /// True where it does not hold.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.state == State::Failed
    }
}

/// The least p-value below which a fall counts for one of the gates; 1 where none asks for one.
pub(crate) fn strictest(gates: &[Gate]) -> f64 {
    gates.iter().filter(|gate| gate.metric.metric().is_some()).map(Gate::alpha).fold(1.0, f64::min)
}

/// What the gates are judged by.
pub struct Evidence<'a> {
    /// The night.
    pub tonight: &'a NightlyRun,
    /// The last good night, compared with it.
    pub reference: Option<&'a Compared>,
    /// The baseline, compared with it.
    pub baseline: Option<&'a Compared>,
    /// The times of the last good nights, newest first.
    pub good_times: &'a [Vec<Timing>],
    /// Share of items that may fail by `limits.max_failed`.
    pub max_failed: f64,
}

/// Judges every gate, in the order of the configuration; `limits.max_failed` comes first, then what was left out of the
/// data, where that is anything.
#[must_use]
pub fn judge(gates: &[Gate], evidence: &Evidence<'_>) -> Vec<Check> {
    let mut checks = vec![failed("", None, evidence.max_failed, evidence.tonight)];
    checks.extend(left_out(evidence));
    for gate in gates {
        match &gate.metric {
            Measure::Time(_) => checks.extend(speed::checks(gate, evidence)),
            Measure::Metric(metric) => checks.extend(quality::checks(gate, metric, evidence)),
            Measure::Failed => {
                let limit = gate.max.unwrap_or(evidence.max_failed);
                checks.push(failed(gate.chunker.as_deref().unwrap_or(""), Some(gate), limit, evidence.tonight));
            }
            // No configuration can name it.
            Measure::LeftOut => {}
        }
    }
    quality::correct(&mut checks);
    checks
}

/// The share of items without a result, of all cells or of those that a gate speaks of.
fn failed(chunker: &str, gate: Option<&Gate>, limit: f64, tonight: &NightlyRun) -> Check {
    let cells: Vec<_> = tonight.cells.iter().filter(|cell| gate.is_none_or(|gate| gate.covers(&cell.key))).collect();
    let failed: usize = cells.iter().map(|cell| cell.failed).sum();
    let items = cells.len() * tonight.questions.len();
    let share = if items == 0 { 0.0 } else { failed as f64 / items as f64 };
    let state = if share > limit + 1e-12 { State::Failed } else { State::Passed };
    let whose = if chunker.is_empty() { String::new() } else { format!(" of {chunker}") };
    Check {
        what: format!("failed items{whose}"),
        kind: Kind::Failed,
        state,
        metric: Measure::Failed,
        cell: None,
        against: None,
        limit,
        before: None,
        tonight: Some(share),
        difference: None,
        p: None,
        alpha: None,
        n: Some(items),
        says: format!(
            "{} of {} failed{whose}, {} allowed",
            format::count(failed),
            format::plural(items, "item"),
            format::percent(limit)
        ),
    }
}

/// What could not be used of tonight's data; none where all of it could. Nothing may be left out but what was in the
/// last good night: there, somebody has accepted it. Where that one did not count it, nobody can tell.
fn left_out(evidence: &Evidence<'_>) -> Option<Check> {
    let left_out = evidence.tonight.left_out.unwrap_or(0);
    let before = evidence.reference.map(|compared| compared.before.left_out);
    let allowed = before.flatten().unwrap_or(0);
    let parts = format::plural(left_out, "part");
    let verb = if left_out == 1 { "was" } else { "were" };
    let known = match before {
        Some(None) => "; how many in the last good night is not known".to_owned(),
        _ if allowed == 0 => String::new(),
        _ => format!("; {} in the last good night", format::count(allowed)),
    };
    (left_out > 0).then(|| Check {
        what: "data that was left out".into(),
        kind: Kind::LeftOut,
        state: match before {
            Some(None) => State::Inconclusive,
            _ if left_out > allowed => State::Failed,
            _ => State::Passed,
        },
        metric: Measure::LeftOut,
        cell: None,
        against: evidence.reference.map(|compared| compared.before.number),
        limit: allowed as f64,
        before: before.flatten().map(|before| before as f64),
        tonight: Some(left_out as f64),
        difference: None,
        p: None,
        alpha: None,
        n: None,
        says: format!("{parts} of the data could not be used and {verb} left out{known}"),
    })
}

#[cfg(test)]
mod tests;
