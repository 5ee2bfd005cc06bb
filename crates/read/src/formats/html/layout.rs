//! Tables that only lay a page out, as pages once did and mails still do: what is in them is read as if they were not
//! there.
//!
//! A heading in such a table owns what comes after it, even behind the table. So only one that holds nearly all text of
//! its page is taken for that, or one in it; in doubt, a table is one of data.

use pericope_api::Span;

use super::attributes::attribute;
use super::content::Hidden;
use super::elements::{Element, element};
use super::roles::is_line_numbers;
use super::tokens::{Token, Tokens};

/// The first bytes of the tables in `span` that hold no rows of data, in order. What is `hidden` is no text.
pub(super) fn layout_tables(source: &str, span: Span, hidden: &[Hidden]) -> Vec<usize> {
    let mut tables = Tables::default();
    let mut hidden = hidden.iter().peekable();
    for token in Tokens::new(source, span) {
        let at = token.span().start;
        while hidden.next_if(|part| part.span.end <= at).is_some() {}
        match token {
            Token::Tag { name, closing, span } => tables.tag(name, closing, span.of(source), span.start),
            Token::Text(span) if hidden.peek().is_none_or(|part| at < part.span.start) => {
                tables.text(span.of(source).trim().len());
            }
            _ => {}
        }
    }
    tables.layout()
}

/// A table, and what is in it.
#[derive(Default)]
struct Table {
    start: usize,
    /// Where the table that it is in stands among all.
    around: Option<usize>,
    /// It says that it is no table.
    none: bool,
    /// It has what only tables of data have.
    data: bool,
    /// Bytes of text in it.
    text: usize,
    /// The current place is in a caption or in the head of a column.
    label: bool,
    /// Bytes of text in the current cell.
    cell: usize,
    /// Cells with text in the current row.
    cells: usize,
    /// The current row holds a heading, paragraphs and the like, or another table.
    rich: bool,
    /// The most cells with text in a row.
    widest: usize,
    /// The same of the rows that are rich.
    widest_rich: usize,
    /// Rows that are rich and have more than one cell with text.
    records: usize,
    has: Contents,
}

/// What a table holds.
#[derive(Default)]
struct Contents {
    /// A heading of level 1 to 3 that is no caption and no head of a column.
    heading: bool,
    /// Paragraphs, lists and the like.
    blocks: bool,
    /// `pre`.
    listing: bool,
    /// A cell with the numbers of the lines in another.
    numbers: bool,
    /// Another table.
    table: bool,
}

#[derive(Default)]
struct Tables {
    all: Vec<Table>,
    /// Where the innermost table that is open stands among all.
    open: Option<usize>,
    /// Bytes of text.
    text: usize,
}

impl Tables {
    fn innermost(&mut self) -> Option<&mut Table> {
        let open = self.open?;
        self.all.get_mut(open)
    }

    fn text(&mut self, len: usize) {
        self.text += len;
        if let Some(table) = self.innermost() {
            table.text += len;
            table.cell += len;
        }
    }

    fn tag(&mut self, name: &str, closing: bool, tag: &str, start: usize) {
        match (element(name), closing) {
            (Element::Table, false) => {
                let around = self.open;
                self.open = Some(self.all.len());
                self.all.push(Table { start, around, none: is_none(tag), data: is_data(tag), ..Table::default() });
            }
            (Element::Table, true) => self.end(),
            (kind, _) => {
                if let Some(table) = self.innermost() {
                    table.note(name, kind, closing, tag);
                }
            }
        }
    }

    /// The innermost table ends.
    fn end(&mut self) {
        let Some(table) = self.innermost() else { return };
        table.end_row();
        let heading = table.has.heading && !table.data;
        let (blocks, text, around) = (table.has.blocks, table.text, table.around);
        self.open = around;
        if let Some(around) = self.innermost() {
            around.text += text;
            around.cell += text;
            around.rich = true;
            around.has.table = true;
            around.has.blocks |= blocks;
            around.has.heading |= heading && !around.label;
        }
    }

