#![allow(clippy::unwrap_used)]

use pericope_api::{Document, Kind};

use crate::{ReadOptions, read_text};

fn read(source: &str) -> Document {
    let document = read_text("d.md", "md", source, &ReadOptions::default()).unwrap();
    assert_eq!(document.check(), Ok(()), "{source:?}");
    document
}

/// Kind and text of each sentence.
fn sentences(document: &Document) -> Vec<(Kind, &str)> {
    document.sentences.iter().map(|s| (s.kind, document.text(s.span))).collect()
}

fn visible(document: &Document) -> Vec<String> {
    document.sentences.iter().map(|s| document.visible(s.span).into_owned()).collect()
}

#[test]
fn headings_make_sections() {
    let source = "intro\n\n# The *first* `x` #\n\na, b c.\n\nSub & so\n--------\n\nd\n\n### Deep\n\n# Second\n\ne";
    let document = read(source);
    let expected = [
        (Kind::Prose, "intro"),
        (Kind::Heading(1), "# The *first* `x` #"),
        (Kind::Prose, "a, b c."),
        (Kind::Heading(2), "Sub & so\n--------"),
        (Kind::Prose, "d"),
        (Kind::Heading(3), "### Deep"),
        (Kind::Heading(1), "# Second"),
        (Kind::Prose, "e"),
    ];
    assert_eq!(sentences(&document), expected);
    assert_eq!(document.heading_path(0), [] as [&str; 0]);
    assert_eq!(document.heading_path(2), ["The first x"]);
    assert_eq!(document.heading_path(5), ["The first x", "Sub & so", "Deep"]);
    assert_eq!(document.heading_path(7), ["Second"]);
    assert_eq!(document.title.as_deref(), Some("The first x"));
    assert_eq!(visible(&document)[1], "The first x");
    assert_eq!(visible(&document)[3], "Sub & so");
}

#[test]
fn code_is_one_sentence_and_holds_no_headings() {
    let source = "Run this. Now.\n\n```sh\n# not a heading\n\nls. Then. \n```\n\n    indented. Code.\n\n    # more\n\nEnd.\n\n~~~\nopen";
    let document = read(source);
    let expected = [
        (Kind::Prose, "Run this."),
        (Kind::Prose, "Now."),
        (Kind::Code, "```sh\n# not a heading\n\nls. Then. \n```"),
        (Kind::Code, "indented. Code.\n\n    # more"),
        (Kind::Prose, "End."),
        (Kind::Code, "~~~\nopen"),
    ];
    assert_eq!(sentences(&document), expected);
    assert_eq!(document.sections.len(), 1);
}

#[test]
fn lists_with_code_and_nested_items() {
    let source =
        "- One. Two.\n  - nested\n\n    ```\n    # x\n    ```\n- [ ] **Bold.** Rest\n1) numbered\n\n-\n\nAfter";
    let document = read(source);
    let expected = [
        (Kind::ListItem, "- One."),
        (Kind::ListItem, "Two."),
        (Kind::ListItem, "- nested"),
        (Kind::Code, "```\n    # x\n    ```"),
        (Kind::ListItem, "- [ ] **Bold.**"),
        (Kind::ListItem, "Rest"),
        (Kind::ListItem, "1) numbered"),
        (Kind::Markup, "-"),
        (Kind::Prose, "After"),
    ];
    assert_eq!(sentences(&document), expected);
    let seen = visible(&document);
    assert_eq!([&seen[0], &seen[2], &seen[4], &seen[7]], ["One.", "nested", "Bold.", ""]);
    let paragraphs: Vec<_> = document.sentences.iter().map(|s| s.paragraph).collect();
    assert_eq!(paragraphs, [0, 0, 1, 2, 3, 3, 4, 5, 6]);
}

#[test]
fn a_list_marker_belongs_to_the_code_after_it() {
    let document = read("- ```sh\n  ls\n  ```\n- x\n");
    assert_eq!(sentences(&document), [(Kind::Code, "- ```sh\n  ls\n  ```"), (Kind::ListItem, "- x")]);
}

#[test]
fn tables_are_whole() {
    let source = "Text. More.\n\n| a. B | c |\n|---|---|\n| # d | e. F |\n\nAfter.\r\n";
    let expected = [
        (Kind::Prose, "Text."),
        (Kind::Prose, "More."),
        (Kind::Table, "| a. B | c |\n|---|---|\n| # d | e. F |"),
        (Kind::Prose, "After."),
    ];
    assert_eq!(sentences(&read(source)), expected);
}

