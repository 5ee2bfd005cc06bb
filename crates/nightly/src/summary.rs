//! `summary.md`: the night in short, for chat and for the step summaries of continuous integration.

use std::fmt::Write;

use super::compare::Difference;
use super::conclude::Conclusion;
use super::gates::{Check, State};
use super::latest::report_link;
use super::night::Verdict;
use pericope_eval::format;

/// Rows of a table at most.
const ROWS: usize = 12;

pub(super) fn markdown(conclusion: &Conclusion, base: &str, report: bool) -> String {
    let night = &conclusion.night;
    let mark = match night.verdict {
        Verdict::Passed => "✅ passed",
        Verdict::Failed => "❌ failed",
        Verdict::Accepted => "☑️ failed, accepted",
    };
    let mut out =
        format!("# {}, night {}: {mark}\n\n{}.\n", escaped(&night.experiment), night.number, escaped(&night.line));
    for note in &conclusion.notes {
        let _ = write!(out, "\n> {}\n", escaped(note));
    }
    checks(&mut out, &conclusion.checks);
    if let Some(against) = &conclusion.reference {
        let _ = write!(out, "\n## Since {}\n\n{}.\n", against.name(), format::capitalised(&escaped(&against.pairing)));
        let lines = against.changes.lines();
        if lines.is_empty() {
            out.push_str("\nNothing else changed that is known of.\n");
        } else {
            out.push_str("\nWhat changed:\n\n");
            for line in &lines {
                let _ = writeln!(out, "- {}", escaped(line));
            }
        }
        differences(&mut out, "Losses", &conclusion.losses);
        differences(&mut out, "Gains", &conclusion.gains);
    }
    flips(&mut out, conclusion);
    let _ = write!(out, "\n[All nights]({base}index.html)");
    if report {
        let _ = write!(out, " · [this night's full report]({base}{})", report_link(night.number));
    }
    out.push('\n');
    out.replace('\u{a0}', " ")
}

fn checks(out: &mut String, checks: &[Check]) {
    let mut shown: Vec<&Check> = checks.iter().collect();
    shown.sort_by_key(|check| match check.state {
        State::Broken => 0,
        State::Unjudged => 1,
        State::Held => 2,
    });
    out.push_str("\n| check | outcome | |\n| --- | --- | --- |\n");
    for check in shown.iter().take(ROWS) {
        let state = match check.state {
            State::Broken => "**broken**",
            State::Held => "holds",
            State::Unjudged => "not judged",
        };
        let _ = writeln!(out, "| {} | {state} | {} |", escaped(&check.what), escaped(&check.says));
    }
    if shown.len() > ROWS {
        let _ = write!(out, "\n{} on the page.\n", format::plural(shown.len() - ROWS, "more check"));
    }
}

fn differences(out: &mut String, title: &str, list: &[Difference]) {
    if list.is_empty() {
        return;
    }
    let _ = write!(
        out,
        "\n### {title}\n\n| | metric | before | tonight | difference | p |\n| --- | --- | ---: | ---: | ---: | ---: |\n"
    );
    for d in list.iter().take(ROWS) {
        let metric = &d.metric;
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            escaped(&d.cell.words()),
            metric.label(),
            metric.unit().value(d.before),
            metric.unit().value(d.tonight),
            metric.unit().difference(d.difference),
            format::p_value(d.p)
        );
    }
}

fn flips(out: &mut String, conclusion: &Conclusion) {
    let Some(group) = conclusion.flips.first() else { return };
    let metric = &group.metric;
    let _ = write!(out, "\n### Questions: {} of {}\n\n", metric.label(), escaped(&group.cell.words()));
    for flip in &group.questions {
        let _ = writeln!(
            out,
            "- {} ({} → {})",
            escaped(&format::clipped(&flip.question, 160)),
            metric.unit().value(flip.before),
            metric.unit().value(flip.tonight)
        );
    }
}

/// Text that Markdown takes as text, on one line.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '~' | '!' => {
                out.push('\\');
                out.push(letter);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            other if other.is_control() => out.push(' '),
            other => out.push(other),
        }
    }
    out
}
