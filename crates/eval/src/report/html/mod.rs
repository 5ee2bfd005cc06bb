//! The page.

mod chunkers;
mod comparisons;
mod costs;
mod questions;
mod record;
mod results;
pub(crate) mod shell;
pub(crate) mod table;
mod top;

pub(super) use record::facts;

use super::Report;
use super::markup::Markup;
use super::view::View;

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

/// A section with its heading.
pub(crate) fn section(m: &mut Markup, id: &str, title: &str, body: impl FnOnce(&mut Markup)) {
    let heading = format!("{id}-title");
    m.element("section", &[("id", id), ("aria-labelledby", &heading)], |m| {
        m.leaf("h2", &[("id", &heading)], title);
        m.line();
        body(m);
    });
    m.line();
}