    fn layout(mut self) -> Vec<usize> {
        while self.open.is_some() {
            self.end();
        }
        let mut layout: Vec<bool> = Vec::with_capacity(self.all.len());
        for table in &self.all {
            let in_layout = table.around.and_then(|around| layout.get(around).copied()).unwrap_or(false);
            layout.push(table.is_layout(in_layout, self.text));
        }
        let all = self.all.iter().zip(layout);
        all.filter(|(_, layout)| *layout).map(|(table, _)| table.start).collect()
    }
}

impl Table {
    fn note(&mut self, name: &str, kind: Element, closing: bool, tag: &str) {
        let is = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        match kind {
            Element::Cell => {
                self.end_cell();
                self.label = !closing && is(&["th"]);
                self.data |= self.label;
                self.has.numbers |= !closing && is_line_numbers(tag);
            }
            Element::Row => {
                self.end_row();
                self.label = false;
            }
            Element::Heading(1..=3) if !closing && !self.label => {
                self.has.heading = true;
                self.rich = true;
            }
            Element::Block if is(&["caption"]) => {
                self.label = !closing;
                self.data = true;
            }
            Element::Block if is(&["thead"]) => self.data = true,
            Element::List => self.blocks(),
            Element::Pre => {
                self.blocks();
                self.has.listing = true;
            }
            Element::Block if is(&["p", "blockquote"]) => self.blocks(),
            _ => {}
        }
    }

    fn blocks(&mut self) {
        self.has.blocks = true;
        self.rich = true;
    }

    fn end_cell(&mut self) {
        self.cells += usize::from(self.cell > 0);
        self.cell = 0;
    }

    fn end_row(&mut self) {
        self.end_cell();
        self.widest = self.widest.max(self.cells);
        if self.rich {
            self.widest_rich = self.widest_rich.max(self.cells);
            self.records += usize::from(self.cells > 1);
        }
        self.cells = 0;
        self.rich = false;
    }

    /// True where it lays out a page of so many bytes of text: it holds nearly all of it, and a heading, or blocks around
    /// another table; or it is a column in such a table; or where it stands for the numbers beside a listing.
    fn is_layout(&self, in_layout: bool, text: usize) -> bool {
        let has = &self.has;
        if self.none || has.listing && has.numbers {
            return true;
        }
        // One row may have the menu, the content and what is beside it.
        if self.data || self.records > 1 || self.widest_rich > 3 {
            return false;
        }
        if in_layout && self.widest <= 1 && (has.heading || has.blocks) {
            return true;
        }
        let most = if in_layout { self.text * 2 >= text } else { self.text * 5 >= text * 4 };
        most && (has.heading || has.blocks && has.table)
    }
}

/// True for the tag of a table that says that it is none.
fn is_none(tag: &str) -> bool {
    let role = attribute(tag, "role").unwrap_or_default();
    ["presentation", "none"].iter().any(|none| role.trim().eq_ignore_ascii_case(none))
}

/// True for the tag of a table that says that it is one of data.
fn is_data(tag: &str) -> bool {
    const CLASSES: &[&str] = &[
        "confluencetable",
        "data",
        "data-table",
        "datatable",
        "docutils",
        "infobox",
        "table",
        "tableblock",
        "wikitable",
    ];
    const ROLES: &[&str] = &["table", "grid", "treegrid"];
    let has = |known: &[&str], word: &str| known.iter().any(|known| known.eq_ignore_ascii_case(word));
    attribute(tag, "border").is_some_and(|border| !border.trim().starts_with('0'))
        || attribute(tag, "summary").is_some_and(|summary| !summary.trim().is_empty())
        || attribute(tag, "role").is_some_and(|role| has(ROLES, role.trim()))
        || attribute(tag, "class").is_some_and(|class| class.split_ascii_whitespace().any(|word| has(CLASSES, word)))
}
