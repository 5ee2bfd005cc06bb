//! The page around the items.

use maud::html;

use super::data::Items;
use crate::kit::{Page, header};

const STYLE: &str = include_str!("items.css");
const SCRIPT: &str = include_str!("items.js");

/// Returns the page of all items of a run of this name.
pub(in crate::run) fn page(name: &str, items: &Items) -> String {
    let (title, data) = (format!("{name}, item by item – Pericope"), items.json(name));
    let page = Page { title: &title, style: STYLE, script: SCRIPT, data: Some(&data), feed: None };
    let main = html! {
        noscript { "This page needs its script; items.jsonl holds the same." }
        p id="says" class="facts" role="status" {}
        form id="filters" class="filters" {}
        ol id="list" class="list" {}
        p id="pages" class="switch" {}
    };
    page.render(&header(html! { a href="index.html" { "Report" } " · item by item" }, name, "", &[]), &main)
}
