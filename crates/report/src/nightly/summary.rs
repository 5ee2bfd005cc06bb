//! `summary.md`: the night in short, for chat and for the step summaries of continuous integration.

use pericope_eval::format;
use pericope_nightly::compare::Difference;
use pericope_nightly::{Check, Conclusion, State, Verdict, report_link};

use crate::kit::markdown::{Inline, Markdown, link, strong};

/// Rows of a table at most.
const ROWS: usize = 12;

/// Returns the night in short; `base` is where the history's folder can be read, and `report` says whether the night's
/// full report is there.
pub(crate) fn summary(conclusion: &Conclusion, base: &str, report: bool) -> String {
    let night = &conclusion.night;
    let mark = match night.verdict {
        Verdict::Passed => "✅ passed",
        Verdict::Failed => "❌ failed",
        Verdict::Accepted => "☑️ failed, accepted",
    };
    let mut out = Markdown::default();
    out.heading(1, &format!("{}, night {}: {mark}", night.experiment, night.number));
    out.paragraph(format!("{}.", night.line));
    conclusion.notes.iter().for_each(|note| out.quote(note));
    checks(&mut out, &conclusion.checks);
    if let Some(against) = &conclusion.reference {
        out.heading(2, &format!("Since {}", against.name()));
        out.paragraph(format!("{}.", format::capitalised(&against.pairing)));
        let lines = against.changes.lines();
        out.paragraph(if lines.is_empty() { "Nothing else changed that is known of." } else { "What changed:" });
        out.bullets(lines);
        differences(&mut out, "Losses", &conclusion.losses);
        differences(&mut out, "Gains", &conclusion.gains);
    }
    flips(&mut out, conclusion);
    let mut links = link("All nights", &format!("{base}index.html"));
    if report {
        let own = format!("{base}{}", report_link(night.number));
        links = links + " · ".into() + link("this night's full report", &own);
    }
    out.paragraph(links);
    out.finish().replace('\u{a0}', " ")
}

fn checks(out: &mut Markdown, checks: &[Check]) {
    let mut shown: Vec<&Check> = checks.iter().collect();
    shown.sort_by_key(|check| match check.state {
        State::Failed => 0,
        State::Inconclusive => 1,
        State::Passed => 2,
    });
    let row = |check: &&Check| -> Vec<Inline> {
        let state = match check.state {
            State::Failed => strong("failed"),
            State::Passed => "passed".into(),
            State::Inconclusive => "inconclusive".into(),
        };
        vec![(&check.what).into(), state, (&check.says).into()]
    };
    out.table("lll", &["check", "outcome", ""], shown.iter().take(ROWS).map(row));
    if shown.len() > ROWS {
        out.paragraph(format!("{} on the page.", format::plural(shown.len() - ROWS, "more check")));
    }
}

fn differences(out: &mut Markdown, title: &str, list: &[Difference]) {
    if list.is_empty() {
        return;
    }
    let row = |d: &Difference| {
        let unit = d.metric.unit();
        vec![
            d.cell.words(),
            d.metric.label(),
            unit.value(d.before),
            unit.value(d.tonight),
            unit.difference(d.difference),
            format::p_value(d.p),
        ]
    };
    out.heading(3, title);
    out.table("ll", &["", "metric", "before", "tonight", "difference", "p"], list.iter().take(ROWS).map(row));
}

fn flips(out: &mut Markdown, conclusion: &Conclusion) {
    let Some(group) = conclusion.flips.first() else { return };
    let unit = group.metric.unit();
    out.heading(3, &format!("Questions: {} of {}", group.metric.label(), group.cell.words()));
    out.bullets(group.questions.iter().map(|flip| {
        let question = format::clipped(&flip.question, 160);
        format!("{question} ({} → {})", unit.value(flip.before), unit.value(flip.tonight))
    }));
}
