//! End tags that a page may leave out: an element also ends where one begins that cannot be in it.

use super::elements::Element;
use crate::work;

/// What an element ends by beginning, and what ends it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rule {
    /// `p`.
    Paragraph,
    /// `li`.
    Item,
    /// `dt` or `dd`.
    Term,
    /// `table`.
    Table,
    /// `caption` or `colgroup`.
    Caption,
    /// `thead`, `tbody` or `tfoot`.
    Rows,
    /// `tr`.
    Row,
    /// `td` or `th`.
    Cell,
    /// `option`.
    Choice,
    /// `optgroup`.
    Choices,
    /// `rt`, `rp` and the like.
    Ruby,
    /// `button`: a paragraph around it goes on in it.
    Button,
    /// `div` or `address`, which do not keep an item open.
    Division,
    /// Any other block that ends a paragraph.
    Block,
    /// A block that may be in a paragraph.
    Part,
    /// Part of a line, or of the page's frame.
    Inline,
}

/// The blocks with a rule of their own.
const BLOCKS: &[(&str, Rule)] = &[
    ("p", Rule::Paragraph),
    ("div", Rule::Division),
    ("li", Rule::Item),
    ("dt", Rule::Term),
    ("dd", Rule::Term),
    ("tbody", Rule::Rows),
    ("thead", Rule::Rows),
    ("tfoot", Rule::Rows),
    ("caption", Rule::Caption),
    ("option", Rule::Choice),
    ("optgroup", Rule::Choices),
    ("button", Rule::Button),
    ("address", Rule::Division),
    ("frameset", Rule::Part),
    ("legend", Rule::Part),
    ("noscript", Rule::Part),
    ("select", Rule::Part),
];

/// What becomes of an open element where another begins.
enum Fate {
    Ends,
    Stays,
    /// It stays, and so do those around it.
    Bars,
}

impl Rule {
    /// The rule for the element `name`, which is of kind `kind`.
    pub(super) fn of(name: &str, kind: Element) -> Self {
        let is = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        match kind {
            Element::Table => Self::Table,
            Element::Row => Self::Row,
            Element::Cell => Self::Cell,
            Element::Heading(_) | Element::List | Element::Pre => Self::Block,
            Element::Block => {
                let known = BLOCKS.iter().find(|(block, _)| block.eq_ignore_ascii_case(name));
                known.map_or(Self::Block, |(_, rule)| *rule)
            }
            Element::Inline if is(&["rt", "rp", "rb", "rtc"]) => Self::Ruby,
            Element::Inline if is(&["colgroup"]) => Self::Caption,
            Element::Inline | Element::Break | Element::Head | Element::Page => Self::Inline,
        }
    }

    /// How many of the `open` elements, innermost first, end where an element of this rule begins.
    pub(super) fn ends(self, open: impl Iterator<Item = Self>) -> usize {
        let mut ended = 0;
        for (i, open) in open.enumerate() {
            work::looked(1);
            match self.fate(open) {
                Fate::Ends => ended = i + 1,
                Fate::Stays => {}
                Fate::Bars => break,
            }
        }
        ended
    }

    /// What becomes of an `open` element where one of this rule begins: as the HTML standard has it, but for buttons.
    fn fate(self, open: Self) -> Fate {
        match (self, open) {
            (Self::Inline | Self::Part | Self::Button, _) => Fate::Bars,
            (Self::Cell, Self::Cell | Self::Caption)
            | (Self::Row, Self::Row | Self::Cell | Self::Caption)
            | (Self::Rows | Self::Caption, Self::Rows | Self::Row | Self::Cell | Self::Caption) => Fate::Ends,
            (Self::Cell | Self::Row | Self::Rows | Self::Caption, Self::Table) => Fate::Bars,
            (Self::Cell | Self::Row | Self::Rows | Self::Caption, _) => Fate::Stays,
            (Self::Choice, Self::Choice) | (Self::Choices, Self::Choice | Self::Choices) | (Self::Ruby, Self::Ruby) => {
                Fate::Ends
            }
            (Self::Choice | Self::Choices | Self::Ruby, _) => Fate::Bars,
            (Self::Item, Self::Item) | (Self::Term, Self::Term) | (_, Self::Paragraph) => Fate::Ends,
            (Self::Item | Self::Term, Self::Division) => Fate::Stays,
            (_, Self::Inline | Self::Part | Self::Choice | Self::Choices | Self::Ruby) => Fate::Stays,
            // A block has ended the paragraph around it, so that none is open beyond it.
            _ => Fate::Bars,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Rule;
    use crate::formats::html::elements::element;

    fn rule(name: &str) -> Rule {
        Rule::of(name, element(name))
    }

    /// The names of the open elements that are left where `next` begins.
    fn left<'a>(open: &'a str, next: &str) -> Vec<&'a str> {
        let mut open: Vec<&str> = open.split(' ').collect();
        let ended = rule(next).ends(open.iter().rev().map(|name| rule(name)));
        open.truncate(open.len() - ended);
        open
    }

    #[test]
    fn elements_end_where_the_next_begins() {
        for (open, next, kept) in [
            ("ul LI b", "li", "ul"),
            ("ul li div p", "li", "ul"),
            ("ul li ul", "li", "ul li ul"),
            ("dl dt", "dd", "dl"),
            ("div p a", "h2", "div"),
            ("div p span", "hr", "div"),
            ("div p span", "img", "div p span"),
            ("p button", "div", "p button"),
            ("table tr td ul li", "td", "table tr"),
            ("table tbody tr td p", "tr", "table tbody"),
            ("table thead tr th", "tbody", "table"),
            ("table caption", "tr", "table"),
            ("table tr td table", "tr", "table tr td table"),
            ("select optgroup option", "optgroup", "select"),
            ("select optgroup option", "option", "select optgroup"),
            ("ruby rt", "rp", "ruby"),
        ] {
            assert_eq!(left(open, next).join(" "), kept, "{next} in {open}");
        }
    }
}
