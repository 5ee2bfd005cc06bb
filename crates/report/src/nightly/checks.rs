//! The checks, and what was gained and lost.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_nightly::compare::Difference;
use pericope_nightly::{Check, ComparisonTarget, PageParts as Parts, State};

use super::curves::place;
use crate::kit::{Head, Row, Value, section as wrap, table};

/// So many checks that hold are shown openly; more are folded.
const OPEN: usize = 8;

/// Every check, the broken ones first; those that hold are folded where they are many.
pub(super) fn section(parts: &Parts<'_>) -> Markup {
    let of = |state: State| parts.conclusion.checks.iter().filter(move |check| check.state == state);
    let held = of(State::Passed).count();
    let body = html! {
        p class="prose" {
            "A fall counts where it is larger than the gate allows and a permutation test, paired by question and \
             corrected for the number of checks (Holm), says that chance hardly makes it."
        }
        (list(of(State::Failed).chain(of(State::Inconclusive))))
        @if held <= OPEN {
            (list(of(State::Passed)))
        } @else {
            details { summary { (format::plural(held, "check")) " hold" } (list(of(State::Passed))) }
        }
    };
    wrap("checks", "Checks", body)
}

fn list<'a>(checks: impl Iterator<Item = &'a Check>) -> Markup {
    let mut checks = checks.peekable();
    let words = |state: State| match state {
        State::Failed => ("broken", "failed"),
        State::Passed => ("held", "passed"),
        State::Inconclusive => ("unjudged", "inconclusive"),
    };
    html! {
        @if checks.peek().is_some() {
            ul class="checks" {
                @for check in checks {
                    @let (class, word) = words(check.state);
                    li class=(class) {
                        span class="state" { (word) }
                        span class="what" { b { (check.what) } " " span class="says" { (check.says) } }
                    }
                }
            }
            "\n"
        }
    }
}

/// What was gained and lost since the last good night.
pub(super) fn differences(parts: &Parts<'_>) -> Markup {
    let conclusion = parts.conclusion;
    let body = html! {
        @match &conclusion.reference {
            None => p { "There is no good night yet to compare with." },
            Some(against) if !against.comparable => p class="error" { (format::capitalised(&against.pairing)) "." },
            Some(against) if conclusion.compared == 0 =>
                p class="error" { "No score can be compared with " (against.name()) ": the two have none in common." },
            Some(against) if conclusion.losses.is_empty() && conclusion.gains.is_empty() =>
                p { "Every score is the same as on " (against.name()) "." },
            Some(against) => {
                p class="prose" {
                    "Against " (against.name()) ", " (against.pairing) "; "
                    (format::plural(conclusion.compared, "difference"))
                    " looked at, those that chance hardly explains first."
                }
                (moved(parts, "Losses", &conclusion.losses, against))
                (moved(parts, "Gains", &conclusion.gains, against))
            },
        }
    };
    wrap("differences", "Gains and losses", body)
}

fn moved(parts: &Parts<'_>, title: &str, list: &[Difference], against: &ComparisonTarget) -> Markup {
    let heads = [
        Head::words("chunker"),
        Head::words("at"),
        Head::words("metric"),
        Head::number("before"),
        Head::number("tonight"),
        Head::number("difference"),
        Head::number("p").explained("Permutation test, two-sided, not corrected."),
        Head::number("better"),
        Head::number("worse"),
        Head::number("questions"),
    ];
    let rows: Vec<Row> = list.iter().map(|d| row(parts, d)).collect();
    html! {
        h3 { (title) }
        @if rows.is_empty() {
            p class="note" { "None." }
        } @else {
            (table(&format!("{title} against {}", against.name()), &heads, &rows))
        }
    }
}

fn row(parts: &Parts<'_>, d: &Difference) -> Row {
    let unit = d.metric.unit();
    let values = vec![
        Value::words(d.cell.setting_words()),
        Value::words(d.metric.label()),
        Value::number(unit.value(d.before), d.before),
        Value::number(unit.value(d.tonight), d.tonight),
        Value::number(unit.difference(d.difference), d.share()).strong(d.p < 0.05),
        Value::number(format::p_value(d.p), d.p),
        Value::number(format::count(d.wins), d.wins as f64),
        Value::number(format::count(d.losses), d.losses as f64),
        Value::number(format::count(d.n), d.n as f64),
    ];
    Row::of(place(parts, &d.cell.chunker), &d.cell.chunker, values)
}