#[test]
fn front_matter_gives_the_title() {
    let document = read("\u{feff}---\ntitle: From above\n---\n# Heading\n\nx\n\n---\n\ny\n");
    assert_eq!(document.title.as_deref(), Some("From above"));
    let expected = [
        (Kind::Markup, "\u{feff}---\ntitle: From above\n---"),
        (Kind::Heading(1), "# Heading"),
        (Kind::Prose, "x"),
        (Kind::Markup, "---"),
        (Kind::Prose, "y"),
    ];
    assert_eq!(sentences(&document), expected);
    assert_eq!(visible(&document)[0], "");
}

#[test]
fn markup_does_not_show_and_does_not_hide_sentence_ends() {
    let source = "**Note.** See [the docs.](https://a.b/c) *Then* go\non\\! A &amp; B<br>c `x. Y` end. ![Alt](i.png)\n\n[a]: http://x.y\n[b]: /z\n\nEnd[^1] here.\n\n[^1]: The note.\n";
    let document = read(source);
    let expected =
        ["Note.", "See the docs.", "Then go\non!", "A & B\nc x. Y end.", "Alt", "", "End here.", "The note."];
    assert_eq!(visible(&document), expected);
    assert_eq!(document.sentence(0), "**Note.**");
    assert_eq!(document.sentence(1), "See [the docs.](https://a.b/c)");
    assert_eq!(sentences(&document)[5], (Kind::Markup, "[a]: http://x.y\n[b]: /z"));
}

#[test]
fn quotations_keep_their_marks_and_have_no_sections() {
    let document = read("> # Aside\n> One. Two\n> lines.\n>\n> Three.\n\n# Real\n");
    let expected = [
        (Kind::Prose, "> # Aside"),
        (Kind::Prose, "> One."),
        (Kind::Prose, "Two\n> lines."),
        (Kind::Prose, ">\n> Three."),
        (Kind::Heading(1), "# Real"),
    ];
    assert_eq!(sentences(&document), expected);
    assert_eq!(visible(&document)[2..4], ["Two\nlines.", "Three."]);
    assert_eq!(document.sections.len(), 2);
}

#[test]
fn html_jsx_and_templates_are_tolerated() {
    let source = "import A from './a'\n\n<Card title=\"x\">\n  Shown. Twice.\n</Card>\n\n<!-- not. Shown. -->\n\n{{< note >}}\n{% if x %}\n\n<h2>Sub</h2>\n\nText <b>bold.</b> More.\n\n<pre>\na. B\n</pre>\n";
    let document = read(source);
    let kinds: Vec<_> = document.sentences.iter().map(|s| s.kind).collect();
    let expected = [
        Kind::Markup,
        Kind::Prose,
        Kind::Prose,
        Kind::Markup,
        Kind::Markup,
        Kind::Heading(2),
        Kind::Prose,
        Kind::Prose,
        Kind::Code,
    ];
    assert_eq!(kinds, expected);
    let seen = visible(&document);
    assert_eq!([&seen[1], &seen[2], &seen[6]], ["Shown.", "Twice.\n", "Text bold."]);
    assert_eq!(document.heading_path(8), ["Sub"]);
}

#[test]
fn a_heading_begins_with_the_anchors_before_it() {
    let source = "Text.\n\n<a id=\"one\"></a>\n\n## One\n\n<div id=\"two\"></div>\n\n<!-- three -->\n\n(three)=\n(Four_4.v2)=\n\n\
        ## Four\n\n<a name=\"item\"></a>\n\n- An item.\n\n<a id=\"html\"></a>\n\n<h2>Page</h2>\n\n<a name=\"end\"></a>\n";
    let document = read(source);
    assert_eq!(
        sentences(&document),
        [
            (Kind::Prose, "Text."),
            (Kind::Heading(2), "<a id=\"one\"></a>\n\n## One"),
            (Kind::Heading(2), "<div id=\"two\"></div>\n\n<!-- three -->\n\n(three)=\n(Four_4.v2)=\n\n## Four"),
            (Kind::Markup, "<a name=\"item\"></a>"),
            (Kind::ListItem, "- An item."),
            (Kind::Heading(2), "<a id=\"html\"></a>\n\n<h2>Page</h2>"),
            (Kind::Markup, "<a name=\"end\"></a>"),
        ]
    );
    assert_eq!(visible(&document), ["Text.", "One", "Four", "", "An item.", "Page", ""]);
    assert_eq!(document.heading_path(1), ["One"]);
    let anchors: Vec<_> = document.anchors.iter().flatten().map(|anchor| &**anchor).collect();
    assert_eq!(anchors, ["one", "four-4-v2", "html"]);
}

