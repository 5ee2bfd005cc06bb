#![allow(clippy::unwrap_used)]

use super::{Check, Evidence, Gate, Kind, State, judge, strictest};
use crate::compare::Compared;
use crate::night::{Asked, NightlyCell, NightlyRun, Timing};
use pericope_eval::cell::{CellKey, Cutoff};
use pericope_eval::metric::Metric;

/// A night of one cell a chunker, with these scores.
fn night(number: u32, scores: &[(&str, Vec<f64>)]) -> NightlyRun {
    let n = scores.first().map_or(0, |(_, values)| values.len());
    let asked = |i: usize| Asked { id: format!("q{i}"), text: String::new(), document: String::new(), sum: "s".into() };
    let cell = |(chunker, values): &(&str, Vec<f64>)| NightlyCell {
        key: CellKey { chunker: (*chunker).into(), mode: "dense".into(), cutoff: Cutoff::K(3) },
        scores: [("span_recall".into(), values.iter().map(|x| Some(*x)).collect())].into(),
        ..NightlyCell::default()
    };
    NightlyRun {
        number,
        questions: (0..n).map(asked).collect(),
        cells: scores.iter().map(cell).collect(),
        ..NightlyRun::default()
    }
}

fn gate(toml: &str) -> Gate {
    toml::from_str(toml).unwrap()
}

fn judged(gates: &[Gate], tonight: &NightlyRun, before: Option<&NightlyRun>) -> Vec<Check> {
    let alpha = strictest(gates);
    let compared = before.map(|before| Compared::new(before.clone(), tonight, &[Metric::SPAN_RECALL], alpha, 7));
    let evidence =
        Evidence { tonight, reference: compared.as_ref(), baseline: None, good_times: &[], max_failed: 0.02 };
    judge(gates, &evidence)
}

/// `n` questions of which the first `lost` are not found.
fn found(n: usize, lost: usize) -> Vec<f64> {
    (0..n).map(|i| if i < lost { 0.0 } else { 1.0 }).collect()
}

#[test]
fn a_fall_counts_only_where_it_is_large_and_no_chance() {
    let gates = [gate("metric = \"span_recall\"\nmax_drop = 0.02\np = 0.01")];
    let before = night(1, &[("a", found(200, 0))]);
    let state = |n: usize, lost: usize| {
        let before = night(1, &[("a", found(n, 0))]);
        let check = judged(&gates, &night(2, &[("a", found(n, lost))]), Some(&before)).pop().unwrap();
        (check.state, check.says.replace('\u{a0}', " "))
    };
    assert_eq!(state(200, 0), (State::Passed, "did not change since night 1".into()));
    // Two in a hundred may go.
    assert_eq!(state(200, 4).0, State::Passed);
    let (broken, says) = state(200, 20);
    assert_eq!(broken, State::Failed);
    assert_eq!(says, "fell by 10.0 points (100.0 % to 90.0 %, p < 0.001) since night 1; 2.0 points allowed");
    // One of ten is ten points, and may be chance.
    let (held, says) = state(10, 1);
    assert!(held == State::Passed && says.contains("within the noise"), "{says}");
    // A gain of any size is none of the gate's business.
    let check = judged(&gates, &before, Some(&night(1, &[("a", found(200, 60))]))).pop().unwrap();
    assert!(check.state == State::Passed && check.says.starts_with("rose by 30.0"), "{}", check.says);
    let first = judged(&gates, &before, None).pop().unwrap();
    assert!(first.state == State::Inconclusive && first.says.contains("no good night yet"));
}

#[test]
fn a_drift_without_a_baseline_is_said_not_to_be_judged() {
    let tonight = night(2, &[("a", found(200, 0))]);
    let asked = judged(&[gate("metric = \"span_recall\"\nmax_drift = 0.02")], &tonight, None);
    assert_eq!((asked.len(), asked[1].kind, asked[1].state), (2, Kind::Drift, State::Inconclusive));
    assert!(asked[1].says.contains("there is no baseline yet"), "{}", asked[1].says);
    // Nobody who asks for max_drop alone misses a baseline.
    let drop = judged(&[gate("metric = \"span_recall\"\nmax_drop = 0.02")], &tonight, None);
    assert_eq!((drop.len(), drop[1].kind), (2, Kind::Drop));
}

