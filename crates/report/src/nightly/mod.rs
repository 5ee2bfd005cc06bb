//! The page that is opened in the morning: the verdict, what moved, the questions behind it, and all nights as curves.

mod checks;
mod curves;
mod flips;
mod nights;
mod spark;
mod top;

use crate::kit::markup::Markup;
use crate::kit::shell;
use pericope_nightly::PageParts as Parts;
use pericope_nightly::history::HistoryError;

const STYLE: &str = include_str!("page.css");

/// Where a chunker stands in the configuration: the number of its colour and its marker.
fn place(parts: &Parts<'_>, chunker: &str) -> usize {
    let chunkers = &parts.conclusion.night.chunkers;
    chunkers.iter().position(|row| row.name == chunker).unwrap_or(chunkers.len())
}

/// Returns the whole page as HTML.
///
/// # Errors
/// [`HistoryError`] where the history cannot be read.
pub fn page(parts: &Parts<'_>) -> Result<String, HistoryError> {
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
