//! The checks, and what was gained and lost.

use super::Parts;
use crate::kit::markup::Markup;
use crate::kit::section as wrap;
use crate::kit::table::{Head, Row, Value, table as plain};
use pericope_eval::format;
use pericope_nightly::compare::Difference;
use pericope_nightly::{Check, State};

/// So many checks that hold are shown openly; more are folded.
const OPEN: usize = 8;

/// Every check, the broken ones first; those that hold are folded where they are many.
pub(super) fn section(m: &mut Markup, parts: &Parts<'_>) {
    wrap(m, "checks", "Checks", |m| {
        let of = |state: State| parts.conclusion.checks.iter().filter(move |check| check.state == state);
        let held = of(State::Held).count();
        m.leaf(
            "p",
            &[("class", "prose")],
            "A fall counts where it is larger than the gate allows and a permutation test, paired by question and \
             corrected for the number of checks (Holm), says that chance hardly makes it.",
        );
        list(m, of(State::Broken).chain(of(State::Unjudged)));
        if held <= OPEN {
            list(m, of(State::Held));
        } else {
            m.element("details", &[], |m| {
                m.leaf("summary", &[], &format!("{} hold", format::plural(held, "check")));
                list(m, of(State::Held));
            });
        }
    });
}

fn list<'a>(m: &mut Markup, checks: impl Iterator<Item = &'a Check>) {
    let mut checks = checks.peekable();
    if checks.peek().is_none() {
        return;
    }
    m.element("ul", &[("class", "checks")], |m| {
        for check in checks {
            let (class, word) = match check.state {
                State::Broken => ("broken", "broken"),
                State::Held => ("held", "holds"),
                State::Unjudged => ("unjudged", "not judged"),
            };
            m.element("li", &[("class", class)], |m| {
                m.leaf("span", &[("class", "state")], word);
                m.element("span", &[("class", "what")], |m| {
                    m.leaf("b", &[], &check.what);
                    m.text(" ");
                    m.leaf("span", &[("class", "says")], &check.says);
                });
            });
        }
    });
    m.line();
}

/// What was gained and lost since the last good night.
pub(super) fn differences(m: &mut Markup, parts: &Parts<'_>) {
    wrap(m, "differences", "Gains and losses", |m| {
        let conclusion = parts.conclusion;
        let Some(against) = &conclusion.reference else {
            m.leaf("p", &[], "There is no good night yet to compare with.");
            return;
        };
        if !against.comparable {
            m.leaf("p", &[("class", "error")], &format!("{}.", format::capitalised(&against.pairing)));
            return;
        }
        if conclusion.losses.is_empty() && conclusion.gains.is_empty() {
            m.leaf("p", &[], &format!("Every score is the same as on {}.", against.name()));
            return;
        }
        let intro = format!(
            "Against {}, {}; {} looked at, those that chance hardly explains first.",
            against.name(),
            against.pairing,
            format::plural(conclusion.compared, "difference")
        );
        m.leaf("p", &[("class", "prose")], &intro);
        for (title, list) in [("Losses", &conclusion.losses), ("Gains", &conclusion.gains)] {
            if list.is_empty() {
                m.leaf("h3", &[], title);
                m.leaf("p", &[("class", "note")], "None.");
                continue;
            }
            m.leaf("h3", &[], title);
            let rows: Vec<Row> = list.iter().map(|d| row(parts, d)).collect();
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
            plain(m, &format!("{title} against {}", against.name()), &heads, &rows);
        }
    });
}

fn row(parts: &Parts<'_>, d: &Difference) -> Row {
    let metric = &d.metric;
    Row {
        head: d.cell.chunker.clone(),
        place: Some(super::place(parts, &d.cell.chunker)),
        values: vec![
            Value::words(d.cell.setting_words()),
            Value::words(metric.label()),
            Value::number(metric.unit().value(d.before), d.before),
            Value::number(metric.unit().value(d.tonight), d.tonight),
            Value::number(metric.unit().difference(d.difference), d.share()).strong(d.p < 0.05),
            Value::number(format::p_value(d.p), d.p),
            Value::number(format::count(d.wins), d.wins as f64),
            Value::number(format::count(d.losses), d.losses as f64),
            Value::number(format::count(d.n), d.n as f64),
        ],
        opens: false,
        data: Vec::new(),
    }
}
