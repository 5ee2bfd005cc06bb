//! The meaning of tags for the layout of a page.

/// The effect of an element on the text in and around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Element {
    /// A heading of level 1 to 6.
    Heading(u8),
    /// A list: what is in it are items.
    List,
    /// `pre`.
    Pre,
    /// `table`.
    Table,
    /// A row of a table: begins a line.
    Row,
    /// A cell of a table: set off by a space.
    Cell,
    /// `br`.
    Break,
    /// `head`.
    Head,
    /// `body` or `html`.
    Page,
    /// Any other element that begins a line.
    Block,
    /// Part of a line of text.
    Inline,
}

/// Elements that begin a line, sorted.
const BLOCKS: &[&str] = &[
    "address",
    "article",
    "aside",
    "blockquote",
    "body",
    "button",
    "caption",
    "center",
    "dd",
    "details",
    "dialog",
    "dir",
    "div",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frameset",
    "header",
    "hgroup",
    "hr",
    "legend",
    "li",
    "main",
    "nav",
    "noscript",
    "optgroup",
    "option",
    "p",
    "search",
    "section",
    "select",
    "summary",
    "tbody",
    "tfoot",
    "thead",
];

/// Returns the kind of the element `name`, in whatever case.
pub(super) fn element(name: &str) -> Element {
    let mut buffer = [0u8; 12];
    let Some(lower) = buffer.get_mut(..name.len()) else { return Element::Inline };
    lower.copy_from_slice(name.as_bytes());
    lower.make_ascii_lowercase();
    match &*lower {
        [b'h', digit @ b'1'..=b'6'] => Element::Heading(digit - b'0'),
        b"ul" | b"ol" | b"menu" | b"dl" => Element::List,
        b"pre" | b"listing" => Element::Pre,
        b"table" => Element::Table,
        b"tr" => Element::Row,
        b"td" | b"th" => Element::Cell,
        b"br" => Element::Break,
        b"head" => Element::Head,
        b"body" | b"html" => Element::Page,
        lower if BLOCKS.binary_search_by(|block| block.as_bytes().cmp(lower)).is_ok() => Element::Block,
        _ => Element::Inline,
    }
}

/// True for elements without content and closing tag.
pub(super) fn is_void(name: &str) -> bool {
    const VOID: &[&str] = &[
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr",
    ];
    VOID.iter().any(|void| void.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS, Element, element};

    #[test]
    fn names_in_any_case() {
        assert!(BLOCKS.is_sorted());
        assert_eq!(element("H2"), Element::Heading(2));
        assert_eq!(element("Div"), Element::Block);
        assert_eq!(element("h7"), Element::Inline);
        assert_eq!(element("a-custom-element"), Element::Inline);
    }
}
