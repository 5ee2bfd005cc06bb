//! The overview as Markdown.

use pericope_eval::format;

use super::compare::cautions;
use super::grid::{grids, shown};
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
    cautions(reports).iter().for_each(|caution| out.quote(caution));
    for grid in grids(&views) {
        out.heading(2, &format!("{} at {}, {}", grid.metric.title(), grid.setting.label(), grid.setting.mode));
        let mut head = vec!["chunker"];
        head.extend(reports.iter().map(Report::title));
        let row = |(name, values): &(String, Vec<Option<f64>>)| -> Vec<String> {
            let cells = values.iter().enumerate().map(|(i, x)| shown(&grid.metric, *x, values, i));
            std::iter::once(name.clone()).chain(cells).collect()
        };
        out.table("l", &head, grid.rows.iter().map(row));
    }
    out.finish()
}
