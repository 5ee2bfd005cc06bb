//! Tables that scroll inside their own frame, with a caption, scoped heads and sort keys for the script.

use crate::kit::markup::Markup;
use crate::kit::svg;

/// A column's head.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    text: String,
    numeric: bool,
    explained: &'static str,
}

impl Head {
    /// A column of words.
    pub fn words(text: &str) -> Self {
        Self { text: text.to_owned(), numeric: false, explained: "" }
    }

    /// A column of numbers.
    pub fn number(text: &str) -> Self {
        Self { text: text.to_owned(), numeric: true, explained: "" }
    }

    /// The same with a sentence that shows on hovering.
    pub fn explained(self, explained: &'static str) -> Self {
        Self { explained, ..self }
    }
}

/// A cell and what it is sorted by.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    text: String,
    key: Option<f64>,
    strong: bool,
}

impl Value {
    /// Words, sorted by themselves.
    pub fn words(text: impl Into<String>) -> Self {
        Self { text: text.into(), key: None, strong: false }
    }

    /// A number as shown and as it is.
    pub fn number(text: impl Into<String>, key: f64) -> Self {
        Self { text: text.into(), key: Some(key), strong: false }
    }

    /// Set in bold where `strong`.
    pub fn strong(self, strong: bool) -> Self {
        Self { strong, ..self }
    }
}

/// A row: its head, whose chunker's marker stands before it, and its cells.
#[derive(Debug, Clone)]
pub(crate) struct Row {
    pub head: String,
    pub place: Option<usize>,
    pub values: Vec<Value>,
    /// True where a group of rows begins.
    pub opens: bool,
    /// Attributes for the script's filters.
    pub data: Vec<(&'static str, String)>,
}

/// Writes a table. `caption` also names the frame that scrolls.
pub(crate) fn table(m: &mut Markup, caption: &str, heads: &[Head], rows: &[Row]) {
    let frame = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", caption)];
    m.element("div", &frame, |m| {
        m.element("table", &[], |m| {
            m.element("caption", &[], |m| m.leaf("span", &[], caption));
            m.element("thead", &[], |m| {
                m.element("tr", &[], |m| {
                    for head in heads {
                        let mut attributes = vec![("scope", "col")];
                        if head.numeric {
                            attributes.push(("class", "num"));
                        }
                        if !head.explained.is_empty() {
                            attributes.push(("title", head.explained));
                        }
                        m.leaf("th", &attributes, &head.text);
                    }
                });
            });
            m.line();
            m.element("tbody", &[], |m| {
                for row in rows {
                    write_row(m, heads, row);
                }
            });
        });
    });
    m.line();
}

fn write_row(m: &mut Markup, heads: &[Head], row: &Row) {
    let mut attributes: Vec<(&str, &str)> = row.data.iter().map(|(name, value)| (*name, value.as_str())).collect();
    if row.opens {
        attributes.push(("class", "opens"));
    }
    m.element("tr", &attributes, |m| {
        m.element("th", &[("scope", "row")], |m| {
            if let Some(place) = row.place {
                svg::badge(m, place);
            }
            m.text(&row.head);
        });
        for (value, head) in row.values.iter().zip(heads.iter().skip(1)) {
            // Six decimals order whatever the table shows.
            let key = value.key.filter(|key| key.is_finite()).map(|key| format!("{}", (key * 1e6).round() / 1e6));
            let mut attributes = Vec::new();
            if head.numeric {
                attributes.push(("class", "num"));
            }
            if let Some(key) = &key {
                attributes.push(("data-key", key.as_str()));
            }
            m.element("td", &attributes, |m| {
                if value.strong { m.leaf("strong", &[], &value.text) } else { m.text(&value.text) }
            });
        }
    });
    m.line();
}
