use super::{Check, Evidence, Gate, Kind, Measure, State};
use crate::compare::{Compared, Difference};
use crate::night::NightlyCell;
use pericope_eval::cell::CellKey;
use pericope_eval::format;
use pericope_eval::metric::{Metric, Unit};
use pericope_eval::stats;

/// Where a mean that should be equal differs in its last bits.
const SAME: f64 = 1e-12;

/// What a gate on a metric of questions says of each cell that it covers. Falls hold their raw p-value until
/// [`correct`].
pub(super) fn checks(gate: &Gate, metric: &Metric, evidence: &Evidence<'_>) -> Vec<Check> {
    let mut found = Vec::new();
    for cell in evidence.tonight.cells.iter().filter(|cell| gate.covers(&cell.key)) {
        if let Some(limit) = gate.max_drop {
            found.push(fall(gate, metric, cell, Kind::Drop, limit, evidence.reference));
        }
        // Without a baseline, only what was asked of it is missed.
        let drift = gate.max_drift.or(gate.max_drop.filter(|_| evidence.baseline.is_some()));
        if let Some(limit) = drift {
            found.push(fall(gate, metric, cell, Kind::Drift, limit, evidence.baseline));
        }
        if let Some(limit) = gate.min {
            found.push(floor(metric, cell, limit));
        }
    }
    found
}

fn fall(gate: &Gate, metric: &Metric, cell: &NightlyCell, kind: Kind, limit: f64, with: Option<&Compared>) -> Check {
    let mut check = Check {
        what: what(metric, &cell.key),
        kind,
        state: State::Inconclusive,
        metric: Measure::Metric(metric.clone()),
        cell: Some(cell.key.clone()),
        against: with.map(|compared| compared.before.number),
        limit,
        before: None,
        tonight: cell.mean(metric),
        difference: None,
        p: None,
        alpha: Some(gate.alpha()),
        n: None,
        says: String::new(),
    };
    let Some(compared) = with else {
        check.says = match kind {
            Kind::Drift => "there is no baseline yet to compare with: the first good night that nightly.baseline names, or one that --pin names".into(),
            _ => "there is no good night yet to compare with".into(),
        };
        return check;
    };
    if !compared.pairing.is_comparable() {
        check.says = compared.pairing.words();
        return check;
    }
    let same = |d: &&Difference| d.metric == *metric && d.cell == cell.key;
    match compared.differences.iter().find(same) {
        Some(found) => {
            check.before = Some(found.before);
            check.tonight = Some(found.tonight);
            check.difference = Some(found.difference);
            check.p = Some(found.p);
            check.n = Some(found.n);
        }
        None => {
            let by = if metric.key().starts_with("judge") { " by the same judge" } else { "" };
            check.says = format!("not comparable: night {} has no such score{by}", compared.before.number);
        }
    }
    check
}

fn floor(metric: &Metric, cell: &NightlyCell, limit: f64) -> Check {
    let unit = metric.unit();
    let tonight = cell.mean(metric);
    let (state, says) = match tonight {
        Some(x) if x < limit - SAME => {
            (State::Failed, format!("is {}, below the floor of {}", unit.value(x), unit.value(limit)))
        }
        Some(x) => (State::Passed, format!("is {}, the floor is {}", unit.value(x), unit.value(limit))),
        None => (State::Inconclusive, "was not measured".into()),
    };
    Check {
        what: what(metric, &cell.key),
        kind: Kind::Floor,
        state,
        metric: Measure::Metric(metric.clone()),
        cell: Some(cell.key.clone()),
        against: None,
        limit,
        before: None,
        tonight,
        difference: None,
        p: None,
        alpha: None,
        n: None,
        says,
    }
}

/// Corrects the p-values of all falls, drops and drifts each as a family (Holm), and says which of them count.
pub(super) fn correct(checks: &mut [Check]) {
    for kind in [Kind::Drop, Kind::Drift] {
        let tested: Vec<usize> =
            checks.iter().enumerate().filter(|(_, c)| c.kind == kind && c.p.is_some()).map(|(i, _)| i).collect();
        let raw: Vec<f64> = tested.iter().filter_map(|&i| checks.get(i)?.p).collect();
        for (i, p) in tested.into_iter().zip(stats::holm(&raw)) {
            let Some(check) = checks.get_mut(i) else { continue };
            check.p = Some(p);
            settle(check);
        }
    }
}

fn settle(check: &mut Check) {
    let (Some(difference), Some(p), Some(alpha)) = (check.difference, check.p, check.alpha) else { return };
    let unit = check.metric.metric().map_or(Unit::Plain, Metric::unit);
    let beyond = difference < -check.limit - SAME;
    let moved = match (check.before, check.tonight) {
        _ if difference.abs() <= SAME => "did not change".to_owned(),
        // A change too small for the digits shown has no direction worth a word.
        (Some(_), Some(tonight)) if !unit.bare(difference).bytes().any(|b| (b'1'..=b'9').contains(&b)) => {
            format!("hardly changed ({}, {})", unit.value(tonight), format::p_sentence(p))
        }
        (Some(before), Some(tonight)) => format!(
            "{} by {}{} ({} to {}, {})",
            if difference < 0.0 { "fell" } else { "rose" },
            unit.bare(difference.abs()),
            unit.points(),
            unit.value(before),
            unit.value(tonight),
            format::p_sentence(p)
        ),
        _ => return,
    };
    let (state, why) = match (beyond, p < alpha) {
        (true, true) => (State::Failed, format!("; {}{} allowed", unit.bare(check.limit), unit.points())),
        (true, false) => (State::Passed, "; within the noise of so few or so uneven questions".to_owned()),
        (false, _) => (State::Passed, String::new()),
    };
    check.state = state;
    let since = check.against.map_or_else(String::new, |night| format!(" since night {night}"));
    check.says = format!("{moved}{since}{why}");
}

fn what(metric: &Metric, cell: &CellKey) -> String {
    format!("{} of {}", metric.label(), cell.words())
}