#[test]
fn blanks_beside_pictures_and_comments_count_for_the_slug() {
    let source = "# ![Logo](x.png) Use\n\n## <img src=x> ① Fill\n\n## Sum <!-- omit in toc -->\n\n<h2> Page </h2>\n";
    let document = read(source);
    assert_eq!(document.heading_path(3), ["Logo Use", "Page"]);
    let anchors: Vec<_> = document.anchors.iter().flatten().map(|anchor| &**anchor).collect();
    assert_eq!(anchors, ["-use", "--fill", "sum-", "page"]);
}

#[test]
fn lines_of_attributes_are_no_text() {
    let source = "## One\n{: #first .x }\n\nText.\n\n## Two\n{: .x }\n\n1. Sum\n{:toc}\n\nPara.\n{: .big }\n\n\
        ```\n{: #kept }\n```\n\n{:a => 1}\n\n## ![x](y.png) Three\n";
    let document = read(source);
    assert_eq!(
        sentences(&document),
        [
            (Kind::Heading(2), "## One"),
            (Kind::Markup, "{: #first .x }"),
            (Kind::Prose, "Text."),
            (Kind::Heading(2), "## Two"),
            (Kind::Markup, "{: .x }"),
            (Kind::ListItem, "1. Sum"),
            (Kind::Markup, "{:toc}"),
            (Kind::Prose, "Para."),
            (Kind::Markup, "{: .big }"),
            (Kind::Code, "```\n{: #kept }\n```"),
            (Kind::Prose, "{:a => 1}"),
            (Kind::Heading(2), "## ![x](y.png) Three"),
        ]
    );
    let anchors: Vec<_> = document.anchors.iter().flatten().map(|anchor| &**anchor).collect();
    assert_eq!(anchors, ["first", "two", "-three"]);
    for indent in ["    ", "\t"] {
        assert_eq!(read(&format!("Use:\n\n{indent}{{:kept 2}}\n")).sentences[1].kind, Kind::Code, "{indent:?}");
    }
}

#[test]
fn what_stands_far_above_a_heading_is_no_part_of_it() {
    let links = "[a]: https://example.org/a/page\n".repeat(20);
    let document = read(&format!("<a id=\"notes\"></a>\n\n{links}\n## Notes\n"));
    assert_eq!(sentences(&document).last(), Some(&(Kind::Heading(2), "## Notes")));
    // Nor is what shows a label, and a line of mathematics is none.
    let document = read("<a id=\"x\"></a> Words.\n\n(a + b)=\n\n## H\n");
    assert_eq!(visible(&document), ["Words.", "(a + b)=", "H"]);
}

#[test]
fn line_ends_of_windows() {
    let source = "# T\r\n\r\nOne\r\ntwo. Three.\r\n\r\n```\r\ncode\r\n```\r\n\r\n* a\r\n* b\r\n";
    let expected = [
        (Kind::Heading(1), "# T"),
        (Kind::Prose, "One\r\ntwo."),
        (Kind::Prose, "Three."),
        (Kind::Code, "```\r\ncode\r\n```"),
        (Kind::ListItem, "* a"),
        (Kind::ListItem, "* b"),
    ];
    assert_eq!(sentences(&read(source)), expected);
}

#[test]
fn an_empty_task_before_an_underline_is_no_panic() {
    for text in ["- [ ] \\\n  - \n> ", "> 1. [x]\t\\\r\n>    ===\n\nAfter", "- [X] \\\n  ---", "- [\t] \\\n  \t- \n> "]
    {
        let document = crate::read_text("a.md", "markdown", text, &crate::ReadOptions::default()).unwrap();
        assert_eq!(document.check(), Ok(()), "{text:?}");
        assert!(!document.sentences.is_empty(), "{text:?}");
    }
}

#[test]
fn a_mask_that_makes_code_within_a_character_loses_nothing() {
    let text = "import{\nו/\u{a0}o\u{a0}";
    let document = crate::read_text("a.mdx", "mdx", text, &crate::ReadOptions::default()).unwrap();
    assert_eq!(document.check(), Ok(()));
}
