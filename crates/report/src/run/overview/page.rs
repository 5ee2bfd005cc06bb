//! The overview as a page.

use maud::{Markup, html};
use pericope_eval::format;

use super::compare::{cautions, differing};
use super::grid::{Grid, grids};
use super::verdicts;
use crate::kit::{Head, Page, Row, Value, bullets, header, section, table};
use crate::run::facts::facts;
use crate::run::headline::headline;
use crate::run::report::Report;
use crate::run::view::View;

/// Returns the overview page; `folders[i]` holds the report of run `i`.
pub(in crate::run) fn page(reports: &[Report], folders: &[String]) -> String {
    let views: Vec<View> = reports.iter().map(|r| View::new(&r.summary)).collect();
    let title = format!("{} side by side", format::plural(reports.len(), "run"));
    let cautions = cautions(reports);
    let main = html! {
        @if !cautions.is_empty() {
            div class="warnings" role="note" aria-label="Warnings" {
                h2 { "Before you compare" }
                (bullets(None, cautions))
            }
        }
        (section("runs", "The runs", runs(reports, folders, &views)))
        (verdicts(reports, &views))
        (section("scores", "Scores", scores(reports, &grids(&views))))
        (section("configuration", "What differs in the configuration", configuration(reports)))
    };
    let page = Page { title: "Runs side by side – Pericope", ..Page::default() };
    page.render(&header("Pericope · chunkers compared by retrieval", &title, "", &[]), &main)
}

fn runs(reports: &[Report], folders: &[String], views: &[View]) -> Markup {
    let about = |report: &Report| {
        let summary = &report.summary;
        let mut about =
            vec![format::plural(summary.questions, "question"), format::plural(summary.documents, "document")];
        about.extend(facts(&report.run).into_iter().filter(|(n, _)| ["Version", "Started"].contains(n)).map(|f| f.1));
        about.join(" · ")
    };
    html! {
        ul class="runs" {
            @for ((report, folder), view) in reports.iter().zip(folders).zip(views) {
                li {
                    h3 { a href={ (folder) "/index.html" } { (report.title()) } }
                    p class="facts" { (about(report)) }
                    p { (headline(view)) }
                }
                "\n"
            }
        }
    }
}

/// The verdicts in a table; nothing where no run has one.
fn verdicts(reports: &[Report], views: &[View]) -> Markup {
    let rows: Vec<Row> = (verdicts::rows(reports, views).into_iter())
        .filter_map(|(at, columns)| Some(Row::new(reports.get(at)?.title(), columns.map(Value::words).into())))
        .collect();
    if rows.is_empty() {
        return html! {};
    }
    let mut heads = vec![Head::words("run")];
    heads.extend(verdicts::HEADS.map(Head::words));
    section("verdicts", "Verdicts", table("What each run decides", &heads, &rows))
}

fn scores(reports: &[Report], grids: &[Grid]) -> Markup {
    html! {
        @if grids.is_empty() {
            p { "Nothing was scored." }
        } @else {
            p class="prose" {
                "In brackets, what changed against the first run. These changes are not tested for chance; "
                code { "pericope nightly" } " pairs runs by question."
            }
            @for grid in grids { (scores_by(reports, grid)) }
        }
    }
}

fn scores_by(reports: &[Report], grid: &Grid) -> Markup {
    let mut heads = vec![Head::words("chunker")];
    heads.extend(reports.iter().map(|r| Head::number(r.title())));
    let value =
        |x: Option<f64>, row: &[Option<f64>], i: usize| Value::number(grid.shown(x, row, i), x.unwrap_or(f64::NAN));
    let row = |(name, values): &(String, Vec<Option<f64>>)| {
        Row::new(name, values.iter().enumerate().map(|(i, x)| value(*x, values, i)).collect())
    };
    table(&grid.title(), &heads, &grid.rows.iter().map(row).collect::<Vec<_>>())
}

fn configuration(reports: &[Report]) -> Markup {
    let mut heads = vec![Head::words("key")];
    heads.extend(reports.iter().map(|r| Head::words(r.title())));
    let row = |(key, values): (String, Vec<String>)| Row::new(key, values.into_iter().map(Value::words).collect());
    let rows: Vec<Row> = differing(reports).into_iter().map(row).collect();
    html! {
        @if rows.is_empty() {
            p { "Nothing: the runs have the same configuration." }
        } @else {
            div class="checksums" { (table("Keys on which the runs differ", &heads, &rows)) }
        }
    }
}
