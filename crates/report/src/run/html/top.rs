//! The head of the page: what was compared, what came out, and what to beware of.

use crate::kit::markup::Markup;
use crate::kit::svg;
use crate::run::view::View;
use crate::run::{Report, headline, warnings};
use pericope_eval::format;

/// Name, date, size, and the way to each section.
pub(super) fn header(m: &mut Markup, report: &Report, view: &View) {
    m.element("header", &[("class", "top")], |m| {
        m.leaf("p", &[("class", "eyebrow")], "Pericope · chunkers compared by retrieval");
        m.leaf("h1", &[], report.name());
        let summary = &report.summary;
        let mut facts = vec![
            format::plural(summary.questions, "question"),
            format::plural(summary.documents, "document"),
            format::plural(summary.chunkers.len(), "chunker"),
        ];
        if !view.modes.is_empty() {
            facts.push(format!("{} retrieval", format::listed(&view.modes)));
        }
        let day: String = report.run.started.chars().take_while(|c| *c != 'T').take(10).collect();
        if !day.is_empty() {
            facts.push(day);
        }
        m.leaf("p", &[("class", "facts")], &facts.join(" · "));
        m.element("nav", &[("aria-label", "Sections")], |m| {
            let sections = [
                ("#results", "Scores"),
                ("#comparisons", "Differences"),
                ("#chunkers", "Chunkers"),
                ("#questions", "Questions"),
                ("#run", "What was run"),
            ];
            for (target, name) in sections {
                m.leaf("a", &[("href", target)], name);
            }
        });
    });
    m.line();
}

/// The headline, a card a chunker, further findings, warnings.
pub(super) fn summary(m: &mut Markup, report: &Report, view: &View) {
    m.element("section", &[("class", "lead"), ("aria-label", "Summary")], |m| {
        m.leaf("p", &[("class", "headline")], &headline::headline(view));
        cards(m, view);
        let findings = headline::findings(view);
        if !findings.is_empty() {
            m.element("ul", &[("class", "findings")], |m| {
                for finding in &findings {
                    m.leaf("li", &[], finding);
                }
            });
        }
        let warnings = warnings::of_report(report, view);
        if !warnings.is_empty() {
            m.element("div", &[("class", "warnings"), ("role", "note"), ("aria-label", "Warnings")], |m| {
                m.leaf("h2", &[], "Before you rely on this");
                m.element("ul", &[], |m| {
                    for warning in &warnings {
                        m.leaf("li", &[], warning);
                    }
                });
                failures(m, report);
            });
        }
    });
    m.line();
}

fn cards(m: &mut Markup, view: &View) {
    let (Some(setting), Some(metric)) = (&view.setting, &view.metric) else { return };
    let what = format!("{} at {}, {}", metric.title(), setting.label(), setting.mode);
    m.leaf("p", &[("class", "cards-title")], &what);
    m.element("ul", &[("class", "cards")], |m| {
        for (place, row) in view.summary.chunkers.iter().enumerate() {
            m.element("li", &[], |m| {
                m.element("p", &[("class", "who")], |m| {
                    svg::badge(m, place);
                    m.text(&row.name);
                });
                let value = view.value(&row.name, setting, metric);
                let shown = value.map_or_else(|| format::ABSENT.to_owned(), |x| metric.unit().value(x));
                m.leaf("p", &[("class", "figure")], &shown);
                let size =
                    format!("{}, {} tokens each", format::plural(row.chunks, "chunk"), format::mean(row.mean_tokens));
                m.leaf("p", &[("class", "size")], &size);
            });
        }
    });
}

fn failures(m: &mut Markup, report: &Report) {
    if report.failures.is_empty() {
        return;
    }
    m.element("details", &[], |m| {
        let shown = report.failures.len();
        let of = if report.summary.failed > shown { ", the first" } else { "" };
        m.leaf("summary", &[], &format!("Failed items{of} ({shown})"));
        m.element("ul", &[], |m| {
            for failure in &report.failures {
                m.element("li", &[], |m| {
                    m.leaf("code", &[], &format::clipped(&failure.question_id, 80));
                    let what = format!(" · {} · {}: {}", failure.chunker, failure.setting, failure.error);
                    m.text(&format::clipped(&what, 400));
                });
            }
        });
    });
}

/// A sentence that says at which setting something stands: `At k = 3, dense`.
pub(super) fn place(view: &View) -> String {
    view.setting.as_ref().map_or_else(String::new, |s| format!("{}, {}", s.cutoff.at(), s.mode))
}
