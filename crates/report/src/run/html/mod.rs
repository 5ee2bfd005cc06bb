//! The page.

mod chunkers;
mod comparisons;
mod costs;
mod forest;
mod questions;
mod record;
mod results;
mod top;

pub(super) use record::facts;

use super::Report;
use super::view::View;
use crate::kit::shell;

/// The report of one run as a page.
pub(super) fn page(report: &Report) -> String {
    let view = View::new(&report.summary);
    shell::document(&format!("{} – Pericope", report.name()), |m| {
        top::header(m, report, &view);
        m.element("main", &[("id", "main")], |m| {
            top::summary(m, report, &view);
            results::section(m, &view);
            comparisons::section(m, &view);
            costs::section(m, &view);
            chunkers::section(m, &view);
            questions::section(m, report, &view);
            record::section(m, report);
        });
    })
}