#[test]
fn many_checks_are_corrected_together() {
    // Eight of eight questions lost: p = 2 / 2^8 = 0.0078, below 0.01 alone, above it among others.
    let scores = |lost: usize| -> Vec<(&str, Vec<f64>)> {
        ["a", "b", "c"].into_iter().map(|name| (name, found(300, if name == "a" { lost } else { 0 }))).collect()
    };
    let (before, tonight) = (night(1, &scores(0)), night(2, &scores(8)));
    let all = gate("metric = \"span_recall\"\nmax_drop = 0.02\np = 0.01");
    let alone = Gate { chunker: Some("a".into()), ..all.clone() };
    let broken = |gates: &[Gate]| judged(gates, &tonight, Some(&before)).iter().filter(|c| c.is_broken()).count();
    assert_eq!((broken(std::slice::from_ref(&alone)), broken(std::slice::from_ref(&all))), (1, 0));
    // The p-value that is shown is the corrected one.
    let checks = judged(&[all], &tonight, Some(&before));
    assert!((checks[1].p.unwrap() - 3.0 * 2.0 / 256.0).abs() < 1e-12);
}

#[test]
fn a_strict_gate_can_fail_among_many_cells() {
    let names: Vec<String> = (0..12).map(|i| format!("c{i}")).collect();
    let scores =
        |lost: usize| -> Vec<(&str, Vec<f64>)> { names.iter().map(|name| (name.as_str(), found(200, lost))).collect() };
    let (before, tonight) = (night(1, &scores(0)), night(2, &scores(100)));
    let broken = |gate: Gate| judged(&[gate], &tonight, Some(&before)).iter().filter(|c| c.is_broken()).count();
    // Twelve times the least p-value of 10,000 patterns would be 0.0012.
    for p in ["0.01", "0.001"] {
        assert_eq!(broken(gate(&format!("metric = \"span_recall\"\nmax_drop = 0.02\np = {p}"))), 12, "p = {p}");
    }
}

#[test]
fn floors_and_failed_items() {
    let mut tonight = night(1, &[("a", found(100, 40))]);
    let floor = gate("metric = \"span_recall\"\nmin = 0.6");
    assert_eq!(judged(std::slice::from_ref(&floor), &tonight, None)[1].state, State::Passed);
    let high = Gate { min: Some(0.61), ..floor };
    let check = &judged(&[high], &tonight, None)[1];
    assert!(
        check.is_broken() && check.says.replace('\u{a0}', " ") == "is 60.0 %, below the floor of 61.0 %",
        "{}",
        check.says
    );
    tonight.cells[0].failed = 3;
    let checks = judged(&[gate("metric = \"failed\"\nmax = 0.05")], &tonight, None);
    // limits.max_failed = 0.02 is always checked, first.
    assert_eq!((checks[0].kind, checks[0].state, checks[1].state), (Kind::Failed, State::Failed, State::Passed));
    assert_eq!(checks[0].says.replace('\u{a0}', " "), "3 of 100 items failed, 2.0 % allowed");
}

fn times(a: f64, b: f64) -> Vec<Timing> {
    let time = |chunker: &str, value: f64| Timing {
        chunker: chunker.into(),
        what: "segment_seconds".into(),
        value,
        ..Timing::default()
    };
    vec![time("a", a), time("b", b)]
}

#[test]
fn speed_is_a_quotient_of_one_night_against_its_median() {
    let gates = [gate("metric = \"segment_seconds\"\nchunker = \"a\"\nrelative_to = \"b\"\nmax_ratio = 1.5")];
    let past: Vec<Vec<Timing>> = [2.0, 2.1, 1.9, 2.05].iter().map(|ratio| times(10.0 * ratio, 10.0)).collect();
    let check = |a: f64, b: f64, past: &[Vec<Timing>]| {
        let tonight = NightlyRun { timings: times(a, b), ..night(9, &[]) };
        let evidence =
            Evidence { tonight: &tonight, reference: None, baseline: None, good_times: past, max_failed: 0.02 };
        let check = judge(&gates, &evidence).pop().unwrap();
        (check.state, check.says)
    };
    assert_eq!(check(20.0, 10.0, &past).0, State::Passed);
    // A machine that is four times slower tonight is no regression.
    assert_eq!(check(80.0, 40.0, &past).0, State::Passed);
    let (state, says) = check(40.0, 10.0, &past);
    assert!(state == State::Failed && says.contains("1.98 times as long"), "{says}");
    // Times of a hundredth of a second say nothing.
    let short: Vec<Vec<Timing>> = (0..4).map(|_| times(0.01, 0.01)).collect();
    let (state, says) = check(0.03, 0.01, &short);
    assert!(state == State::Passed && says.contains("too short to judge"), "{says}");
    // Neither do quotients that waver as much anyway.
    let wild: Vec<Vec<Timing>> = [1.0, 4.0, 2.0, 8.0, 1.5].iter().map(|ratio| times(10.0 * ratio, 10.0)).collect();
    let (state, says) = check(40.0, 10.0, &wild);
    assert!(state == State::Passed && says.contains("wavers"), "{says}");
    let (state, says) = check(40.0, 10.0, &past[..2]);
    assert!(state == State::Inconclusive && says.contains("needs 3 good nights"), "{says}");
}
