//! The page around the items.

use std::io::{self, Write};

use maud::html;
use pericope_util::sound;

use super::data::Items;
use crate::kit::{Page, header};

const STYLE: &str = include_str!("items.css");
const SCRIPT: &str = include_str!("items.js");

/// Writes the page of the items of a run of this name.
pub(in crate::run) fn write(out: &mut dyn Write, name: &str, items: &Items) -> io::Result<()> {
    let title = format!("{name}, item by item – Pericope");
    let page = Page { title: &title, style: STYLE, script: SCRIPT, data: true, feed: None };
    let main = html! {
        noscript { "This page needs its script; items.jsonl holds the same." }
        p id="says" class="facts" role="status" {}
        form id="filters" class="filters" {}
        ol id="list" class="list" {}
        p id="pages" class="switch" {}
    };
    let header = header(html! { a href="index.html" { "Report" } " · item by item" }, name, "", &[]);
    let (before, middle, after) = page.parts(&header);
    [before.as_str(), &sound(&main.0), &middle].into_iter().try_for_each(|part| out.write_all(part.as_bytes()))?;
    items.write(out, name)?;
    out.write_all(after.as_bytes())
}
