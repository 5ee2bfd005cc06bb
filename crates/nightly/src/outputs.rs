//! `junit.xml`, `badge.svg` and `metrics.prom`: the night for continuous integration, pages and monitoring.

use std::collections::HashMap;

use pericope_eval::data::Unique;
use pericope_eval::format;
use pericope_eval::outputs::{
    Colour, OpenMetrics, Outcome, Suite, TestCase, badge, cell_labels, chunker_figures, junit, label,
};

use super::conclude::Conclusion;
use super::gates::{Check, Kind, State};
use super::night::Verdict;

/// One test case a check. Broken checks of a night that was accepted by hand are skipped: they no longer count.
pub(super) fn junit_xml(conclusion: &Conclusion) -> String {
    let night = &conclusion.night;
    let mut cases: Vec<TestCase> = conclusion.checks.iter().map(|check| case(check, night.verdict)).collect();
    number(&mut cases);
    junit(&Suite {
        name: &format!("pericope nightly: {}", night.experiment),
        started: &night.started,
        seconds: night.seconds,
        cases: &cases,
    })
}

/// Numbers the cases of one class that have one name, as two gates on the same cell have: readers keep one of a name.
fn number(cases: &mut [TestCase]) {
    let mut names: HashMap<String, Unique> = HashMap::new();
    for case in cases {
        let of_class = names.entry(case.class.clone()).or_default();
        case.name = of_class.name(&case.name, |name, number| format!("{name} ({number})"));
    }
}

fn case(check: &Check, verdict: Verdict) -> TestCase {
    let says = plain(&check.says);
    let outcome = match (check.state, verdict) {
        (State::Passed, _) => Outcome::Passed,
        (State::Failed, Verdict::Accepted) => Outcome::Skipped(format!("accepted by hand: {says}")),
        (State::Failed, _) => Outcome::Failed(says),
        (State::Inconclusive, _) => Outcome::Skipped(says),
    };
    let against = check.against.map(f64::from);
    let facts = [
        ("against_night", against),
        ("before", check.before),
        ("tonight", check.tonight),
        ("difference", check.difference),
        ("limit", Some(check.limit)),
        ("p", check.p),
    ];
    TestCase {
        // A drop and a drift of one cell have the same words, and different classes.
        name: plain(&check.what),
        class: format!("nightly.{}", kind(check.kind)),
        outcome,
        properties: facts.into_iter().filter_map(|(name, value)| Some((name, value?.to_string()))).collect(),
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Drop => "drop",
        Kind::Drift => "drift",
        Kind::Floor => "floor",
        Kind::Failed => "failed",
        Kind::LeftOut => "left_out",
        Kind::Speed => "speed",
    }
}

/// Spaces that do not break are for pages.
fn plain(text: &str) -> String {
    text.replace('\u{a0}', " ")
}

/// The verdict as a badge.
pub(super) fn badge_svg(conclusion: &Conclusion) -> String {
    let held = conclusion.checks.iter().filter(|check| check.state == State::Passed).count();
    let broken = conclusion.checks.iter().filter(|check| check.is_broken()).count();
    let (message, colour) = match conclusion.night.verdict {
        Verdict::Passed => (format!("{} passed", format::plural(held, "check")), Colour::Green),
        Verdict::Failed => (format!("{} failed", format::plural(broken, "check")), Colour::Red),
        Verdict::Accepted => (format!("{} failed, accepted", format::plural(broken, "check")), Colour::Amber),
    };
    badge(&conclusion.night.experiment, &plain(&message), colour)
}

/// The figures of the night: verdict, checks, scores, sizes and times.
pub(super) fn metrics(conclusion: &Conclusion) -> String {
    let night = &conclusion.night;
    let name = night.experiment.as_str();
    let whole = [label("experiment", name)];
    let mut figures = OpenMetrics::default();
    for (family, help, value) in [
        ("pericope_night", "The number of the last night.", f64::from(night.number)),
        (
            "pericope_night_good",
            "1 where it passed or was accepted, else 0.",
            f64::from(u8::from(night.verdict.is_good())),
        ),
        ("pericope_night_seconds", "How long it took.", night.seconds),
        ("pericope_questions", "Questions asked.", night.questions.len() as f64),
        ("pericope_documents", "Documents in the corpus.", night.documents.len() as f64),
        ("pericope_failed_items", "Items without a result.", night.failed as f64),
        ("pericope_left_out", "Parts of the data that could not be used.", night.left_out.unwrap_or(0) as f64),
    ] {
        figures.gauge(family, help);
        figures.sample(&whole, value);
    }
    checks(&mut figures, name, &conclusion.checks);
    chunker_figures(&mut figures, name, &night.chunkers);
    figures.gauge("pericope_score", "Mean score: shares 0 to 1, judge 0 to 10; more is better.");
    for cell in &night.cells {
        for metric in cell.scores.keys() {
            let Some(mean) = cell.mean(metric) else { continue };
            let mut labels = cell_labels(name, &cell.key);
            labels.push(label("metric", metric.key()));
            figures.sample(&labels, mean);
        }
    }
    figures.finish()
}

/// The checks by their place in the configuration, since two gates may look at the same cell.
fn checks(figures: &mut OpenMetrics, experiment: &str, checks: &[Check]) {
    let labels = |(place, check): (usize, &Check)| {
        vec![
            label("experiment", experiment),
            label("check", format!("{} {}", place + 1, plain(&check.what))),
            label("kind", kind(check.kind)),
        ]
    };
    figures.gauge(
        "pericope_check_holds",
        "1 where a check holds, 0 where it is broken; absent where it cannot be judged.",
    );
    for check in checks.iter().enumerate().filter(|(_, check)| check.state != State::Inconclusive) {
        figures.sample(&labels(check), f64::from(u8::from(check.1.state == State::Passed)));
    }
    figures.gauge(
        "pericope_check_change",
        "The night's value minus the one that it is compared with; for speed their quotient.",
    );
    for (place, check) in checks.iter().enumerate() {
        if let Some(difference) = check.difference {
            figures.sample(&labels((place, check)), difference);
        }
    }
}
