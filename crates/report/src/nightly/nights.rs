//! All nights: a strip of verdicts, the newest as a table, and those before that failed.

use super::{Parts, table};
use crate::kit::markup::Markup;
use crate::kit::section as wrap;
use crate::kit::svg::at;
use pericope_eval::format;
use pericope_nightly::Verdict;
use pericope_nightly::history::Head;
use pericope_nightly::report_link;

/// Nights in the table, and older failed ones that are listed.
const NEWEST: usize = 60;
const FAILED: usize = 100;
/// Characters of a night's line.
const LINE: usize = 220;

pub(super) fn section(m: &mut Markup, parts: &Parts<'_>) {
    wrap(m, "nights", "All nights", |m| {
        let heads: Vec<&Head> = parts.heads.iter().rev().collect();
        let failed = heads.iter().filter(|head| head.verdict == Verdict::Failed).count();
        let intro = format!("{}, {} failed.", format::plural(heads.len(), "night"), format::count(failed));
        m.leaf("p", &[], &intro);
        strip(m, parts.heads);
        list(m, parts, "The newest nights", heads.iter().take(NEWEST).copied());
        let older: Vec<&Head> =
            heads.iter().skip(NEWEST).filter(|head| head.verdict != Verdict::Passed).take(FAILED).copied().collect();
        if !older.is_empty() {
            m.element("details", &[], |m| {
                m.leaf("summary", &[], &format!("Older nights that failed ({})", format::count(older.len())));
                list(m, parts, "Older nights that failed", older.into_iter());
            });
        }
    });
}

/// One bar for each stretch of nights with the same verdict.
fn strip(m: &mut Markup, heads: &[Head]) {
    if heads.len() < 2 {
        return;
    }
    let width = heads.len() as f64;
    let view = format!("0 0 {} 10", at(width));
    let spoken = "The verdicts of all nights, oldest on the left; the table below says the same";
    let attributes = [
        ("class", "strip"),
        ("viewBox", view.as_str()),
        ("preserveAspectRatio", "none"),
        ("role", "img"),
        ("aria-label", spoken),
    ];
    m.element("svg", &attributes, |m| {
        let mut from = 0;
        for stretch in heads.chunk_by(|a, b| a.verdict == b.verdict) {
            let class = stretch.first().map_or("passed", |head| head.verdict.name());
            // A single failed night among a thousand must still be seen.
            let wide = (stretch.len() as f64).max(if class == "passed" { 0.0 } else { width / 250.0 });
            let (x, w) = (at((from as f64).min(width - wide)), at(wide));
            m.empty("rect", &[("class", class), ("x", &x), ("y", "0"), ("width", &w), ("height", "10")]);
            from += stretch.len();
        }
    });
    m.line();
}

fn list<'a>(m: &mut Markup, parts: &Parts<'_>, caption: &str, heads: impl Iterator<Item = &'a Head>) {
    let columns = [
        ("night", false),
        ("verdict", false),
        ("outcome", false),
        ("began", false),
        ("took", true),
        ("documents", true),
        ("questions", true),
        ("program", false),
    ];
    m.element("div", &[("class", "nights")], |m| {
        table(m, caption, &columns, |m| {
            for head in heads {
                row(m, parts, head);
            }
        });
    });
}

fn row(m: &mut Markup, parts: &Parts<'_>, head: &Head) {
    let number = head.number.to_string();
    m.element("tr", &[], |m| {
        m.element("th", &[("scope", "row"), ("data-key", &number)], |m| {
            if (parts.has_report)(head.number) {
                m.leaf("a", &[("href", &report_link(head.number))], &number);
            } else {
                m.text(&number);
            }
        });
        let class = format!("v-{}", head.verdict.name());
        m.leaf("td", &[("class", &class)], head.verdict.name());
        m.leaf("td", &[("class", "line")], &format::clipped(&said(head), LINE));
        let began: String = head.started.replace('T', " ").chars().take(16).collect();
        m.leaf("td", &[], &began);
        m.leaf(
            "td",
            &[("class", "num"), ("data-key", &format!("{:.1}", head.seconds))],
            &format::seconds(head.seconds),
        );
        m.leaf("td", &[("class", "num")], &format::count(head.documents));
        m.leaf("td", &[("class", "num")], &format::count(head.questions));
        let sum: String = head.program.sha256.chars().take(8).collect();
        m.leaf("td", &[], format!("{} {sum}", head.program.version).trim());
    });
    m.line();
}

/// The night's line without what its row says already.
fn said(head: &Head) -> String {
    let after = head.line.split_once(": ").map_or(head.line.as_str(), |(_, said)| said);
    after.to_owned()
}
