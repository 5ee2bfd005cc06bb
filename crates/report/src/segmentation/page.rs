//! `index.html`.

use maud::{Markup, html};
use pericope_eval::format;

use super::beside::{BESIDE, Beside, HEADS, against, beside};
use super::lines::{Line, lines};
use super::plot::{BARS_NOTE, DocumentPlot, bars, extremes, groups, speed, speeds, tiles};
use super::report::{Report, SetFacts};
use super::text::{CAUTION, COLUMNS, facts, finding, heading, slugs, times, warnings};
use crate::kit::{self, Head, Page, Row, Value, bullets, record, section, table};

/// Warnings that are shown.
const WARNINGS: usize = 50;

pub(super) fn page(report: &Report) -> String {
    let title = format!("{} – Pericope", report.name);
    let main = html! {
        (lead(report))
        (scores(report))
        @for (set, slug) in report.sets.iter().zip(slugs(report)) { (one_set(report, set, &slug)) }
        (specs(report))
    };
    Page { title: &title, ..Page::default() }.render(&header(report), &main)
}

fn header(report: &Report) -> Markup {
    let segmenters = format::plural(report.evaluation.segmenters().len(), "segmenter");
    let documents = format::plural(report.sets.iter().map(|set| set.documents).sum(), "document");
    let facts = format!("{segmenters} on {}, {documents}", format::plural(report.sets.len(), "data set"));
    let targets: Vec<String> = slugs(report).iter().map(|slug| format!("#set-{slug}")).collect();
    let mut sections = vec![("#scores", "Scores")];
    sections.extend(targets.iter().map(String::as_str).zip(report.sets.iter().map(|set| set.name.as_str())));
    sections.push(("#specs", "Specs"));
    kit::header("Pericope · segmentation against known boundaries", &report.name, &facts, &sections)
}

fn lead(report: &Report) -> Markup {
    let warnings = warnings(report);
    let more = warnings.len().saturating_sub(WARNINGS);
    html! {
        @if !warnings.is_empty() {
            section class="warnings" aria-label="Left out" {
                h2 { "Left out of the figures" }
                (bullets(None, warnings.iter().take(WARNINGS)))
                @if more > 0 { p class="note" { (format::plural(more, "more line")) " in summary.json." } }
            }
            "\n"
        }
        section class="lead" aria-label="Findings" {
            @if !report.comparisons.is_empty() {
                p class="prose" { "Every segmenter beside the first of its set, paired document by document:" }
                (bullets(Some("findings"), report.sets.iter().filter_map(|set| against(report, &set.name))))
            }
            (bullets(Some("findings"), report.sets.iter().filter_map(|set| finding(report, &set.name))))
            p class="prose" { (CAUTION) }
        }
        "\n"
    }
}

fn scores(report: &Report) -> Markup {
    let exact = html! {
        div class="charts" { @for group in groups(&report.evaluation) { (bars(&group.set, &group)) } }
        @if report.evaluation.rows.iter().any(|row| row.known_count) { p class="note" { (BARS_NOTE) } }
    };
    let speeds = speeds(&report.evaluation);
    let quick = html! {
        div class="charts" { @for (set, points) in &speeds { (speed(set, points)) } }
        @if report.embedding_seconds.is_some() {
            p class="note" { "What shares the embeddings made beforehand is shown without their time; a model with an encoder of its own, with it." }
        }
    };
    html! {
        (section("scores", "Exact boundaries: F1 × 100", exact))
        @if !speeds.is_empty() { (section("speed", "F1 and speed", quick)) }
    }
}

fn one_set(report: &Report, set: &SetFacts, slug: &str) -> Markup {
    let body = html! {
        p class="facts" { (facts(set)) }
        @for known in [false, true] { (figures(heading(known), &lines(report, &set.name, known))) }
        p class="note" { (COLUMNS) }
        (compared(report, &set.name))
        @if let Some(times) = times(report) { p class="note" { (times) } }
        (plots(report, &set.name))
    };
    section(&format!("set-{slug}"), &set.name, body)
}

fn figures(caption: &str, lines: &[Line]) -> Markup {
    let heads = [
        Head::words("system"),
        Head::number("F1").explained("Exact boundaries, over all of the set."),
        Head::number("P"),
        Head::number("R"),
        Head::number("Pk").explained("Mean over documents; lower is better."),
        Head::number("WD").explained("WindowDiff, mean over documents; lower is better."),
        Head::number("prop/true").explained("Boundaries proposed over true boundaries."),
        Head::words("source"),
        Head::number("F1/doc"),
        Head::number("B").explained("Boundary similarity, mean over documents."),
        Head::number("tiling").explained("Tiling score, mean over documents. It leans towards 100."),
        Head::number("tiling, pen.").explained("Tiling score with a penalty for surplus boundaries."),
        Head::number("sentences/s"),
        Head::number("tokens read").explained("By the segmenter's own model, special tokens included."),
    ];
    let rows: Vec<Row> = lines.iter().map(row).collect();
    html! { @if !rows.is_empty() { (table(caption, &heads, &rows)) } }
}

