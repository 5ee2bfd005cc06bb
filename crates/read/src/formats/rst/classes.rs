//! The directives by name, and what each means.

/// The meaning of a directive to a reader of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Its content is code.
    Code,
    /// The whole of it is a table.
    Table,
    /// An image: the text in its place is seen, and what stands below it.
    Image,
    /// The argument is a line of its own over the content: a title, a signature.
    Titled,
    /// The argument is the beginning of the content.
    Content,
    /// The content alone is seen, since the argument is for programs.
    Body,
    /// Nothing of it is seen.
    Hidden,
    /// Nobody knows: it is content if it has any, else nothing.
    Unknown,
}

const CODE: &[&str] = &[
    "code",
    "code-block",
    "code-cell",
    "code-tab",
    "digraph",
    "doctest",
    "graph",
    "graphviz",
    "ipython",
    "jupyter-execute",
    "math",
    "mermaid",
    "parsed-literal",
    "plot",
    "productionlist",
    "prompt",
    "sourcecode",
    "testcleanup",
    "testcode",
    "testoutput",
    "testsetup",
    "uml",
];
const TABLES: &[&str] = &["csv-table", "flat-table", "list-table", "table"];
const IMAGES: &[&str] = &["figure", "image"];
const TITLED: &[&str] = &[
    "admonition",
    "attribute",
    "centered",
    "class",
    "classmethod",
    "cmdoption",
    "confval",
    "data",
    "decorator",
    "describe",
    "dropdown",
    "enum",
    "envvar",
    "event",
    "exception",
    "function",
    "group-tab",
    "macro",
    "member",
    "method",
    "namespace",
    "object",
    "option",
    "program",
    "property",
    "rubric",
    "setting",
    "sidebar",
    "staticmethod",
    "struct",
    "tab",
    "topic",
    "type",
    "union",
    "var",
    "versionadded",
    "versionchanged",
    "versionremoved",
];
const CONTENT: &[&str] = &[
    "attention",
    "caution",
    "compound",
    "danger",
    "deprecated",
    "deprecated-removed",
    "epigraph",
    "error",
    "highlights",
    "hint",
    "important",
    "note",
    "pull-quote",
    "seealso",
    "tip",
    "todo",
    "warning",
];
const HIDDEN: &[&str] = &[
    "autosummary",
    "bibliography",
    "contents",
    "currentmodule",
    "date",
    "default-domain",
    "default-role",
    "footer",
    "header",
    "highlight",
    "include",
    "index",
    "literalinclude",
    "meta",
    "module",
    "py-module",
    "raw",
    "role",
    "section-numbering",
    "sectnum",
    "tabularcolumns",
    "target-notes",
    "title",
    "toctree",
];

const BODIES: &[&str] = &["container", "cssclass", "grid", "grid-item", "ifconfig", "only", "rst-class"];
/// Those of the others whose name is a word of the text: `deprecated:: 2.0`.
const WORDS: &[&str] = &["deprecated", "deprecated-removed", "versionadded", "versionchanged", "versionremoved"];

/// The name of a directive without that of its domain, in small letters.
fn bare(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    lower.rsplit(':').next().unwrap_or(&lower).to_owned()
}

/// True where the name says what the argument is about.
pub(super) fn is_word(name: &str) -> bool {
    WORDS.binary_search(&bare(name).as_str()).is_ok()
}

/// True where `name` gives the next block a style, rather than describing a class of a program.
pub(super) fn is_style(name: &str, argument: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'_' | b' ');
    name == "class" && !argument.is_empty() && argument.bytes().all(is_plain)
}

/// The class of the directive of that name.
pub(super) fn class(name: &str) -> Class {
    let bare = bare(name);
    let last = bare.as_str();
    let is = |names: &[&str]| names.binary_search(&last).is_ok();
    match last {
        _ if is(CODE) => Class::Code,
        _ if is(TABLES) => Class::Table,
        _ if is(IMAGES) => Class::Image,
        _ if is(TITLED) => Class::Titled,
        _ if is(CONTENT) => Class::Content,
        _ if is(BODIES) => Class::Body,
        _ if is(HIDDEN) || last.starts_with("auto") => Class::Hidden,
        _ => Class::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::{BODIES, CODE, CONTENT, Class, HIDDEN, IMAGES, TABLES, TITLED, WORDS, class, is_style, is_word};

    #[test]
    fn the_tables_are_sorted() {
        for names in [CODE, TABLES, IMAGES, TITLED, CONTENT, BODIES, WORDS, HIDDEN] {
            assert!(names.is_sorted(), "{names:?}");
        }
    }

    #[test]
    fn names_with_a_domain_and_in_any_case() {
        assert_eq!(class("py:function"), Class::Titled);
        assert_eq!(class("Note"), Class::Content);
        assert_eq!(class("autoclass"), Class::Hidden);
        assert_eq!(class("unheard-of"), Class::Unknown);
        assert!(is_word("versionAdded") && !is_word("note"));
        assert!(is_style("class", "big red") && !is_style("class", "Pump(x)") && !is_style("py:class", "big"));
    }
}
