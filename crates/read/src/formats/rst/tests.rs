#![allow(clippy::unwrap_used)]

use pericope_api::{Document, Kind};

use crate::{ReadOptions, read_text};

fn read(source: &str) -> Document {
    let document = read_text("d.rst", "rst", source, &ReadOptions::default()).unwrap();
    assert_eq!(document.check(), Ok(()), "{source:?}");
    document
}

/// Kind and visible text of each sentence.
fn seen(document: &Document) -> Vec<(Kind, String)> {
    document.sentences.iter().map(|s| (s.kind, document.visible(s.span).trim().to_owned())).collect()
}

fn expected(rows: &[(Kind, &str)]) -> Vec<(Kind, String)> {
    rows.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect()
}

fn check(source: &str, rows: &[(Kind, &str)]) -> Document {
    let document = read(source);
    assert_eq!(seen(&document), expected(rows), "{source}");
    document
}

#[test]
fn titles_make_sections_in_the_order_of_their_styles() {
    let source = ":orphan:\n\n.. _start here:\n\n=======\n Pumps\n=======\n\nText.\n\nUse *it*\n--------\n\nMore.\n\n\
        Deep\n....\n\nUse it\n------\n\nNot a title\n-\n\n----\n\nEnd.\n";
    let document = read(source);
    let rows = [
        (Kind::Markup, ""),
        (Kind::Heading(1), "Pumps"),
        (Kind::Prose, "Text."),
        (Kind::Heading(2), "Use it"),
        (Kind::Prose, "More."),
        (Kind::Heading(3), "Deep"),
        (Kind::Heading(2), "Use it"),
        (Kind::Prose, "Not a title\n-"),
        (Kind::Markup, ""),
        (Kind::Prose, "End."),
    ];
    let hidden = |(kind, text): (Kind, String)| if kind == Kind::Markup { (kind, String::new()) } else { (kind, text) };
    assert_eq!(seen(&document).into_iter().map(hidden).collect::<Vec<_>>(), expected(&rows));
    assert_eq!(document.title.as_deref(), Some("Pumps"));
    assert_eq!(document.heading_path(5), ["Pumps", "Use it", "Deep"]);
    assert_eq!(document.sentence(1), ".. _start here:\n\n=======\n Pumps\n=======");
    let anchors: Vec<_> = document.anchors.iter().map(|a| a.as_deref().unwrap_or("-")).collect();
    assert_eq!(anchors, ["-", "start-here", "use-it", "deep", "use-it-1"]);
    assert_eq!(document.anchor_at(source.find("More").unwrap()), Some("use-it"));
}

#[test]
fn a_title_begins_with_its_labels() {
    let source = "Text.\n\n.. _one:\n.. _two:\n\n.. A comment.\n\nUse\n---\n\n.. _code:\n\n::\n\n  x\n\n.. _site: http://x.org\n\n\
        Site\n----\n\n.. _quote:\n\n   Quoted.\n\n.. _end:\n";
    let rows = [
        (Kind::Prose, "Text."),
        (Kind::Heading(1), "Use"),
        (Kind::Markup, ""),
        (Kind::Code, "x"),
        (Kind::Markup, ""),
        (Kind::Heading(1), "Site"),
        (Kind::Markup, ""),
        (Kind::Prose, "Quoted."),
        (Kind::Markup, ""),
    ];
    let document = check(source, &rows);
    assert_eq!(document.sentence(1), ".. _one:\n.. _two:\n\n.. A comment.\n\nUse\n---");
    assert_eq!(document.sentence(5), "Site\n----");
    assert_eq!(document.heading_path(1), ["Use"]);
    let anchors: Vec<_> = document.anchors.iter().flatten().map(|anchor| &**anchor).collect();
    assert_eq!(anchors, ["two", "site"]);
}

