//! What a night amounts to, beside the nights before it.

use std::path::Path;

use super::compare::{Changes, Compared, Difference, QuestionDiffs, compared, flips};
use super::gates::{Check, Evidence, Kind, judge, strictest};
use super::gather::ItemLines;
use super::history::{History, HistoryError, RunHeader};
use super::night::{NightlyRun, Verdict, named};
use pericope_eval::config::Experiment;
use pericope_eval::format;
use pericope_eval::metric::Metric;

/// Gains and losses that are listed at most.
const LISTED: usize = 20;

/// Everything there is to say about a night.
#[derive(Debug, Clone)]
pub struct Conclusion {
    /// The night, its verdict and line in place.
    pub night: NightlyRun,
    /// The last good night.
    pub reference: Option<ComparisonTarget>,
    /// The baseline.
    pub baseline: Option<ComparisonTarget>,
    /// What came out of the night before; none of the first.
    pub before: Option<Verdict>,
    /// The checks, in the order of the configuration.
    pub checks: Vec<Check>,
    /// Differences to the last good night that are losses, the surest first.
    pub losses: Vec<Difference>,
    /// Those that are gains.
    pub gains: Vec<Difference>,
    /// Differences that were looked at.
    pub compared: usize,
    /// The questions behind what broke, or else behind the largest difference.
    pub flips: Vec<QuestionDiffs>,
    /// What a reader must know: that the clock was moved back.
    pub notes: Vec<String>,
}

/// A night that is compared with.
#[derive(Debug, Clone)]
pub struct ComparisonTarget {
    /// Its number.
    pub number: u32,
    /// When it began.
    pub started: String,
    /// How the questions were paired, in words.
    pub pairing: String,
    /// Whether any question pairs up.
    pub comparable: bool,
    /// Questions that do.
    pub questions: usize,
    /// What else was different.
    pub changes: Changes,
}

impl ComparisonTarget {
    fn new(compared: &Compared, tonight: &NightlyRun) -> Self {
        Self {
            number: compared.before.number,
            started: compared.before.started.clone(),
            pairing: compared.pairing.words().replace('\u{a0}', " "),
            comparable: compared.pairing.is_comparable(),
            questions: compared.pairing.common.len(),
            changes: Changes::between(&compared.before, tonight, &compared.pairing),
        }
    }

    /// `night 30 (2026-11-20)`.
    #[must_use]
    pub fn name(&self) -> String {
        named(self.number, &self.started)
    }
}

/// Compares a night with the last good one before it and with the baseline, and judges the gates. The night is in the
/// history already, or is about to be added; `dir` is the history's folder, `lines` says where the night's items stand in
/// their file, where that is known.
///
/// A night that was accepted by hand stays accepted.
///
/// # Errors
/// [`HistoryError`] where the history cannot be read or the configured baseline is not in it.
pub fn conclude(
    history: &History,
    mut night: NightlyRun,
    experiment: &Experiment,
    dir: &Path,
    lines: Option<&ItemLines>,
) -> Result<Conclusion, HistoryError> {
    let seed = experiment.data.seed;
    let metrics = compared(experiment.gates.iter().filter_map(|gate| gate.metric.metric()));
    let alpha = strictest(&experiment.gates);
    let load = |number: u32| -> Result<Compared, HistoryError> {
        Ok(Compared::new(history.night(number)?, &night, &metrics, alpha, seed))
    };
    let reference = history.last_good(night.number)?.map(load).transpose()?;
    // A baseline is an earlier night; the first night is none to itself.
    let baseline = history.baseline(experiment.nightly.baseline)?.filter(|number| *number < night.number);
    let baseline = match (&reference, baseline) {
        (Some(reference), Some(number)) if reference.before.number == number => Some(reference.clone()),
        (_, number) => number.map(load).transpose()?,
    };
    let good_times = history.good_times(night.number, experiment.nightly.window)?;
    let checks = judge(
        &experiment.gates,
        &Evidence {
            tonight: &night,
            reference: reference.as_ref(),
            baseline: baseline.as_ref(),
            good_times: &good_times,
            max_failed: experiment.limits.max_failed,
        },
    );
    let (losses, gains) = listed(reference.as_ref());
    let flips = {
        let wanted = behind(&checks, reference.as_ref(), baseline.as_ref());
        flips(&night, &wanted, dir, lines)
    };
    night.reference = reference.as_ref().map(|r| r.before.number);
    night.baseline = baseline.as_ref().map(|b| b.before.number);
    let broken = checks.iter().any(Check::is_broken);
    night.verdict = match (broken, night.verdict) {
        (true, Verdict::Accepted) => Verdict::Accepted,
        (true, _) => Verdict::Failed,
        (false, _) => Verdict::Passed,
    };
    night.line = line(&night, &checks, reference.as_ref(), &losses, &gains).replace('\u{a0}', " ");
    let heads = history.heads()?;
    let before = heads.iter().rfind(|head| head.number < night.number);
    let notes = clock_note(before, &night).into_iter().collect();
    Ok(Conclusion {
        before: before.map(|head| head.verdict),
        reference: reference.as_ref().map(|r| ComparisonTarget::new(r, &night)),
        baseline: baseline.as_ref().map(|b| ComparisonTarget::new(b, &night)),
        compared: reference.as_ref().map_or(0, |r| r.differences.len()),
        checks,
        losses,
        gains,
        flips,
        notes,
        night,
    })
}

