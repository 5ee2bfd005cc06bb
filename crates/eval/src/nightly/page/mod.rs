//! The page that is opened in the morning: the verdict, what moved, the questions behind it, and all nights as curves.

mod checks;
mod curves;
mod flips;
mod nights;
mod spark;
mod top;

use super::conclude::Conclusion;
use super::history::{Head, History, HistoryError};
use crate::report::html::shell;
use crate::report::markup::Markup;

const STYLE: &str = include_str!("page.css");

/// What the page is made of.
pub(super) struct Parts<'a> {
    /// The last night.
    pub conclusion: &'a Conclusion,
    /// The nights before.
    pub history: &'a History,
    /// All nights, oldest first.
    pub heads: &'a [Head],
    /// The night that was pinned by hand.
    pub pinned: Option<u32>,
    /// Whether a night's full report is there.
    pub has_report: &'a dyn Fn(u32) -> bool,
}

impl Parts<'_> {
    /// Where a chunker stands in the configuration: the number of its colour and its marker.
    fn place(&self, chunker: &str) -> usize {
        let chunkers = &self.conclusion.night.chunkers;
        chunkers.iter().position(|row| row.name == chunker).unwrap_or(chunkers.len())
    }
}

/// The whole page.
pub(super) fn page(parts: &Parts<'_>) -> Result<String, HistoryError> {
    let night = &parts.conclusion.night;
    let curves = curves::Curves::read(parts)?;
    let title = format!("{} – {}: {} – Pericope", night.experiment, night.name(), night.verdict.name());
    Ok(shell::document_with(&title, STYLE, Some("feed.xml"), |m| {
        top::header(m, parts);
        m.element("main", &[("id", "main")], |m| {
            top::verdict(m, parts);
            checks::section(m, parts);
            checks::differences(m, parts);
            flips::section(m, parts);
            curves::section(m, parts, &curves);
            curves::times(m, parts, &curves);
            nights::section(m, parts);
            top::record(m, parts);
        });
    }))
}

/// A table in a frame that scrolls; `body` writes the rows.
fn table(m: &mut Markup, caption: &str, heads: &[(&str, bool)], body: impl FnOnce(&mut Markup)) {
    let frame = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)];
    m.element("div", &frame, |m| {
        m.element("table", &[], |m| {
            m.element("caption", &[], |m| m.leaf("span", &[], caption));
            m.element("thead", &[], |m| {
                m.element("tr", &[], |m| {
                    for (head, numeric) in heads {
                        let class = if *numeric { "num" } else { "" };
                        let attributes = [("scope", "col"), ("class", class)];
                        m.leaf("th", if *numeric { &attributes } else { &attributes[..1] }, head);
                    }
                });
            });
            m.element("tbody", &[], body);
        });
    });
    m.line();
}
