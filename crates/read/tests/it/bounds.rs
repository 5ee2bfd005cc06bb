//! What every section and chunk of a document repeats is short, whatever the document says.
#![allow(clippy::unwrap_used)]

use pericope_api::{Document, Heading, Kind};
use pericope_read::{ReadOptions, read_bytes, read_text};

const LONGEST: usize = 300;

fn read(format: &str, source: &str) -> Document {
    let document = read_text("d", format, source, &ReadOptions::default()).unwrap();
    assert_eq!(document.check(), Ok(()), "{format}: {source:?}");
    document
}

/// A source with a section below a heading of level 1 that reads `text`, in each format and way of writing.
fn headed(text: &str) -> Vec<(&'static str, String)> {
    let rule = |mark: &str| mark.repeat(text.chars().count().max(4));
    vec![
        ("markdown", format!("# {text}\n\nBelow it.\n")),
        ("markdown", format!("{text}\n===\n\nBelow it.\n")),
        ("markdown", format!("<h1>{text}</h1>\n\nBelow it.\n")),
        ("mdx", format!("# {text}\n\nBelow it.\n")),
        ("html", format!("<h1>{text}</h1><p>Below it.</p>")),
        ("rst", format!("{text}\n{}\n\nBelow it.\n", rule("="))),
        ("rst", format!("{0}\n{text}\n{0}\n\nBelow it.\n", rule("="))),
        ("asciidoc", format!("= {text}\n\nBelow it.\n")),
        ("asciidoc", format!("= T\n\n== {text}\n\nBelow it.\n")),
        ("asciidoc", format!("= T\n\n{text}\n{}\n\nBelow it.\n", rule("-"))),
    ]
}

#[test]
fn a_heading_of_many_characters_is_text() {
    for (format, source) in headed(&"é".repeat(LONGEST)) {
        let document = read(format, &source);
        let last = document.len() - 1;
        assert!(document.sentences.iter().any(|s| matches!(s.kind, Kind::Heading(_))), "{format}: {source}");
        assert_eq!(document.heading_path(last).last().map(|h| h.chars().count()), Some(LONGEST), "{format}: {source}");
    }
    for (format, source) in headed(&("Word. ".repeat(LONGEST / 6) + "A")) {
        let document = read(format, &source);
        let last = document.len() - 1;
        let above: Vec<&Heading> = document.heading_path(last).iter().filter(|heading| *heading != "T").collect();
        assert!(above.is_empty(), "{format}: {source}: {above:?}");
        assert_eq!(document.sentences[last].kind, Kind::Prose, "{format}: {source}");
        // It is cut into sentences as any text.
        let words = document.sentences.iter().filter(|s| document.visible(s.span).trim() == "Word.").count();
        assert_eq!(words, LONGEST / 6, "{format}: {source}");
    }
}

#[test]
fn blanks_do_not_make_a_heading_long() {
    let source = format!("<h1>A{}b</h1><p>Below it.</p>", " ".repeat(1_000));
    assert_eq!(read("html", &source).heading_path(1), ["A b"]);
}

#[test]
fn titles_are_cut() {
    let long = "Word ".repeat(100);
    let sources = [
        ("markdown", format!("---\ntitle: {long}\n---\n\nText.\n")),
        ("asciidoc", format!("---\ntitle: {long}\n---\n\nText.\n")),
        ("html", format!("<title>{long}</title><p>Text.")),
        ("jsonl", format!("{{\"title\": \"{long}\", \"text\": \"Text.\"}}\n")),
    ];
    for (format, source) in sources {
        let title = read(format, &source).title.unwrap();
        assert_eq!(title.chars().count(), LONGEST, "{format}: {title}");
        assert!(title.starts_with("Word Word") && title.ends_with("Word…"), "{format}: {title}");
    }
}

#[test]
fn long_anchors_are_none() {
    let id = "i".repeat(LONGEST + 1);
    for (format, source) in [
        ("html", format!("<h1 id=up>A</h1><p>x</p><h2 id={id}>B</h2><p>Text.")),
        ("markdown", format!("# A {{#up}}\n\n## B {{#{id}}}\n\nText.\n")),
        ("rst", format!(".. _up:\n\nA\n====\n\n.. _{id}:\n\nB\n----\n\nText.\n")),
        ("asciidoc", format!("= T\n\n[[up]]\n== A\n\n[[{id}]]\n=== B\n\nText.\n")),
    ] {
        let document = read(format, &source);
        assert_eq!(document.heading_path(document.len() - 1).last().unwrap(), &Heading::from("B"), "{format}");
        assert_eq!(document.anchor_at(source.len() - 6), Some("up"), "{format}: {:?}", document.anchors);
    }
}

#[test]
fn headings_are_shared_between_sections() {
    let document = read("markdown", "# A\n\n## B\n\n## C\n\nText.\n");
    let [_, a, b, c] = &document.sections[..] else { unreachable!() };
    assert_eq!(
        (&a[..], &b[..], &c[..]),
        (&["A".into()][..], &["A".into(), "B".into()][..], &["A".into(), "C".into()][..])
    );
    assert!(std::ptr::eq(a[0].as_str(), b[0].as_str()) && std::ptr::eq(a[0].as_str(), c[0].as_str()));
}

#[test]
fn paths_are_six_deep() {
    let styles = ["=", "-", "~", "^", "\"", "'", "+", "*"];
    let source: String = styles.iter().map(|style| format!("Title\n{}\n\nText.\n\n", style.repeat(5))).collect();
    let document = read("rst", &source);
    assert_eq!(document.sections.iter().map(Vec::len).max(), Some(6));
}

#[test]
fn a_json_line_with_a_long_id_is_an_error() {
    let (good, bad) = ("i".repeat(1_000), "i".repeat(1_001));
    let source = format!("{{\"id\": \"{bad}\", \"text\": \"x\"}}\n{{\"id\": \"{good}\", \"text\": \"x\"}}\n");
    let (mut ids, mut errors) = (Vec::new(), Vec::new());
    read_bytes("f", "jsonl", source.into_bytes(), &ReadOptions::default(), &mut |document| match document {
        Ok(document) => ids.push(document.id),
        Err(error) => errors.push(error.to_string()),
    });
    assert_eq!(ids, [good]);
    assert_eq!(errors, ["f, line 1: the id has 1001 bytes; at most 1000 are allowed"]);
}

#[test]
fn references_add_a_bounded_amount_of_text() {
    let value = "y".repeat(100_000);
    let used = 10_000;
    for (format, source) in [
        ("rst", format!(".. |a| replace:: {value}\n\n{}\n", "|a| ".repeat(used))),
        ("asciidoc", format!(":a: {value}\n\n{}\n", "{a} ".repeat(used))),
    ] {
        let document = read(format, &source);
        let added: usize = document.rewrites.iter().map(|rewrite| rewrite.with.len()).sum();
        assert!(added <= 8 * source.len() + 64 * 1024, "{format}: {added} bytes for {}", source.len());
        assert!(added > 4 * source.len(), "{format}: {added} bytes for {}", source.len());
        assert!(document.rewrites.iter().all(|rewrite| rewrite.with.len() <= 4_096), "{format}");
    }
    // Ordinary documents have all of theirs.
    let source = format!(":a: {}\n\n{}\n", "y".repeat(30), "{a} ".repeat(1_000));
    assert_eq!(read("asciidoc", &source).rewrites.iter().filter(|rewrite| rewrite.with.len() == 30).count(), 1_000);
}