#[test]
fn code_in_all_its_forms() {
    let source = "Run this. Like so::\n\n    pump --start\n\n    # not a title\n    =============\n\n.. code-block:: sh\n   \
        :linenos:\n\n   ls. Then.\n\n>>> 1 + 1\n2\n\nAlone. ::\n\n> quoted\n> lines\n\n::\n\n  x\n\nEnd.\n";
    check(
        source,
        &[
            (Kind::Prose, "Run this."),
            (Kind::Prose, "Like so:"),
            (Kind::Code, "pump --start\n\n    # not a title\n    ============="),
            (Kind::Code, "ls. Then."),
            (Kind::Code, ">>> 1 + 1\n2"),
            (Kind::Prose, "Alone."),
            (Kind::Code, "> quoted\n> lines"),
            (Kind::Code, "x"),
            (Kind::Prose, "End."),
        ],
    );
}

#[test]
fn inline_markup_reads_as_text() {
    let source = "**Note.** See :ref:`the docs <x>` or :ref:`a.b`. *Then* use ``x. Y`` and :func:`~a.b.c`, or `me`_ \
        or `A site <http://a.b>`_ or word_ or snake_case_name. An \\*asterisk\\*, 2*3*4, |product| [1]_. `Role`:sup: \
        end.\n\n.. |product| replace:: the *Pump*\n.. [1] A footnote. Two.\n";
    check(
        source,
        &[
            (Kind::Prose, "Note."),
            (Kind::Prose, "See the docs or a.b."),
            (Kind::Prose, "Then use x. Y and c, or me or A site or word or snake_case_name."),
            (Kind::Prose, "An *asterisk*, 2*3*4, the Pump."),
            (Kind::Prose, "Role end."),
            (Kind::Markup, ".. |product| replace:: the *Pump*"),
            (Kind::Prose, "A footnote."),
            (Kind::Prose, "Two."),
        ]
        .map(|(kind, text)| if kind == Kind::Markup { (kind, "") } else { (kind, text) }),
    );
}

#[test]
fn lists_and_what_is_in_them() {
    let source = "- One. Two.\n  Same.\n\n  More::\n\n    code\n\n  - nested\n- \n#. numbered\n\nterm\n   What it is.\n\n\
        :field: its text\n\n-a, --all  Show all.\n\nA. Smith wrote this,\nand that.\n\n| a line\n| another\n";
    check(
        source,
        &[
            (Kind::ListItem, "One."),
            (Kind::ListItem, "Two."),
            (Kind::ListItem, "Same."),
            (Kind::ListItem, "More:"),
            (Kind::Code, "code"),
            (Kind::ListItem, "nested"),
            (Kind::Markup, ""),
            (Kind::ListItem, "numbered"),
            (Kind::ListItem, "term"),
            (Kind::ListItem, "What it is."),
            (Kind::ListItem, "field: its text"),
            (Kind::ListItem, "-a, --all  Show all."),
            (Kind::Prose, "A. Smith wrote this,\nand that."),
            (Kind::Prose, "a line\nanother"),
        ],
    );
}

#[test]
fn tables_are_whole() {
    let source = "Text.\n\n+---+---+\n| a | B |\n+===+===+\n| c | d |\n+---+---+\n\n=====  ===\nx. Y   z\n=====  ===\n\
        1      2\n\n3      4\n=====  ===\n\n.. list-table:: The title\n   :widths: 1 2\n\n   * - a\n     - b\n\n\
        .. csv-table::\n   :header: a\n\n   1, 2\n\nEnd.\n";
    check(
        source,
        &[
            (Kind::Prose, "Text."),
            (Kind::Table, "+---+---+\n| a | B |\n+===+===+\n| c | d |\n+---+---+"),
            (Kind::Table, "=====  ===\nx. Y   z\n=====  ===\n1      2\n\n3      4\n=====  ==="),
            (Kind::Table, "The title\n   \n\n   * - a\n     - b"),
            (Kind::Table, "a\n\n   1, 2"),
            (Kind::Prose, "End."),
        ],
    );
}

