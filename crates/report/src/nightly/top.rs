//! The head of the page, the verdict, and at the end what was run.

use super::Parts;
use crate::kit::markup::Markup;
use crate::kit::section as wrap;
use pericope_eval::format;
use pericope_nightly::Against;
use pericope_nightly::Verdict;
use pericope_nightly::report_link;

/// Name, night, size, and the way to each section.
pub(super) fn header(m: &mut Markup, parts: &Parts<'_>) {
    let night = &parts.conclusion.night;
    m.element("header", &[("class", "top")], |m| {
        m.leaf("p", &[("class", "eyebrow")], "Pericope · nightly");
        m.leaf("h1", &[], &night.experiment);
        let facts = [
            format!("Night {}", night.number),
            night.started.replace('T', " ").replace('Z', " UTC"),
            format::plural(night.questions.len(), "question"),
            format::plural(night.documents.len(), "document"),
            format!("took {}", format::seconds(night.seconds)),
        ];
        m.leaf("p", &[("class", "facts")], &facts.join(" · "));
        m.element("nav", &[("aria-label", "Sections")], |m| {
            let sections = [
                ("#checks", "Checks"),
                ("#differences", "Gains and losses"),
                ("#questions", "Questions"),
                ("#curves", "Over the nights"),
                ("#times", "Times"),
                ("#nights", "All nights"),
                ("#run", "What was run"),
            ];
            for (target, name) in sections {
                m.leaf("a", &[("href", target)], name);
            }
            m.leaf("a", &[("href", "feed.xml")], "Feed");
        });
    });
    m.line();
}

/// The verdict, what to beware of, and what changed since the last good night.
pub(super) fn verdict(m: &mut Markup, parts: &Parts<'_>) {
    let conclusion = parts.conclusion;
    let night = &conclusion.night;
    let (class, word) = match night.verdict {
        Verdict::Passed => ("verdict held", "Passed"),
        Verdict::Failed => ("verdict broken", "Failed"),
        Verdict::Accepted => ("verdict accepted", "Failed, accepted"),
    };
    m.element("section", &[("class", "lead"), ("aria-label", "Verdict")], |m| {
        m.element("div", &[("class", class)], |m| {
            m.leaf("p", &[("class", "word")], word);
            m.leaf("p", &[("class", "headline")], &format!("{}.", format::capitalised(&night.line)));
            if (parts.has_report)(night.number) {
                m.element("p", &[("class", "facts")], |m| {
                    m.leaf("a", &[("href", &report_link(night.number))], "This night’s full report");
                });
            }
        });
        if !conclusion.notes.is_empty() {
            m.element("div", &[("class", "warnings"), ("role", "note")], |m| {
                m.element("ul", &[], |m| conclusion.notes.iter().for_each(|note| m.leaf("li", &[], note)));
            });
        }
        m.element("div", &[("class", "since")], |m| {
            match &conclusion.reference {
                Some(against) => beside(m, "the last good night", against),
                None => m.leaf("p", &[("class", "prose")], "There is no good night yet to compare with."),
            }
            match &conclusion.baseline {
                // Where both are one night, once is enough.
                Some(baseline) if conclusion.reference.as_ref().is_some_and(|r| r.number == baseline.number) => {}
                Some(baseline) => beside(m, "the baseline", baseline),
                None => m.leaf(
                    "p",
                    &[("class", "note")],
                    "No baseline is pinned: many small losses, each within what the gates allow, would not be seen. \
                     Pin a night with --pin, or set nightly.baseline.",
                ),
            }
        });
    });
    m.line();
}

fn beside(m: &mut Markup, what: &str, against: &Against) {
    m.element("div", &[("class", "beside")], |m| {
        m.leaf("h2", &[], &format!("Since {what}, {}", against.name()));
        let class = if against.comparable { "prose" } else { "prose error" };
        m.leaf("p", &[("class", class)], &format!("{}.", format::capitalised(&against.pairing)));
        let lines = against.changes.lines();
        if lines.is_empty() {
            m.leaf("p", &[("class", "prose")], "Program, configuration, models, documents and questions are the same.");
            return;
        }
        m.element("ul", &[("class", "findings")], |m| lines.iter().for_each(|line| m.leaf("li", &[], line)));
    });
}

/// What was run.
pub(super) fn record(m: &mut Markup, parts: &Parts<'_>) {
    let night = &parts.conclusion.night;
    wrap(m, "run", "What was run", |m| {
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
        if let Some(pinned) = parts.pinned {
            facts.push(("Pinned baseline", format!("night {pinned}")));
        }
        for (name, sum) in &night.checksums.data {
            facts.push(("Data", format!("{name}, SHA-256 {sum}")));
        }
        for (name, sum) in &night.checksums.models {
            facts.push(("Model", format!("{name}, {sum}")));
        }
        m.element("dl", &[("class", "record")], |m| {
            for (name, value) in &facts {
                m.leaf("dt", &[], name);
                m.leaf("dd", &[], value);
            }
        });
        m.leaf(
            "p",
            &[("class", "note")],
            "The same as data: latest.json. All nights: history.db (SQLite), or pericope nightly CONFIG.toml --export FILE.",
        );
    });
}
