//! The nightly page, section by section.

use maud::html;
use pericope_nightly::PageParts;
use pericope_nightly::history::HistoryError;

use super::{checks, curves, flips, nights, times, top};
use crate::kit::Page;

const STYLE: &str = include_str!("page.css");

/// Returns the whole page as HTML.
///
/// # Errors
/// [`HistoryError`] where the history cannot be read.
pub fn page(parts: &PageParts<'_>) -> Result<String, HistoryError> {
    let night = &parts.conclusion.night;
    let title = format!("{} – {}: {} – Pericope", night.experiment, night.name(), night.verdict.name());
    let main = html! {
        (top::verdict(parts))
        (checks::section(parts))
        (checks::differences(parts))
        (flips::section(parts))
        (curves::section(parts)?)
        (times::section(parts)?)
        (nights::section(parts))
        (top::record(parts))
    };
    let page = Page { title: &title, style: STYLE, feed: Some("feed.xml"), ..Page::default() };
    Ok(page.render(&top::header(parts), &main))
}
