//! The head of the page, the verdict, and at the end what was run.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_nightly::{ComparisonTarget, PageParts as Parts, Verdict, report_link};

use crate::kit::{self, bullets, section as wrap};

/// Name, night, size, and the way to each section.
pub(super) fn header(parts: &Parts<'_>) -> Markup {
    let night = &parts.conclusion.night;
    let facts = [
        format!("Night {}", night.number),
        night.started.replace('T', " ").replace('Z', " UTC"),
        format::plural(night.questions.len(), "question"),
        format::plural(night.documents.len(), "document"),
        format!("took {}", format::seconds(night.seconds)),
    ];
    let sections = [
        ("#checks", "Checks"),
        ("#differences", "Gains and losses"),
        ("#questions", "Questions"),
        ("#curves", "Over the nights"),
        ("#times", "Times"),
        ("#nights", "All nights"),
        ("#run", "What was run"),
        ("feed.xml", "Feed"),
    ];
    kit::header("Pericope · nightly", &night.experiment, &facts.join(" · "), &sections)
}

/// The verdict, what to beware of, and what changed since the last good night.
pub(super) fn verdict(parts: &Parts<'_>) -> Markup {
    let conclusion = parts.conclusion;
    let night = &conclusion.night;
    let (class, word) = match night.verdict {
        Verdict::Passed => ("verdict held", "Passed"),
        Verdict::Failed => ("verdict broken", "Failed"),
        Verdict::Accepted => ("verdict accepted", "Failed, accepted"),
    };
    html! {
        section class="lead" aria-label="Verdict" {
            div class=(class) {
                p class="word" { (word) }
                p class="headline" { (format::capitalised(&night.line)) "." }
                @if (parts.has_report)(night.number) {
                    p class="facts" { a href=(report_link(night.number)) { "This night’s full report" } }
                }
            }
            @if !conclusion.notes.is_empty() {
                div class="warnings" role="note" { (bullets(None, &conclusion.notes)) }
            }
            div class="since" {
                @match &conclusion.reference {
                    Some(against) => (beside("the last good night", against)),
                    None => p class="prose" { "There is no good night yet to compare with." },
                }
                @match &conclusion.baseline {
                    // Where both are one night, once is enough.
                    Some(baseline) if conclusion.reference.as_ref().is_some_and(|r| r.number == baseline.number) => {}
                    Some(baseline) => (beside("the baseline", baseline)),
                    None => p class="note" {
                        "No baseline is pinned: many small losses, each within what the gates allow, would not be seen. \
                         Pin a night with --pin, or set nightly.baseline."
                    },
                }
            }
        }
        "\n"
    }
}

fn beside(what: &str, against: &ComparisonTarget) -> Markup {
    let lines = against.changes.lines();
    html! {
        div class="beside" {
            h2 { "Since " (what) ", " (against.name()) }
            p class=(if against.comparable { "prose" } else { "prose error" }) {
                (format::capitalised(&against.pairing)) "."
            }
            @if lines.is_empty() {
                p class="prose" { "Program, configuration, models, documents and questions are the same." }
            } @else {
                (bullets(Some("findings"), lines))
            }
        }
    }
}

/// What was run.
pub(super) fn record(parts: &Parts<'_>) -> Markup {
    let night = &parts.conclusion.night;
    let mut facts = vec![
        ("Program", format!("pericope {}", night.program.version)),
        ("Started", night.started.clone()),
        ("Finished", night.finished.clone()),
        ("Machine", format!("{}, {}", night.machine.os, format::plural(night.machine.cores, "core"))),
        ("Tokenizer", night.tokenizer.clone()),
    ];
    if !night.program.sha256.is_empty() {
        facts.push(("Program’s SHA-256", night.program.sha256.clone()));
    }
    facts.extend(parts.pinned.map(|pinned| ("Pinned baseline", format!("night {pinned}"))));
    facts.extend(night.checksums.data.iter().map(|(name, sum)| ("Data", format!("{name}, SHA-256 {sum}"))));
    facts.extend(night.checksums.models.iter().map(|(name, sum)| ("Model", format!("{name}, {sum}"))));
    let body = html! {
        (kit::record(facts))
        p class="note" {
            "The same as data: latest.json. All nights: history.db (SQLite), or pericope nightly CONFIG.toml --export FILE."
        }
    };
    wrap("run", "What was run", body)
}
