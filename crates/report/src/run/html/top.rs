//! The head of the page: what was compared, what came out, and what to beware of.

use maud::{Markup, html};
use pericope_eval::format;

use crate::kit::{self, Head, Row, Value, bullets, svg, table};
use crate::run::report::Report;
use crate::run::view::View;
use crate::run::{decision, headline, warnings};

/// Name, date, size, and the way to each section.
pub(super) fn header(report: &Report, view: &View) -> Markup {
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
    facts.extend(Some(day).filter(|day| !day.is_empty()));
    let sections = [
        ("#results", "Scores"),
        ("#comparisons", "Differences"),
        ("#chunkers", "Chunkers"),
        ("#questions", "Questions"),
        ("#run", "What was run"),
    ];
    kit::header("Pericope · chunkers compared by retrieval", report.name(), &facts.join(" · "), &sections)
}

/// The headline, a card a chunker, further findings, warnings.
pub(super) fn summary(report: &Report, view: &View) -> Markup {
    let (findings, warnings) = (headline::findings(view), warnings::of_report(report, view));
    html! {
        section class="lead" aria-label="Summary" {
            p class="headline" { (headline::headline(view)) }
            @match decision::table(view) {
                Some(decided) => (standings(&decided)),
                None => (cards(view)),
            }
            @if !findings.is_empty() { (bullets(Some("findings"), findings)) }
            @if !warnings.is_empty() {
                div class="warnings" role="note" aria-label="Warnings" {
                    h2 { "Before you rely on this" }
                    (bullets(None, warnings))
                    (failures(report))
                }
            }
        }
        "\n"
    }
}

/// The table by chunker that the verdict rests on.
fn standings(decided: &decision::Decided) -> Markup {
    let mut heads = vec![Head::words("chunker")];
    heads.extend(decided.heads.iter().map(|(name, meaning)| Head::number(name).explained(meaning)));
    let rows: Vec<Row> = (decided.rows.iter())
        .map(|row| {
            let value = |figure: &decision::Figure| Value::number(&figure.text, figure.key).strong(row.recommended);
            Row::of(row.place, row.name, row.figures.iter().map(value).collect())
        })
        .collect();
    html! { (table(&format!("{}. Bold: recommended.", decided.caption), &heads, &rows)) }
}

fn cards(view: &View) -> Markup {
    let (Some(setting), Some(metric)) = (&view.setting, &view.metric) else { return html! {} };
    html! {
        p class="cards-title" { (metric.title()) " at " (setting.label()) ", " (setting.mode) }
        ul class="cards" {
            @for (place, row) in view.summary.chunkers.iter().enumerate() {
                @let value = view.value(&row.name, setting, metric);
                li {
                    p class="who" { (svg::badge(place)) (row.name) }
                    p class="figure" { (value.map_or_else(|| format::ABSENT.to_owned(), |x| metric.unit().value(x))) }
                    p class="size" {
                        (format::plural(row.chunks, "chunk")) ", " (format::mean(row.mean_tokens)) " tokens each"
                    }
                }
            }
        }
    }
}

fn failures(report: &Report) -> Markup {
    let shown = report.failures.len();
    html! {
        @if shown > 0 {
            details {
                summary { "Failed items" @if report.summary.failed > shown { ", the first" } " (" (shown) ")" }
                ul {
                    @for failure in &report.failures {
                        @let what = format!(" · {} · {}: {}", failure.chunker, failure.setting, failure.error);
                        li { code { (format::clipped(&failure.question_id, 80)) } (format::clipped(&what, 400)) }
                    }
                }
            }
        }
    }
}
