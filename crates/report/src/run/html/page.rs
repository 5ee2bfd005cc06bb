//! The page of one run, section by section.

use maud::html;

use super::{chunkers, comparisons, costs, pairwise, questions, record, results, top};
use crate::kit::Page;
use crate::run::report::Report;
use crate::run::view::View;

/// Returns the report of one run as a page.
pub(in crate::run) fn page(report: &Report) -> String {
    let view = View::new(&report.summary);
    let title = format!("{} – Pericope", report.name());
    let main = html! {
        (top::summary(report, &view))
        (results::section(&view, &report.run))
        (comparisons::section(&view))
        (pairwise::section(&view))
        (costs::section(&view))
        (chunkers::section(&view))
        (questions::section(report, &view))
        (record::section(report))
    };
    Page { title: &title, ..Page::default() }.render(&top::header(report, &view), &main)
}