fn row(line: &Line) -> Row {
    let number = |x: Option<f64>, shown: fn(f64) -> String| {
        Value::number(x.map_or_else(|| format::ABSENT.to_owned(), shown), x.unwrap_or(f64::NAN))
    };
    let hundredfold = |x: f64| format::decimal(100.0 * x, 1);
    let percent = |x: Option<f64>| number(x, hundredfold);
    let spread = |x: Option<f64>, error: Option<f64>| match (x, error) {
        (Some(x), Some(error)) => Value::number(format!("{} ± {}", hundredfold(x), hundredfold(error)), x),
        _ => percent(x),
    };
    let values = vec![
        percent(line.f1).strong(line.source.is_none()),
        percent(line.precision),
        percent(line.recall),
        spread(line.pk, line.pk_error),
        spread(line.window_diff, line.window_diff_error),
        number(line.proposed_over_true, |x| format::decimal(x, 2)),
        Value::words(line.source.as_deref().unwrap_or("this run")),
        percent(line.macro_f1),
        percent(line.boundary_similarity),
        percent(line.tiling),
        percent(line.tiling_penalised),
        number(line.sentences_per_second, format::mean),
        number(line.tokens_read, format::mean),
    ];
    let failed = if line.failed > 0 { format!(" ({} failed)", line.failed) } else { String::new() };
    let head = format!("{}{failed}", line.name);
    match line.place {
        Some(place) => Row::of(place, &head, values),
        None => Row::new(head, values),
    }
}

/// The segmenters of a set beside its first.
fn compared(report: &Report, set: &str) -> Markup {
    let rows = beside(report, set);
    let Some(first) = rows.first() else { return html! {} };
    let head =
        |(at, &text): (usize, &&str)| if [0, 4, 8].contains(&at) { Head::words(text) } else { Head::number(text) };
    let heads: Vec<Head> = HEADS.iter().enumerate().map(head).collect();
    let names = report.evaluation.segmenters();
    let line = |row: &Beside<'_>| {
        let values = row.cells().into_iter().zip(row.keys()).map(|(cell, key)| Value::number(cell, key)).collect();
        match names.iter().position(|name| *name == row.name) {
            Some(place) => Row::of(place, row.name, values),
            None => Row::new(row.name, values),
        }
    };
    let lines: Vec<Row> = rows.iter().map(line).collect();
    html! {
        (table(&format!("Beside {} by Pk, document by document", first.name), &heads, &lines))
        p class="note" { (BESIDE) }
    }
}

/// What the segmenters made of three documents; those that find the number of segments, where there are any.
fn plots(report: &Report, set: &str) -> Markup {
    let evaluation = &report.evaluation;
    let chosen = extremes(evaluation, set);
    let Some(first) = evaluation.rows.iter().find(|row| row.set == set).filter(|_| !chosen.is_empty()) else {
        return html! {};
    };
    let known = evaluation.rows.iter().filter(|row| row.set == set).all(|row| row.known_count);
    let title = |which: &str, id: &str| format!("{}: {}", format::capitalised(which), format::clipped(id, 60));
    let plot = |id: &str| DocumentPlot::of(evaluation, set, id, Some(known));
    html! {
        details class="plots" open="open" {
            summary { "Where the segments lie: documents chosen by the Pk of " (first.segmenter) }
            div class="charts" {
                @for (which, id) in chosen { @if let Some(plot) = plot(id) { (tiles(&title(which, id), &plot)) } }
            }
            p class="note" {
                "A tile has the colour of the true segment that it covers most of; dashed lines stand at the true \
                 boundaries. Pk and F1 are of this document alone."
            }
        }
        "\n"
    }
}

fn specs(report: &Report) -> Markup {
    let evaluation = &report.evaluation;
    let spec =
        |name: &str| evaluation.rows.iter().find(|row| row.segmenter == name).map_or("", |row| row.spec.as_str());
    let names = evaluation.segmenters().into_iter();
    section("specs", "Specs", record(names.map(|name| (name, html! { code { (spec(name)) } }))))
}
