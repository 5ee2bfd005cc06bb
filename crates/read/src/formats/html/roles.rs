//! The part that an element plays in its page, by its name and its attributes.

use super::attributes::attribute;
use super::elements::Element;

/// The part that an element plays in the page as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Main,
    Article,
    /// A banner; it stays where the page's only main heading is in it.
    Header,
    /// A button; what it says stays where that is a heading.
    Button,
    Skip,
    /// A cell with the numbers of the lines in the next, where that holds a listing.
    Numbers,
    /// A form, a dialog and the like: content, but the headings in it are not those of the page.
    Apart,
    None,
}

impl Role {
    /// The role of an element that begins with `tag`. A header inside a section is not the page's.
    pub(super) fn of(name: &str, tag: &str, kind: Element, in_section: impl FnOnce() -> bool) -> Self {
        let is = |names: &[&str]| names.iter().any(|n| n.eq_ignore_ascii_case(name));
        // The notation that a formula was made from stands beside what it shows, and how a word is read above the word.
        if is(&["nav", "footer", "noscript", "select", "svg", "annotation", "annotation-xml", "rt", "rp", "rtc"]) {
            return Self::Skip;
        }
        if is(&["button"]) {
            // A tab is the name of its panel.
            let is_tab = attribute(tag, "role").is_some_and(|role| role.trim().eq_ignore_ascii_case("tab"));
            let shown = if is_tab { Self::None } else { Self::Button };
            return if is_hidden(tag) { Self::Skip } else { shown };
        }
        if is(&["dialog"]) && attribute(tag, "open").is_none() {
            return Self::Skip;
        }
        if is(&["aside"]) && !is_admonition(tag) {
            return Self::Skip;
        }
        if is(&["header"]) && !in_section() {
            return Self::Header;
        }
        if tag.len() > name.len() + 2
            && kind != Element::Page
            && let Some(role) = Self::by_attributes(tag, kind)
        {
            return role;
        }
        match name {
            _ if is(&["main"]) => Self::Main,
            _ if is(&["article"]) => Self::Article,
            _ if is(&["form", "dialog"]) || kind != Element::Page && is_apart(tag) => Self::Apart,
            _ => Self::None,
        }
    }

    /// The role that the attributes of a tag give its element, if they do.
    fn by_attributes(tag: &str, kind: Element) -> Option<Self> {
        let role = attribute(tag, "role").map(|role| role.trim().to_ascii_lowercase()).unwrap_or_default();
        match role.as_str() {
            "main" => return Some(Self::Main),
            "navigation" | "banner" | "contentinfo" | "search" | "menu" | "menubar" | "toolbar" => {
                return Some(Self::Skip);
            }
            "complementary" if !is_admonition(tag) => return Some(Self::Skip),
            // Of the panels behind tabs a page shows one at a time, but the reader may see each.
            "tabpanel" => return None,
            _ => {}
        }
        // MediaWiki has `[edit]` in or behind each heading.
        if is_hidden(tag) || has_class(tag, &["mw-editsection"]) {
            return Some(Self::Skip);
        }
        (kind == Element::Cell && is_line_numbers(tag)).then_some(Self::Numbers)
    }

    /// True for parts that are passed over.
    pub(super) fn is_skipped(self) -> bool {
        matches!(self, Self::Header | Self::Button | Self::Skip)
    }
}

/// Attributes that keep an element from being seen.
pub(super) fn is_hidden(tag: &str) -> bool {
    let has = |name: &str| attribute(tag, name);
    has("hidden").is_some_and(|value| !value.eq_ignore_ascii_case("until-found"))
        || has("aria-hidden").is_some_and(|value| value.eq_ignore_ascii_case("true"))
        || has("style").is_some_and(|style| {
            let style: String = style.chars().filter(|c| !c.is_whitespace()).collect();
            style.to_ascii_lowercase().contains("display:none")
        })
}

/// Attributes of what opens over a page, or is for screen readers alone, and of the name of the site.
fn is_apart(tag: &str) -> bool {
    const CLASSES: &[&str] =
        &["sr-only", "visually-hidden", "screen-reader-text", "site-title", "site-name", "menu-title"];
    const WORDS: &[&str] = &["modal", "dialog", "popup", "cookie", "cookies", "consent"];
    let has = |known: &[&str], word: &str| known.iter().any(|known| known.eq_ignore_ascii_case(word));
    if !tag.contains(|c: char| c.is_ascii_whitespace()) {
        return false;
    }
    attribute(tag, "role").is_some_and(|role| has(&["dialog", "alertdialog"], role.trim()))
        || attribute(tag, "class").is_some_and(|class| {
            let mut classes = class.split_ascii_whitespace();
            classes.any(|class| has(CLASSES, class) || class.split(['-', '_']).any(|word| has(WORDS, word)))
        })
}

/// Generators write notes and warnings, which are content, as `aside`.
fn is_admonition(tag: &str) -> bool {
    const WORDS: &[&str] =
        &["note", "tip", "hint", "warning", "caution", "danger", "important", "info", "admonition", "callout", "alert"];
    ["class", "aria-label", "role"].iter().filter_map(|name| attribute(tag, name)).any(|value| {
        value
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|word| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
    })
}

/// True for the tag of the cell beside a listing that holds the numbers of its lines.
pub(super) fn is_line_numbers(tag: &str) -> bool {
    has_class(tag, &["gutter", "lineno", "linenos", "rouge-gutter"])
}

/// True for the tag of a cell that holds a listing.
pub(super) fn is_code(tag: &str) -> bool {
    has_class(tag, &["code"])
}

fn has_class(tag: &str, classes: &[&str]) -> bool {
    attribute(tag, "class").is_some_and(|class| class.split_ascii_whitespace().any(|word| classes.contains(&word)))
}
