//! `index.html`.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::metric::Metric;

use super::Report;
use super::standings::{HEADS, primary, standings};
use super::text::{ABOUT, facts, headline, notes, warnings};
use crate::kit::svg::{Interval, forest};
use crate::kit::{self, Head, Page, Row, Value, bullets, record, section, table};
use crate::run::{decided, run_facts};

pub(super) fn page(report: &Report) -> String {
    let summary = &report.summary;
    let title = format!("{} – Pericope", summary.name);
    let sections = [
        ("#differences", "Differences"),
        ("#others", "Figures of others"),
        ("#chunkers", "Chunkers"),
        ("#classes", "Classes"),
        ("#run", "What was run"),
    ];
    let shown: Vec<(&str, &str)> =
        sections.into_iter().filter(|(at, _)| *at != "#others" || !summary.published.is_empty()).collect();
    let header = kit::header("Pericope · chunkers compared by classification", &summary.name, &facts(summary), &shown);
    let main = html! {
        (lead(report))
        (differences(report))
        (others(report))
        (chunkers(report))
        (classes(report))
        (run(report))
    };
    Page { title: &title, ..Page::default() }.render(&header, &main)
}

fn lead(report: &Report) -> Markup {
    let summary = &report.summary;
    let mut heads = vec![Head::words("chunker")];
    heads.extend(HEADS.iter().map(|&(name, meaning)| Head::number(name).explained(meaning)));
    let rows: Vec<Row> = standings(summary)
        .into_iter()
        .map(|one| {
            let name = if one.recommended { format!("{} (recommended)", one.name) } else { one.name.to_owned() };
            let values = one.figures.into_iter().enumerate();
            let values = values.map(|(at, figure)| Value::number(figure.text, figure.key).strong(at == 0));
            Row::of(one.place, &name, values.collect())
        })
        .collect();
    let warnings = warnings(summary);
    html! {
        section class="lead" aria-label="Summary" {
            p class="headline" { (headline(summary)) }
            (table("The chunkers by accuracy: what decides", &heads, &rows))
            (bullets(Some("findings"), notes(summary)))
            @if !warnings.is_empty() {
                div class="warnings" role="note" aria-label="Warnings" {
                    h2 { "Before you rely on this" }
                    (bullets(None, warnings))
                }
            }
            p class="prose" { (ABOUT) }
        }
        "\n"
    }
}

fn differences(report: &Report) -> Markup {
    let summary = &report.summary;
    let unit = Metric::ACCURACY.unit();
    let place = |name: &str| summary.chunkers.iter().position(|row| row.chunker.name == name).unwrap_or(0);
    let drawn: Vec<Interval> = primary(summary)
        .map(|c| Interval {
            names: format!("{} − {}", format::clipped(&c.a, 24), format::clipped(&c.b, 24)),
            shown: unit.difference(c.difference),
            spoken: format!(
                "{} minus {}: {} points, 95\u{a0}% interval {} to {}, {} after correction.",
                c.a,
                c.b,
                unit.difference(c.difference),
                unit.difference(c.low),
                unit.difference(c.high),
                format::p_sentence(c.p_holm.unwrap_or(c.p))
            ),
            difference: 100.0 * c.difference,
            low: 100.0 * c.low,
            high: 100.0 * c.high,
            detectable: 100.0 * c.detectable,
            place: place(if c.difference >= 0.0 { &c.a } else { &c.b }),
            holds: decided(c),
        })
        .collect();
    let body = html! {
        @if drawn.is_empty() {
            p { "The run holds no comparisons." }
        } @else {
            div class="charts" { (forest("Differences in accuracy from the baseline", "difference in accuracy, points", &drawn)) }
        }
    };
    section("differences", "Differences", body)
}

fn others(report: &Report) -> Markup {
    let published = &report.summary.published;
    if published.is_empty() {
        return html! {};
    }
    let heads = [Head::words("system"), Head::number("accuracy, %"), Head::words("data"), Head::words("source")];
    let rows: Vec<Row> = (published.iter())
        .map(|row| {
            let figure = Value::number(format::decimal(row.accuracy, 1), row.accuracy);
            Row::new(&row.system, vec![figure, Value::words(&row.data), Value::words(&row.source)])
        })
        .collect();
    let body = html! {
        p class="prose" { "Other documents, another encoder: differences within a source compare, levels do not." }
        (table("Figures of others", &heads, &rows))
    };
    section("others", "Figures of others", body)
}

fn chunkers(report: &Report) -> Markup {
    let heads = [
        Head::words("chunker"),
        Head::words("spec"),
        Head::number("limit"),
        Head::number("segments"),
        Head::number("mean words"),
        Head::number("longest, tokens"),
        Head::words("trainings").explained("Seed: accuracy, epochs; the weights are those of the epoch in brackets."),
    ];
    let unit = Metric::ACCURACY.unit();
    let rows: Vec<Row> = (report.summary.chunkers.iter().enumerate())
        .map(|(place, row)| {
            let chunker = &row.chunker;
            let runs = row
                .runs
                .iter()
                .map(|run| format!("{}: {}, {} ({})", run.seed, unit.bare(run.accuracy), run.epochs, run.best_epoch));
            let limit = chunker.limit.map_or(f64::INFINITY, |limit| limit as f64);
            let values = vec![
                Value::words(html! { code { (chunker.shown_spec()) } }),
                Value::number(chunker.limit.map_or_else(|| "none".to_owned(), format::count), limit),
                Value::number(format::count(chunker.chunks), chunker.chunks as f64),
                Value::number(format::mean(chunker.mean_words), chunker.mean_words),
                Value::number(format::count(chunker.max_tokens), chunker.max_tokens as f64),
                Value::words(runs.collect::<Vec<_>>().join("; ")),
            ];
            Row::of(place, &chunker.name, values)
        })
        .collect();
    section("chunkers", "Chunkers", table("The chunkers and their trainings", &heads, &rows))
}

fn classes(report: &Report) -> Markup {
    let heads = [Head::words("class"), Head::number("train"), Head::number("validation"), Head::number("test")];
    let number = |n: usize| Value::number(format::count(n), n as f64);
    let rows: Vec<Row> = (report.summary.classes.iter())
        .map(|class| Row::new(&class.label, vec![number(class.train), number(class.validation), number(class.test)]))
        .collect();
    section("classes", "Classes", table("Documents by class", &heads, &rows))
}

fn run(report: &Report) -> Markup {
    let config = serde_json::to_string_pretty(&report.run.config).unwrap_or_default();
    let body = html! {
        (record(run_facts(&report.run)))
        @if !report.run.config.is_null() {
            details {
                summary { "The configuration, all defaults and overrides in place" }
                pre tabindex="0" { (config) }
            }
        }
        p class="note" {
            "The same figures as data: summary.json. Every test document as every training classified it: items.jsonl. The record of \
             the run: run.json."
        }
    };
    section("run", "What was run", body)
}
