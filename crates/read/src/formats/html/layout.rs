//! Tables that only lay a page out, as pages once did and mails still do: what is in them is read as if they were not
//! there.

use pericope_api::Span;

use super::attributes::attribute;
use super::elements::{Element, element};
use super::roles::is_line_numbers;
use super::tokens::{Token, Tokens};

/// The first bytes of the tables in `span` that hold no rows of data, in order.
pub(super) fn layout_tables(source: &str, span: Span) -> Vec<usize> {
    let mut tables = Tables::default();
    for token in Tokens::new(source, span) {
        if let Token::Tag { name, closing, span } = token {
            tables.tag(name, closing, span.of(source), span.start);
        }
    }
    tables.layout()
}

/// A table, and what is in it.
struct Table {
    start: usize,
    /// Where the table that it is in stands among all.
    around: Option<usize>,
    cells: usize,
    /// The current place is in a caption or in the head of a column.
    label: bool,
    has: Contents,
}

/// What a table holds.
#[derive(Default)]
struct Contents {
    /// A heading that is no caption and no head of a column.
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
    /// First bytes of tables that say of themselves that they are none.
    said: Vec<usize>,
}

impl Tables {
    fn tag(&mut self, name: &str, closing: bool, tag: &str, start: usize) {
        match (element(name), closing) {
            (Element::Table, false) => {
                let role = attribute(tag, "role").unwrap_or_default();
                if ["presentation", "none"].iter().any(|none| role.trim().eq_ignore_ascii_case(none)) {
                    self.said.push(start);
                }
                let has = Contents::default();
                self.all.push(Table { start, around: self.open, cells: 0, label: false, has });
                self.open = Some(self.all.len() - 1);
            }
            (Element::Table, true) => self.end(),
            (Element::Heading(_), false) => self.heading(),
            (kind, _) => {
                if let Some(open) = self.open
                    && let Some(table) = self.all.get_mut(open)
                {
                    table.note(name, kind, closing, tag);
                }
            }
        }
    }

    /// The innermost table ends.
    fn end(&mut self) {
        let Some(table) = self.open.and_then(|open| self.all.get(open)) else { return };
        let blocks = table.has.blocks;
        self.open = table.around;
        if let Some(around) = table.around
            && let Some(around) = self.all.get_mut(around)
        {
            around.has.table = true;
            around.has.blocks |= blocks;
        }
    }

    /// A heading is one of every table around it, up to one that it is a label of.
    fn heading(&mut self) {
        let mut open = self.open;
        while let Some(at) = open
            && let Some(table) = self.all.get_mut(at)
        {
            if table.label || table.has.heading {
                return;
            }
            table.has.heading = true;
            open = table.around;
        }
    }

    fn layout(mut self) -> Vec<usize> {
        while self.open.is_some() {
            self.end();
        }
        let mut layout: Vec<bool> = Vec::with_capacity(self.all.len());
        for table in &self.all {
            let in_layout = table.around.and_then(|around| layout.get(around).copied()).unwrap_or(false);
            layout.push(table.is_layout(in_layout) || self.said.binary_search(&table.start).is_ok());
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
                self.label = !closing && is(&["th"]);
                self.cells += usize::from(!closing);
                self.has.numbers |= !closing && is_line_numbers(tag);
            }
            Element::Row => self.label = false,
            Element::Block if is(&["caption"]) => self.label = !closing,
            Element::List => self.has.blocks = true,
            Element::Pre => {
                self.has.blocks = true;
                self.has.listing = true;
            }
            Element::Block if is(&["p", "blockquote"]) => self.has.blocks = true,
            _ => {}
        }
    }

    /// True where it lays out a page: it holds a heading, or blocks around another table, or is a box in such a table; or
    /// where it stands for the numbers beside a listing.
    fn is_layout(&self, in_layout: bool) -> bool {
        let has = &self.has;
        let is_box = in_layout && self.cells <= 1;
        has.heading || has.blocks && (has.table || is_box) || has.listing && has.numbers
    }
}
