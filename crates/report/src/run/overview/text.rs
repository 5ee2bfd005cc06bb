//! The overview as Markdown.

use pericope_eval::format;

use super::compare::{cautions, differing};
use super::grid::grids;
use super::verdicts;
use crate::kit::markdown::{Markdown, link};
use crate::run::headline::headline;
use crate::run::report::Report;
use crate::run::view::View;

/// Returns the overview as Markdown; `folders[i]` holds the report of run `i`.
pub(in crate::run) fn markdown(reports: &[Report], folders: &[String]) -> String {
    let views: Vec<View> = reports.iter().map(|r| View::new(&r.summary)).collect();
    let mut out = Markdown::default();
    out.heading(1, &format!("{} side by side", format::plural(reports.len(), "run")));
    let line = |((report, folder), view): ((&Report, &String), &View)| {
        link(report.title(), &format!("{folder}/summary.md")) + format!(": {}", headline(view)).into()
    };
    out.bullets(reports.iter().zip(folders).zip(&views).map(line));
    let rows = verdicts::rows(reports, &views);
    if !rows.is_empty() {
        let mut head = vec!["run"];
        head.extend(verdicts::HEADS);
        let title = |at: usize| reports.get(at).map_or("", Report::title).to_owned();
        out.table("l", &head, rows.into_iter().map(|(at, columns)| [vec![title(at)], columns.into()].concat()));
    }
    cautions(reports).iter().for_each(|caution| out.quote(caution));
    for grid in grids(&views) {
        out.heading(2, &grid.title());
        let mut head = vec!["chunker"];
        head.extend(reports.iter().map(Report::title));
        let row = |(name, values): &(String, Vec<Option<f64>>)| -> Vec<String> {
            let cells = values.iter().enumerate().map(|(i, x)| grid.shown(*x, values, i));
            std::iter::once(name.clone()).chain(cells).collect()
        };
        out.table("l", &head, grid.rows.iter().map(row));
    }
    let differing = differing(reports);
    if !differing.is_empty() {
        out.heading(2, "What differs in the configuration");
        let mut head = vec!["key"];
        head.extend(reports.iter().map(Report::title));
        let rows = differing.into_iter().map(|(key, values)| [vec![key], values].concat());
        out.table(&"l".repeat(head.len()), &head, rows);
    }
    out.finish()
}