#[test]
fn directives_show_their_content() {
    let source = ".. note:: This is\n   one. And two.\n\n.. warning::\n\n   Careful.\n\n   - item\n\n.. toctree::\n   \
        :maxdepth: 1\n\n   a\n\n.. image:: x.png\n   :alt: A pump\n\n.. function:: f(x)\n   :module: m\n\n   Does it.\n\n\
        .. unheard:: of\n\n.. only:: html\n\n   Seen.\n\n.. A comment.\n   Two lines.\n\n..\n\n   A quotation.\n";
    let document = check(
        source,
        &[
            (Kind::Prose, "This is\n   one."),
            (Kind::Prose, "And two."),
            (Kind::Prose, "Careful."),
            (Kind::ListItem, "item"),
            (Kind::Markup, ""),
            (Kind::Prose, "A pump"),
            (Kind::Prose, "f(x)"),
            (Kind::Prose, "Does it."),
            (Kind::Markup, ""),
            (Kind::Prose, "Seen."),
            (Kind::Markup, ""),
            (Kind::Markup, ""),
            (Kind::Prose, "A quotation."),
        ],
    );
    assert_eq!(document.sentence(0), ".. note:: This is\n   one.");
    assert_eq!(document.sentence(2), ".. warning::\n\n   Careful.");
}

#[test]
fn what_directives_say_in_their_options_and_names_is_seen() {
    let source = ".. csv-table:: Pumps\n   :header: \"Model\", \"Flow\"\n   :widths: 1, 2\n\n   \"A1\", \"12\"\n\n\
        .. csv-table::\n   :file: x.csv\n   :header: One,\n      Two\n   :align: left\n\n\
        .. code-block:: c\n   :linenos:\n   :caption: The *caption*.\n   :name: x\n\n   int x;\n\n\
        .. pull-quote:: Pull text.\n\n.. deprecated:: 2.0\n   Use it.\n\n.. versionchanged:: 2.1\n\nEnd.\n";
    check(
        source,
        &[
            (Kind::Table, "Pumps\n   \"Model\", \"Flow\"\n   \n\n   \"A1\", \"12\""),
            (Kind::Table, "One,\n      Two"),
            (Kind::Prose, "The caption."),
            (Kind::Code, "int x;"),
            (Kind::Prose, "Pull text."),
            (Kind::Prose, "deprecated 2.0\n   Use it."),
            (Kind::Prose, "versionchanged 2.1"),
            (Kind::Prose, "End."),
        ],
    );
}

#[test]
fn arguments_for_programs_are_hidden() {
    let source = ".. container:: cls\n\n   Held.\n\n.. class:: big red\n\nText.\n\n.. grid:: 2\n   :gutter: 1\n\n\
        \x20  In it.\n\n.. only:: html\n\n.. class:: Pump(x)\n\n   A class.\n\n.. class:: Bare\n\nEnd.\n";
    let document = check(
        source,
        &[
            (Kind::Prose, "Held."),
            (Kind::Markup, ""),
            (Kind::Prose, "Text."),
            (Kind::Prose, "In it."),
            (Kind::Markup, ""),
            (Kind::Prose, "Pump(x)"),
            (Kind::Prose, "A class."),
            (Kind::Prose, "Bare"),
            (Kind::Prose, "End."),
        ],
    );
    assert_eq!(document.sentence(0), ".. container:: cls\n\n   Held.");
    check(".. only:: html\n   Without a blank line.\n", &[(Kind::Prose, "Without a blank line.")]);
}

#[test]
fn strange_input_is_text() {
    for source in ["..", ".. ", "::", "===", "- ", "|", "+-+", ".. _", ".. |", ":a:", "`", "``", "**", "_", "\\", "a\\"]
    {
        read(source);
        read(&format!("x\n\n{source}\n\ny"));
        read(&format!("{source}\n   {source}\n"));
    }
    let deep: String = (0..200).map(|n| format!("{}- a\n\n", "  ".repeat(n))).collect();
    read(&deep);
    read(&"- ".repeat(5_000));
}
