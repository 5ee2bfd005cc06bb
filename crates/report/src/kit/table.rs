//! Tables that scroll inside their own frame, with a caption, scoped heads and sort keys for the script.

use maud::{Markup, Render, html};

use super::svg;

/// A column's head.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    text: String,
    numeric: bool,
    explained: Option<&'static str>,
}

impl Head {
    /// A column of words.
    pub fn words(text: &str) -> Self {
        Self { text: text.to_owned(), numeric: false, explained: None }
    }

    /// A column of numbers.
    pub fn number(text: &str) -> Self {
        Self { numeric: true, ..Self::words(text) }
    }

    /// The same with a sentence that shows on hovering.
    pub fn explained(self, explained: &'static str) -> Self {
        Self { explained: Some(explained).filter(|text| !text.is_empty()), ..self }
    }
}

/// A cell and what it is sorted by.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    content: Markup,
    class: Option<String>,
    key: Option<f64>,
}

impl Value {
    /// Words, sorted by themselves.
    pub fn words(content: impl Render) -> Self {
        Self { content: content.render(), class: None, key: None }
    }

    /// A number as shown and as it is.
    pub fn number(content: impl Render, key: f64) -> Self {
        Self { key: Some(key), ..Self::words(content) }
    }

    /// Set in bold where `strong`.
    pub fn strong(self, strong: bool) -> Self {
        if strong { Self { content: html! { strong { (self.content) } }, ..self } } else { self }
    }

    /// With a class of its own.
    pub fn class(self, class: impl Into<String>) -> Self {
        Self { class: Some(class.into()), ..self }
    }
}

/// A row: its head and its cells.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    head: Markup,
    key: Option<f64>,
    values: Vec<Value>,
    opens: bool,
    metric: Option<String>,
}

impl Row {
    /// A row with this head.
    pub fn new(head: impl Render, values: Vec<Value>) -> Self {
        Self { head: head.render(), key: None, values, opens: false, metric: None }
    }

    /// The row of a chunker, whose marker stands before its name.
    pub fn of(place: usize, name: &str, values: Vec<Value>) -> Self {
        Self::new(html! { (svg::badge(place)) (name) }, values)
    }

    /// True where a group of rows begins.
    pub fn opens(self, opens: bool) -> Self {
        Self { opens, ..self }
    }

    /// The number that the row is sorted by in its first column.
    pub fn key(self, key: f64) -> Self {
        Self { key: Some(key), ..self }
    }

    /// The metric by which the script filters.
    pub fn metric(self, metric: String) -> Self {
        Self { metric: Some(metric), ..self }
    }
}

/// Returns a table. `caption` also names the frame that scrolls.
pub(crate) fn table(caption: &str, heads: &[Head], rows: &[Row]) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="region" aria-label=(caption) {
            table {
                caption { span { (caption) } }
                thead {
                    tr {
                        @for head in heads {
                            th scope="col" class=[head.numeric.then_some("num")] title=[head.explained] { (head.text) }
                        }
                    }
                }
                "\n"
                tbody { @for row in rows { (line(heads, row)) "\n" } }
            }
        }
        "\n"
    }
}

fn line(heads: &[Head], row: &Row) -> Markup {
    html! {
        tr data-metric=[&row.metric] class=[row.opens.then_some("opens")] {
            th scope="row" data-key=[sort_key(row.key)] { (row.head) }
            @for (value, head) in row.values.iter().zip(heads.iter().skip(1)) {
                td class=[class(head, value)] data-key=[sort_key(value.key)] { (value.content) }
            }
        }
    }
}

fn class<'a>(head: &Head, value: &'a Value) -> Option<&'a str> {
    value.class.as_deref().or(head.numeric.then_some("num"))
}

/// Six decimals order whatever the table shows.
fn sort_key(key: Option<f64>) -> Option<String> {
    key.filter(|key| key.is_finite()).map(|key| format!("{}", (key * 1e6).round() / 1e6))
}
