use super::{CALIBRATION, Check, Evidence, Gate, Kind, State};
use crate::night::Timing;
use pericope_eval::config::LEAST_NIGHTS;
use pericope_eval::format;

/// A quotient must lie this many spreads (median absolute deviation, scaled to a standard deviation) above the median.
const SPREADS: f64 = 3.0;
const TO_DEVIATION: f64 = 1.4826;

/// What a gate on a time says of each chunker, and mode for queries, that it covers.
///
/// Machines are slower on some nights, so a time is divided by another of the same night. The quotient must be both
/// more than `max_ratio` times its median over the last good nights and far outside of how it wavers there.
pub(super) fn checks(gate: &Gate, evidence: &Evidence<'_>) -> Vec<Check> {
    let relative_to = gate.relative_to.as_deref().unwrap_or(CALIBRATION);
    let covered = |time: &&Timing| {
        time.what == gate.metric.name()
            && gate.chunker.as_ref().is_none_or(|name| *name == time.chunker)
            && gate.mode.is_none_or(|mode| mode.to_string() == time.mode)
            && time.chunker != relative_to
    };
    evidence.tonight.timings.iter().filter(covered).map(|time| check(gate, relative_to, time, evidence)).collect()
}

fn check(gate: &Gate, relative_to: &str, time: &Timing, evidence: &Evidence<'_>) -> Check {
    let (limit, unit) = (gate.max_ratio.unwrap_or(f64::INFINITY), Unit::of(gate.metric.name()));
    let mode = if time.mode.is_empty() { String::new() } else { format!(", {}", time.mode) };
    let ratio = |times: &[Timing]| {
        let own = value(times, &time.chunker, &time.mode, &time.what)?;
        Some(own / reference(times, relative_to, &time.mode, &time.what)?).filter(|x| x.is_finite())
    };
    let tonight = ratio(&evidence.tonight.timings);
    let mut past: Vec<f64> = evidence.good_times.iter().filter_map(|times| ratio(times)).collect();
    past.sort_by(f64::total_cmp);
    let median = middle(&past);
    let mut check = Check {
        what: format!("{} of {}{mode}", gate.metric.name().replace('_', " "), time.chunker),
        kind: Kind::Speed,
        state: State::Inconclusive,
        metric: gate.metric.clone(),
        cell: None,
        against: None,
        limit,
        before: median,
        tonight,
        difference: None,
        p: None,
        alpha: None,
        n: Some(past.len()),
        says: String::new(),
    };
    let (Some(ratio), Some(median)) = (tonight, median.filter(|_| past.len() >= LEAST_NIGHTS)) else {
        check.says = match tonight {
            None => format!("{relative_to} was not timed tonight"),
            Some(_) => format!("needs {LEAST_NIGHTS} good nights to compare with, there are {}", past.len()),
        };
        return check;
    };
    let mut apart: Vec<f64> = past.iter().map(|x| (x - median).abs()).collect();
    apart.sort_by(f64::total_cmp);
    let spread = TO_DEVIATION * middle(&apart).unwrap_or(0.0);
    let times_median = ratio / median;
    check.difference = Some(times_median);
    let shown = format!(
        "{}, {} times {relative_to}; over the last {} good nights {} times",
        unit.shown(time.value),
        quotient(ratio),
        past.len(),
        quotient(median)
    );
    let slow = times_median > limit;
    (check.state, check.says) = if slow && time.value < gate.least() {
        (State::Passed, format!("{shown}; too short to judge (least = {})", gate.least()))
    } else if slow && ratio <= median + SPREADS * spread {
        (State::Passed, format!("{shown}; within how it wavers"))
    } else if slow {
        (
            State::Failed,
            format!(
                "{shown}: {} times as long, {} allowed",
                format::decimal(times_median, 2),
                format::decimal(limit, 2)
            ),
        )
    } else {
        (State::Passed, shown)
    };
    check
}

fn value(times: &[Timing], chunker: &str, mode: &str, what: &str) -> Option<f64> {
    times.iter().find(|t| t.chunker == chunker && t.mode == mode && t.what == what).map(|t| t.value)
}

/// The time that is divided by: another chunker's, or the calibration's, always above 0.
fn reference(times: &[Timing], name: &str, mode: &str, what: &str) -> Option<f64> {
    let found = match value(times, name, mode, what) {
        None if name == CALIBRATION => value(times, "", "", "calibration_seconds"),
        found => found,
    };
    found.filter(|x| *x > 0.0)
}

/// Two decimals, or none where they would say nothing.
fn quotient(x: f64) -> String {
    format::decimal(x, if x < 100.0 { 2 } else { 0 })
}

/// The median of sorted values.
fn middle(sorted: &[f64]) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    Some(f64::midpoint(*sorted.get(last / 2)?, *sorted.get(last.div_ceil(2))?))
}

/// How a time is shown.
#[derive(Clone, Copy)]
enum Unit {
    Seconds,
    Milliseconds,
}

impl Unit {
    fn of(metric: &str) -> Self {
        if metric.ends_with("_ms") { Unit::Milliseconds } else { Unit::Seconds }
    }

    fn shown(self, x: f64) -> String {
        match self {
            Unit::Seconds => format::seconds(x),
            Unit::Milliseconds => format!("{}\u{a0}ms", format::decimal(x, 2)),
        }
    }
}
