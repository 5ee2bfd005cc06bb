#![allow(clippy::unwrap_used)]

use pericope_api::{Document, Kind};

use crate::{ReadOptions, read_text};

fn read(source: &str) -> Document {
    let document = read_text("d.adoc", "asciidoc", source, &ReadOptions::default()).unwrap();
    assert_eq!(document.check(), Ok(()), "{source:?}");
    document
}

/// Checks kind and visible text of each sentence.
fn check(source: &str, rows: &[(Kind, &str)]) -> Document {
    let document = read(source);
    let seen: Vec<_> =
        document.sentences.iter().map(|s| (s.kind, document.visible(s.span).trim().to_owned())).collect();
    let expected: Vec<_> = rows.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect();
    assert_eq!(seen, expected, "{source}");
    document
}

#[test]
fn titles_and_ids() {
    let source = "= Pumps\nJane Doe <jane@example.org>\nv1.0\n:product: The Pump\n\nIntro.\n\n== Use *it*\n\nMore.\n\n\
        [[deep-end]]\n=== Deep\n\n[#third]\n== {product}\n\n== Use it\n\n== Last [[end]]\n\nSetext\n------\n\nEnd.\n";
    let document = check(
        source,
        &[
            (Kind::Heading(1), "Pumps"),
            (Kind::Markup, ""),
            (Kind::Markup, ""),
            (Kind::Markup, ""),
            (Kind::Prose, "Intro."),
            (Kind::Heading(2), "Use it"),
            (Kind::Prose, "More."),
            (Kind::Heading(3), "Deep"),
            (Kind::Heading(2), "The Pump"),
            (Kind::Heading(2), "Use it"),
            (Kind::Heading(2), "Last"),
            (Kind::Heading(2), "Setext"),
            (Kind::Prose, "End."),
        ],
    );
    assert_eq!(document.title.as_deref(), Some("Pumps"));
    assert_eq!(document.heading_path(7), ["Pumps", "Use it", "Deep"]);
    let anchors: Vec<_> = document.anchors.iter().map(|a| a.as_deref().unwrap_or("-")).collect();
    assert_eq!(anchors, ["-", "-", "_use_it", "deep-end", "third", "_use_it_2", "end", "_setext"]);
}

#[test]
fn code_tables_and_other_blocks() {
    let source = "Text. More.\n\n[source,sh]\n----\nls. Then.\n\n== no title\n----\n\n....\nas is\n....\n\n literal\n\n\
        [source]\nint x;\n\n.A table\n[cols=\"1,2\"]\n|===\n|a |b\n\n|c. D |d\n|===\n\n////\nhidden\n////\n// hidden\n\n\
        [NOTE]\n====\nInside. Yes.\n\n----\nc\n----\n====\n\n++++\n<b>x</b>\n++++\n\n```js\ny\n```\n\nEnd.\n";
    check(
        source,
        &[
            (Kind::Prose, "Text."),
            (Kind::Prose, "More."),
            (Kind::Code, "ls. Then.\n\n== no title"),
            (Kind::Code, "as is"),
            (Kind::Code, "literal"),
            (Kind::Code, "int x;"),
            (Kind::Prose, "A table"),
            (Kind::Table, "|a |b\n\n|c. D |d"),
            (Kind::Markup, ""),
            (Kind::Markup, ""),
            (Kind::Prose, "Inside."),
            (Kind::Prose, "Yes."),
            (Kind::Code, "c"),
            (Kind::Markup, ""),
            (Kind::Code, "y"),
            (Kind::Prose, "End."),
        ],
    );
}

#[test]
fn lists_and_what_is_attached_to_them() {
    let source = "* One. Two\nsame.\n** nested\n+\nAttached.\n+\n----\ncode\n----\n\n. first\n. second\n\n\
        CPU:: The brain.\nRAM::\n  The memory.\n\n<1> callout\n\nAfter.\n\nNOTE: Mind this.\n";
    check(
        source,
        &[
            (Kind::ListItem, "One."),
            (Kind::ListItem, "Two\nsame."),
            (Kind::ListItem, "nested"),
            (Kind::ListItem, "Attached."),
            (Kind::Code, "code"),
            (Kind::ListItem, "first"),
            (Kind::ListItem, "second"),
            (Kind::ListItem, "CPU"),
            (Kind::ListItem, "The brain."),
            (Kind::ListItem, "RAM"),
            (Kind::ListItem, "The memory."),
            (Kind::ListItem, "callout"),
            (Kind::Prose, "After."),
            (Kind::Prose, "Mind this."),
        ],
    );
}

