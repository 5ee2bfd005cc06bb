//! All nights: a strip of verdicts, the newest as a table, and those before that failed.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_nightly::history::RunHeader;
use pericope_nightly::{PageParts as Parts, Verdict, report_link};

use crate::kit::svg::at;
use crate::kit::{Head, Row, Value, section as wrap, table};

/// Nights in the table, and older failed ones that are listed.
const NEWEST: usize = 60;
const FAILED: usize = 100;
/// Characters of a night's line.
const LINE: usize = 220;

pub(super) fn section(parts: &Parts<'_>) -> Markup {
    let nights: Vec<&RunHeader> = parts.heads.iter().rev().collect();
    let (newest, older) = nights.split_at(nights.len().min(NEWEST));
    let failed = nights.iter().filter(|night| night.verdict == Verdict::Failed).count();
    let older: Vec<&RunHeader> =
        older.iter().filter(|night| night.verdict != Verdict::Passed).take(FAILED).copied().collect();
    let body = html! {
        p { (format::plural(nights.len(), "night")) ", " (format::count(failed)) " failed." }
        (strip(parts.heads))
        (list(parts, "The newest nights", newest))
        @if !older.is_empty() {
            details {
                summary { "Older nights that failed (" (format::count(older.len())) ")" }
                (list(parts, "Older nights that failed", &older))
            }
        }
    };
    wrap("nights", "All nights", body)
}

/// One bar for each stretch of nights with the same verdict.
fn strip(nights: &[RunHeader]) -> Markup {
    let width = nights.len() as f64;
    let mut from = 0;
    let mut stretches = Vec::new();
    for stretch in nights.chunk_by(|a, b| a.verdict == b.verdict) {
        let class = stretch.first().map_or("passed", |night| night.verdict.name());
        // A single failed night among a thousand must still be seen.
        let wide = (stretch.len() as f64).max(if class == "passed" { 0.0 } else { width / 250.0 });
        stretches.push((class, at((from as f64).min(width - wide)), at(wide)));
        from += stretch.len();
    }
    let spoken = "The verdicts of all nights, oldest on the left; the table below says the same";
    html! {
        @if nights.len() > 1 {
            svg class="strip" viewBox={ "0 0 " (at(width)) " 10" } preserveAspectRatio="none" role="img"
                aria-label=(spoken) {
                @for (class, x, wide) in stretches { rect class=(class) x=(x) y="0" width=(wide) height="10" {} }
            }
            "\n"
        }
    }
}

fn list(parts: &Parts<'_>, caption: &str, nights: &[&RunHeader]) -> Markup {
    let heads = [
        Head::words("night"),
        Head::words("verdict"),
        Head::words("outcome"),
        Head::words("began"),
        Head::number("took"),
        Head::number("documents"),
        Head::number("questions"),
        Head::words("program"),
    ];
    let rows: Vec<Row> = nights.iter().map(|night| row(parts, night)).collect();
    html! { div class="nights" { (table(caption, &heads, &rows)) } }
}

fn row(parts: &Parts<'_>, night: &RunHeader) -> Row {
    let verdict = night.verdict.name();
    let began: String = night.started.replace('T', " ").chars().take(16).collect();
    let sum: String = night.program.sha256.chars().take(8).collect();
    let values = vec![
        Value::words(verdict).class(format!("v-{verdict}")),
        Value::words(format::clipped(said(night), LINE)).class("line"),
        Value::words(began),
        Value::number(format::seconds(night.seconds), night.seconds),
        Value::number(format::count(night.documents), night.documents as f64),
        Value::number(format::count(night.questions), night.questions as f64),
        Value::words(format!("{} {sum}", night.program.version).trim()),
    ];
    let number = html! {
        @if (parts.has_report)(night.number) {
            a href=(report_link(night.number)) { (night.number) }
        } @else {
            (night.number)
        }
    };
    Row::new(number, values).key(f64::from(night.number))
}

/// The night's line without what its row says already.
fn said(night: &RunHeader) -> &str {
    night.line.split_once(": ").map_or(night.line.as_str(), |(_, said)| said)
}