/// Losses and gains against the last good night: those that chance hardly explains first, then the widest.
fn listed(reference: Option<&Compared>) -> (Vec<Difference>, Vec<Difference>) {
    let mut moved: Vec<&Difference> =
        reference.iter().flat_map(|r| &r.differences).filter(|d| d.difference.abs() > 1e-12).collect();
    moved.sort_by(|a, b| {
        let unsure = |d: &Difference| d.p >= 0.05;
        unsure(a).cmp(&unsure(b)).then(b.share().abs().total_cmp(&a.share().abs()))
    });
    let pick =
        |loss: bool| moved.iter().filter(|d| (d.difference < 0.0) == loss).take(LISTED).map(|d| (*d).clone()).collect();
    (pick(true), pick(false))
}

/// The differences whose questions are shown: those that broke a check, else the largest one of the gates' metrics.
fn behind<'a>(
    checks: &[Check],
    reference: Option<&'a Compared>,
    baseline: Option<&'a Compared>,
) -> Vec<(&'a Compared, &'a Difference)> {
    let of = |check: &Check| {
        let compared = if check.kind == Kind::Drift { baseline? } else { reference? };
        let same = |d: &&Difference| check.metric.metric() == Some(&d.metric) && check.cell.as_ref() == Some(&d.cell);
        Some((compared, compared.differences.iter().find(same)?))
    };
    let mut found: Vec<(&Compared, &Difference)> = Vec::new();
    let mut broken: Vec<&Check> = checks.iter().filter(|c| c.is_broken() && c.kind != Kind::Floor).collect();
    // One chunker in one mode loses much the same questions at every k, by every metric and since either night.
    broken.sort_by(|a, b| weight(b).cmp(&weight(a)).then(width(b).total_cmp(&width(a))));
    for (compared, difference) in broken.into_iter().filter_map(of) {
        let known = |(_, d): &(&Compared, &Difference)| {
            d.cell.chunker == difference.cell.chunker && d.cell.mode == difference.cell.mode
        };
        if !found.iter().any(known) {
            found.push((compared, difference));
        }
    }
    if found.is_empty() {
        let judged = checks.iter().filter(|c| c.kind == Kind::Drop).filter_map(of);
        let moved = judged.filter(|(_, d)| d.difference.abs() > 1e-12);
        found.extend(moved.max_by(|a, b| a.1.share().abs().total_cmp(&b.1.share().abs())));
    }
    found
}

/// What happened tonight comes before what crept in over many nights.
fn weight(check: &Check) -> u8 {
    match check.kind {
        Kind::Drop => 2,
        Kind::Drift => 1,
        _ => 0,
    }
}

/// How far a check's value fell, on a scale of 0..1.
fn width(check: &Check) -> f64 {
    let scale = check.metric.metric().map_or(1.0, Metric::scale);
    check.difference.unwrap_or(0.0).abs() / scale
}

/// The verdict in one line.
fn line(
    night: &NightlyRun,
    checks: &[Check],
    reference: Option<&Compared>,
    losses: &[Difference],
    gains: &[Difference],
) -> String {
    let broken: Vec<&Check> = checks.iter().filter(|check| check.is_broken()).collect();
    let name = night.name();
    if !broken.is_empty() {
        let quality = |check: &&&Check| matches!(check.kind, Kind::Drop | Kind::Drift);
        let widest = (broken.iter().filter(quality))
            .max_by(|a, b| weight(a).cmp(&weight(b)).then(width(a).total_cmp(&width(b))));
        let Some(first) = widest.or(broken.first()) else { return name };
        let more = match broken.len() - 1 {
            0 => String::new(),
            n => format!("; and {}", format::plural(n, "more check")),
        };
        let said = match first.kind {
            Kind::Failed | Kind::LeftOut => first.says.clone(),
            _ => format!("{} {}", first.what, first.says),
        };
        return format!("{name} {}: {said}{more}", night.verdict.name());
    }
    let held = checks.iter().filter(|c| c.state == super::State::Passed).count();
    let unjudged = checks.len() - held;
    let mut line = format!("{name} passed: {} hold", format::plural(held, "check"));
    if held == 1 {
        line.push('s');
    }
    if night.reference.is_none() {
        line.push_str("; there is no good night yet to compare with");
    } else if unjudged > 0 {
        line.push_str(&format!("; {} could not be judged", format::plural(unjudged, "check")));
    }
    let largest =
        losses.first().into_iter().chain(gains.first()).max_by(|a, b| a.share().abs().total_cmp(&b.share().abs()));
    if let Some(compared) = reference {
        line.push_str(&format!("; {}", since(compared, largest)));
    }
    line
}

/// What a night that passed is like beside the last good one: questions that came or went, and the largest change.
fn since(compared: &Compared, largest: Option<&Difference>) -> String {
    let Compared { before, pairing, differences } = compared;
    let number = before.number;
    if !pairing.is_comparable() {
        return format!("not comparable with night {number}: no question in common");
    }
    if differences.is_empty() {
        return format!("not comparable with night {number}: no score in common");
    }
    let scores = match largest {
        Some(d) => format!(
            "largest change since night {number}: {} of {} {}{}",
            d.metric.label(),
            d.cell.words(),
            d.metric.unit().difference(d.difference),
            d.metric.unit().points()
        ),
        None => format!("no score changed since night {number}"),
    };
    match pairing.moved() {
        None => scores,
        Some(moved) => format!("{moved}; {scores}"),
    }
}

/// Nights are ordered by number; a clock that was moved back is said, since dates then mislead.
fn clock_note(before: Option<&RunHeader>, night: &NightlyRun) -> Option<String> {
    // Times of one form in UTC sort as text.
    before.filter(|head| night.started < head.started).map(|head| {
        format!(
            "The clock said {} when {} began, earlier than {} of night {}: it was moved back. Nights are ordered by their numbers.",
            night.started,
            named(night.number, ""),
            head.started,
            head.number
        )
    })
}