#[test]
fn inline_markup_reads_as_text() {
    let source = "*Note.* See link:a.html[the _docs_] or https://a.b/c_d_e[Site^] or https://x.y/z. Then <<id,here>> \
        or <<other>>, `x. Y`, snake_case_name, **un**bound, [.role]#marked#, H~2~O, {product}, {unknown}, \
        image:i.png[Alt], \\*not*. Press kbd:[Ctrl+C].[[here]] A note.footnote:[It is. So.] menu:File[Save] \
        ((index)) (((hidden))) end +\nnew.\n";
    let source = format!(":product: Pump 2\n\n{source}");
    check(
        &source,
        &[
            (Kind::Markup, ":product: Pump 2"),
            (Kind::Prose, "Note."),
            (Kind::Prose, "See the docs or Site or https://x.y/z."),
            (
                Kind::Prose,
                "Then here or other, x. Y, snake_case_name, unbound, marked, H2O, Pump 2, {unknown}, Alt, *not*.",
            ),
            (Kind::Prose, "Press Ctrl+C."),
            (Kind::Prose, "A note."),
            (Kind::Prose, "(It is."),
            (Kind::Prose, "So.)"),
            (Kind::Prose, "File > Save index  end \nnew."),
        ]
        .map(|(kind, text)| if kind == Kind::Markup { (kind, "") } else { (kind, text) }),
    );
}

#[test]
fn addresses_in_attributes_are_links() {
    let source = ":uri-repo: https://example.org/x\n:name: Pump\n\nSee {uri-repo}[the *repository*], {uri-repo}/issues[issues], \
        {uri-repo}/a[] and {name}[x] or {uri-repo}.\n";
    check(
        source,
        &[
            (Kind::Markup, ""),
            (Kind::Markup, ""),
            (Kind::Prose, "See the repository, issues, https://example.org/x/a and Pump[x] or https://example.org/x."),
        ],
    );
}

#[test]
fn text_behind_a_condition_and_whom_a_quotation_is_by_are_seen() {
    let source = "ifndef::env-github[Shown here.]\n\nifdef::x[:a: b]\n\nifeval::[\"{x}\" == \"1\"]\nText.\nendif::[]\n\n\
        [quote, Abe Lincoln, Address]\nFour score.\n\n[quote, Ann Poet]\n____\nMore.\n____\n\n[quote]\nEnd.\n";
    check(
        source,
        &[
            (Kind::Prose, "Shown here."),
            (Kind::Markup, ""),
            (Kind::Markup, ""),
            (Kind::Prose, "Text."),
            (Kind::Markup, ""),
            (Kind::Prose, "Abe Lincoln, Address"),
            (Kind::Prose, "Four score."),
            (Kind::Prose, "Ann Poet"),
            (Kind::Prose, "More."),
            (Kind::Prose, "End."),
        ],
    );
}

#[test]
fn items_behind_a_condition_and_whom_a_quotation_below_a_list_is_by() {
    let source = "* item one\nifdef::x[* item two]\n* item three\n\n[quote, \"A, B\", C]\nFour score.\n";
    check(
        source,
        &[
            (Kind::ListItem, "item one"),
            (Kind::ListItem, "item two"),
            (Kind::ListItem, "item three"),
            (Kind::Prose, "A, B, C"),
            (Kind::Prose, "Four score."),
        ],
    );
}

#[test]
fn what_is_below_a_term_ends_where_the_next_of_the_list_begins() {
    let source = "--all::\n\tStage files.\n+\nMore. Text.\n+\n----\ncode\n----\n\n--bar::\n  Bar text.\n  * item\n  CPU::: the brain\n";
    check(
        source,
        &[
            (Kind::ListItem, "--all"),
            (Kind::ListItem, "Stage files."),
            (Kind::ListItem, "More."),
            (Kind::ListItem, "Text."),
            (Kind::Code, "code"),
            (Kind::ListItem, "--bar"),
            (Kind::ListItem, "Bar text."),
            (Kind::ListItem, "item"),
            (Kind::ListItem, "CPU"),
            (Kind::ListItem, "the brain"),
        ],
    );
}

#[test]
fn what_the_header_says_can_be_referred_to() {
    let said = "{doctitle} {revnumber} of {revdate} ({revremark}) by {author}, {email}";
    let source = format!("= Pumps\nJane_Ann Doe <j@x.org>; B C\nv1.2, 2024-05-01: Spring\n:email: a@b.org\n\n{said}\n");
    let document = check(
        &source,
        &[
            (Kind::Heading(1), "Pumps"),
            (Kind::Markup, ""),
            (Kind::Markup, ""),
            (Kind::Markup, ""),
            (Kind::Prose, "Pumps 1.2 of 2024-05-01 (Spring) by Jane Ann Doe, a@b.org"),
        ],
    );
    assert_eq!(document.title.as_deref(), Some("Pumps"));
    check(
        "= A\nB\nv3\n\n{revnumber} {revdate}\n",
        &[(Kind::Heading(1), "A"), (Kind::Markup, ""), (Kind::Markup, ""), (Kind::Prose, "3 {revdate}")],
    );
}

