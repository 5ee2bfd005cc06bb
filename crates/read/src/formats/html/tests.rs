#![allow(clippy::unwrap_used)]

use pericope_api::{Document, Kind, Span};

use crate::{ReadOptions, read_text};

fn read(source: &str) -> Document {
    let document = read_text("d.html", "html", source, &ReadOptions::default()).unwrap();
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

#[test]
fn a_page() {
    let source = "<!DOCTYPE html>\n<html><head><title>Fish &amp; chips</title>\n<style>p { x: y. }</style></head>\n\
        <body><h1>All <i>fish</i></h1>\n<p>A cod <b>swims.</b> It eats &lt;you&gt;.</p>\n\
        <ul><li>One. Two.<li>Three</ul>\n<!-- hidden. -->\n<h2 id=a>Sub</h2><pre>a  b.\n<b>C</b> &amp; d</pre>\n\
        <table><tr><td>x. Y</td><td>z</td></tr></table><p>End<br>of it.</p><script>var a = '<p>';</script>\n</body></html>\n";
    let document = read(source);
    let rows = [
        (Kind::Markup, ""),
        (Kind::Markup, ""),
        (Kind::Heading(1), "All fish"),
        (Kind::Prose, "A cod swims."),
        (Kind::Prose, "It eats <you>."),
        (Kind::ListItem, "One."),
        (Kind::ListItem, "Two."),
        (Kind::ListItem, "Three"),
        (Kind::Markup, ""),
        (Kind::Heading(2), "Sub"),
        (Kind::Code, "a  b.\nC & d"),
        (Kind::Table, "x. Y z"),
        (Kind::Prose, "End\nof it."),
        (Kind::Markup, ""),
    ];
    assert_eq!(seen(&document), expected(&rows));
    assert_eq!(document.title.as_deref(), Some("Fish & chips"));
    assert_eq!(document.heading_path(10), ["All fish", "Sub"]);
    assert_eq!(document.sentence(3), "<p>A cod <b>swims.</b>");
    assert_eq!(document.sentence(4), "It eats &lt;you&gt;.</p>");
    assert_eq!(document.sentence(10), "<pre>a  b.\n<b>C</b> &amp; d</pre>");
}

#[test]
fn blocks_without_white_space_between_them_read_as_lines() {
    let document = read("<p>a</p><p>b</p><div>c<p>d</div>");
    assert_eq!(document.visible(Span::new(0, document.source.len())), "a\nb\nc\nd");
    assert_eq!(document.len(), 4);
}

#[test]
fn malformed_pages_are_read_as_far_as_they_make_sense() {
    let unclosed = read("<h1>Title<p>Text <b>bold. More <table><tr><td>x<tr><td>y");
    let rows = [(Kind::Heading(1), "Title"), (Kind::Prose, "Text bold."), (Kind::Prose, "More"), (Kind::Table, "x\ny")];
    assert_eq!(seen(&unclosed), expected(&rows));
    assert_eq!(unclosed.title.as_deref(), Some("Title"));
    assert_eq!(seen(&read("a < b && c <3")), expected(&[(Kind::Prose, "a < b && c <3")]));
    assert_eq!(seen(&read("<head><title>T</title><p>x")), expected(&[(Kind::Markup, ""), (Kind::Prose, "x")]));
    assert_eq!(seen(&read("</p></div><br>")), expected(&[(Kind::Markup, "")]));
    assert_eq!(seen(&read("<p>&nbsp;</p><p>x</p>")), expected(&[(Kind::Prose, "x")]));
    assert_eq!(seen(&read("<pre>a<body>b</body>c")), expected(&[(Kind::Code, "ab"), (Kind::Prose, "c")]));
}

#[test]
fn the_frame_of_a_page_stands_for_itself() {
    let source = format!("<body>{}<p>Text.</p>", "<div class='x'><img src='y'></div>".repeat(20));
    let document = read(&source);
    assert_eq!(seen(&document), expected(&[(Kind::Markup, ""), (Kind::Prose, "Text.")]));
    assert_eq!(document.sentence(1), "Text.</p>");
}

/// What is read of a page as language.
fn text(source: &str) -> String {
    let document = read(source);
    let shown = document.sentences.iter().filter(|s| s.kind.is_language()).map(|s| document.visible(s.span));
    shown.collect::<Vec<_>>().join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn content_is_found_in_pages_of_many_kinds() {
    for (page, expected) in [
        // The body where there is neither `main` nor `article`.
        ("<body><nav>Menu</nav><p>Text.</p><footer>Foot</footer>", "Text."),
        ("<div role='banner'>B</div><div role=main><p>Text.</p></div><div>Side</div>", "Text."),
        ("<p>Before</p><article><p>One.</p></article><article><p>Two.</p></article><p>After", "One. Two."),
        // The page's only main heading may be in its banner.
        ("<header><h1>Title</h1></header><p>Text.</p>", "Title Text."),
        ("<header><h1>Site</h1></header><h1>Title</h1><p>Text.</p>", "Title Text."),
        ("<main><header><h1>Title</h1></header><p>Text.</p></main>", "Title Text."),
        // Notes are content, other asides are not.
        ("<main><aside class='callout'>Mind.</aside><aside>Tea</aside><p>Text.</p></main>", "Mind. Text."),
        ("<p>A <span hidden>not</span>word and <b aria-hidden=true>no</b>more.</p>", "A word and more."),
        ("<p>Copy <button>Copy</button> <svg><title>Icon</title></svg> it.</p>", "Copy it."),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
}

#[test]
fn what_is_forgotten_hides_nothing() {
    for (page, expected) in [
        ("<nav>Menu<p>Text.</p>", "Menu Text."),
        ("<body><nav>Menu<p>Text.</p></body>", "Menu Text."),
        ("<main></main><p>Text.</p>", "Text."),
        ("<nav><p>All there is.</p></nav>", "All there is."),
        ("</nav></main><p>Text.</p></article>", "Text."),
        ("<main><p>Text.", "Text."),
    ] {
        assert_eq!(text(page), expected, "{page}");
    }
}

#[test]
fn anchors_are_on_in_or_before_headings() {
    let document = read(
        "<h1>T</h1><section id=s><h2>A</h2></section><h2 id=b>B</h2><a name=c></a>\n<h2>C</h2><h2>D <a id=d></a></h2>\
         <h2>E<a href='#e'>&para;</a></h2><p id=p>Text</p><h3>F</h3><p>x</p><h2>G</h2>",
    );
    let anchors: Vec<_> = document.anchors.iter().map(|anchor| anchor.as_deref().unwrap_or("-")).collect();
    assert_eq!(anchors, ["-", "-", "s", "b", "c", "d", "e", "e", "-"]);
    assert_eq!(document.heading_path(document.sentence_at(document.source.find("Text").unwrap())), ["T", "E"]);
}
