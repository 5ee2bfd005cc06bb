//! Small parts that several pages share.

use maud::{Markup, Render, html};

/// The head of a page: a word on what it is, its title, facts, and the way to its sections.
pub(crate) fn header(eyebrow: impl Render, title: &str, facts: &str, sections: &[(&str, &str)]) -> Markup {
    html! {
        header class="top" {
            p class="eyebrow" { (eyebrow) }
            h1 { (title) }
            @if !facts.is_empty() { p class="facts" { (facts) } }
            @if !sections.is_empty() {
                nav aria-label="Sections" {
                    @for (target, name) in sections { a href=(target) { (name) } }
                }
            }
        }
        "\n"
    }
}

/// A section with its heading.
pub(crate) fn section(id: &str, title: &str, body: Markup) -> Markup {
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) } "\n"
            (body)
        }
        "\n"
    }
}

/// A list with an entry a line.
pub(crate) fn bullets<T: Render>(class: Option<&str>, lines: impl IntoIterator<Item = T>) -> Markup {
    html! { ul class=[class] { @for line in lines { li { (line) } } } }
}

/// Names and their values.
pub(crate) fn record<T: Render>(facts: impl IntoIterator<Item = (T, impl Render)>) -> Markup {
    html! { dl class="record" { @for (name, value) in facts { dt { (name) } dd { (value) } } } }
}