#[test]
fn entries_of_a_bibliography_begin_with_their_marks() {
    let source = "* [[[pp]]] Andy Hunt.\n* [[[gof, 1]]] Erich Gamma.\n";
    check(source, &[(Kind::ListItem, "[pp] Andy Hunt."), (Kind::ListItem, "[1] Erich Gamma.")]);
}

#[test]
fn references_are_the_characters_that_they_stand_for() {
    let source = ":drink: caf&eacute;\n\n== Caf&eacute; Brook(TM) {nbsp}2\n\nThe f&uuml;nf{empty}te {drink}&nbsp;(C) *x*&#8217;s `a &lt; b` and \
        &nothing; AT&T &copy x(c).\n\n|===\n|na&#239;ve |b\n|===\n";
    let document = check(
        source,
        &[
            (Kind::Markup, ""),
            (Kind::Heading(2), "Café Brook™  2"),
            (Kind::Prose, "The fünfte café\u{a0}© x’s a < b and &nothing; AT&T &copy x(c)."),
            (Kind::Table, "|naïve |b"),
        ],
    );
    // By the rules of Asciidoctor there are no such characters in an id.
    assert_eq!(document.anchors[1].as_deref(), Some("_caf_brook_2"));
    let words = |i: usize| document.rewritten_words(document.sentences[i].span);
    assert_eq!(words(1), ["Café", "Brook™"]);
    assert!(["fünfte", "café"].iter().all(|word| words(2).iter().any(|found| found == word)), "{:?}", words(2));
    assert_eq!(words(3), ["naïve"]);
}

#[test]
fn attributes_are_set_to_what_other_attributes_are() {
    let source = ":org: https://x.org/a\n:repo: {org}/b\n:base: link:\n:licence: {Base}L.adoc\n:late: {name}!\n:name: Pump\n\
        :long: {name} Two C{plus} \\{name} {\n\n== About {long}\n\nSee {repo}[the code] and {licence}[the licence].\n\n\
        Then {late}\n";
    let document = read(source);
    let seen: Vec<_> = document.sentences[7..].iter().map(|s| document.visible(s.span).trim().to_owned()).collect();
    assert_eq!(seen, ["About Pump Two C+ {name} {", "See the code and the licence.", "Then {name}!"]);
    assert_eq!(document.anchors.iter().flatten().next().map(|id| &**id), Some("_about_pump_two_c_name"));
}

#[test]
fn attributes_in_code_have_their_values_and_backslashes_before_them_go() {
    let source =
        ":v: 2.0\n:e: {v} \\{v}\n\nSee {e}, `a-{V}.jar &lt;`, `/x/\\{id}/{v}/{id}`, `+{v}+`, `\\{`, `{` and \\{v}.\n";
    let text = "See 2.0 {v}, a-2.0.jar <, /x/{id}/2.0/{id}, {v}, \\{, { and {v}.";
    check(source, &[(Kind::Markup, ""), (Kind::Markup, ""), (Kind::Prose, text)]);
}

#[test]
fn attributes_that_double_each_other_end() {
    let doubled: String = (0..60).map(|n| format!(":a{}: {{a{n}}}{{a{n}}}\n", n + 1)).collect();
    let document = read(&format!(":a0: twelve bytes\n{doubled}\n{{a60}}\n"));
    let last = document.sentences.last().unwrap();
    assert!(document.visible(last.span).len() <= 4_096);
}

#[test]
fn attributes_hold_no_references_without_their_semicolons() {
    let source = ":url: https://x.example/?a=1&copy=2\n\nSee {url} now.\n";
    check(source, &[(Kind::Markup, ""), (Kind::Prose, "See https://x.example/?a=1&copy=2 now.")]);
}

#[test]
fn strange_input_is_text() {
    let lines = [
        "",
        "=",
        "==",
        "= ",
        "----",
        "====",
        "|===",
        "+",
        "*",
        "* ",
        ".",
        ".x",
        "[",
        "[[",
        "[[a]]",
        "[source]",
        "::",
        "a::",
        "image::",
        "image::[]",
        "ifdef::x[",
        "\\",
        "*a",
        "_",
        "`",
        "<<a",
        "{a",
        "////",
        "++++",
        "--",
        "```",
        "x\n=",
    ];
    for a in lines {
        for b in lines {
            read(&format!("{a}\n{b}"));
            read(&format!("x\n{a}\n\n{b}\ny"));
        }
    }
}
