//! Sections and anchors of our own sample files, beside those that other software finds.
#![allow(clippy::unwrap_used)]

use std::path::{Path, PathBuf};

use pericope_api::{Document, Kind};
use pericope_read::{ReadError, ReadOptions, read_each, read_path};
use serde_json::Value;

use crate::skip;

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/samples").join(name)
}

fn read(name: &str) -> Document {
    let mut documents = read_path(sample(name), &ReadOptions::default()).unwrap();
    let document = documents.pop().unwrap();
    assert_eq!(document.check(), Ok(()), "{name}");
    document
}

/// Last heading of the path and anchor of each section below the first.
fn sections(document: &Document) -> Vec<(&str, &str)> {
    let anchors = document.anchors.iter().map(|anchor| anchor.as_deref().unwrap_or("-"));
    let sections = document.sections.iter().map(|path| path.last().map_or("", |heading| heading.as_str()));
    assert_eq!(document.anchors.len(), document.sections.len());
    sections.zip(anchors).skip(1).collect()
}

fn visible(document: &Document, kind: fn(Kind) -> bool) -> Vec<String> {
    document.sentences.iter().filter(|s| kind(s.kind)).map(|s| document.visible(s.span).trim().to_owned()).collect()
}

/// Checks the sections of a document against those of docutils: the ids of a section are that of its title, and then
/// those of the targets before it, the nearest first.
fn compare(document: &Document, expected: &Value) -> Result<(), String> {
    let expected = expected.as_array().unwrap();
    for (i, section) in expected.iter().enumerate() {
        let path: Vec<&str> = section["path"].as_array().unwrap().iter().map(|title| title.as_str().unwrap()).collect();
        let ids: Vec<&str> = section["ids"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        let found = document.sections.get(i + 1).ok_or(format!("section {path:?} is missing"))?;
        if *found != path {
            return Err(format!("section {i}: {found:?} where docutils has {path:?}"));
        }
        let anchor = document.anchors.get(i + 1).and_then(|anchor| anchor.as_deref()).unwrap_or("");
        if anchor != *ids.get(1).unwrap_or(&ids[0]) {
            return Err(format!("section {path:?}: {anchor:?} where docutils has {ids:?}"));
        }
    }
    match document.sections.get(expected.len() + 1) {
        Some(more) => Err(format!("docutils has no section {more:?}")),
        None => Ok(()),
    }
}

#[test]
fn restructured_text_has_the_sections_of_docutils() {
    let golden = include_str!("../golden/rst_sections.json");
    let golden: Value = serde_json::from_str(golden).unwrap();
    let files = golden["files"].as_array().unwrap();
    assert_eq!(files.len(), 2);
    for file in files {
        let name = file["file"].as_str().unwrap();
        assert_eq!(compare(&read(name), &file["sections"]), Ok(()), "{name}");
    }
    let document = read("pump.rst");
    let text = visible(&document, |kind| kind == Kind::Prose).join(" ");
    assert!(text.contains("This is the manual of the Brook 200. Read priming first;"), "{text}");
    assert!(visible(&document, |kind| kind == Kind::Code).contains(&"pump --status".to_owned()));
    assert_eq!(visible(&document, |kind| kind == Kind::Table).len(), 2);
}

/// `scripts/golden/golden_rst.py FILE.jsonl OUT.jsonl` makes what this test compares a whole corpus with.
#[test]
fn a_corpus_has_the_sections_of_docutils() {
    const TEST: &str = "a_corpus_has_the_sections_of_docutils";
    let Some(data) = skip::data(TEST) else { return };
    let Some(golden) = std::env::var_os("PERICOPE_RST_SECTIONS") else {
        return skip::skipped(TEST, "PERICOPE_RST_SECTIONS");
    };
    let golden = std::fs::read_to_string(golden).unwrap();
    let expected: std::collections::HashMap<String, Value> = golden
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .map(|row| (row["id"].as_str().unwrap().to_owned(), row["sections"].clone()))
        .collect();
    let (mut same, mut different) = (0, Vec::new());
    read_each(data.join("docs/ansible.raw.jsonl"), &ReadOptions::default(), &mut |document| {
        let document = document.unwrap();
        if let Some(sections) = expected.get(&document.id) {
            match compare(&document, sections) {
                Ok(()) => same += 1,
                Err(problem) => different.push(format!("{}: {problem}", document.id)),
            }
        }
    });
    eprintln!("{same} documents with the sections of docutils, {} others:\n{}", different.len(), different.join("\n"));
    assert!(different.len() * 50 < same, "{}", different.join("\n"));
}

#[test]
fn markdown_has_the_anchors_of_github() {
    let document = read("pump.md");
    let expected = [
        ("The pump manual", "the-pump-manual"),
        ("Before you start", "before-you-start"),
        ("Prime it!", "prime-it"),
        ("Before you start", "before-you-start-1"),
        ("What's new in 2.0?", "whats-new-in-20"),
        ("Size & weight", "weight"),
        ("Explicit", "by-hand"),
        ("Named", "named"),
        // The heading in the quotation counts as well.
        ("Before you start", "before-you-start-3"),
        ("Before you start", "before-you-start-4"),
        ("In HTML", "from-html"),
    ];
    assert_eq!(sections(&document), expected);
    assert_eq!(document.title.as_deref(), Some("The pump manual"));
    let code = document.source.find("pump --prime").unwrap();
    assert_eq!(document.anchor_at(code), Some("prime-it"));
    assert_eq!(document.anchor_at(document.source.find("## Prime").unwrap()), Some("prime-it"));
    assert_eq!(document.anchor_at(0), None);
}

#[test]
fn mdx_hides_what_is_code_of_the_page() {
    let document = read("pump.mdx");
    assert_eq!(sections(&document), [("The pump manual", "the-pump-manual"), ("Prime it!", "prime-it")]);
    assert_eq!(document.title.as_deref(), Some("The pump manual"));
    let text = visible(&document, Kind::is_language);
    let expected = [
        "The pump manual",
        "This is the manual of the  .",
        "Read priming first.",
        "Prime it!",
        "Pour water in.",
        "It runs over.",
        "One  item.",
        "Never run the pump dry.",
        "Stop it.",
    ];
    let blanks = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(text.iter().map(|t| blanks(t)).collect::<Vec<_>>(), expected.map(blanks));
    assert_eq!(visible(&document, |kind| kind == Kind::Code).len(), 1);
    let hidden: String =
        document.sentences.iter().filter(|s| s.kind == Kind::Markup).map(|s| document.text(s.span)).collect();
    for markup in ["import Tabs", "Gauge,", "litres: 10", "A remark", "<Tabs groupId", "</Tabs>"] {
        assert!(hidden.contains(markup), "{markup} is not hidden: {hidden}");
    }
}

#[test]
fn asciidoc_has_the_ids_of_asciidoctor() {
    let document = read("pump.adoc");
    let expected = [
        ("The pump manual", "-"),
        ("Before you start", "_before_you_start"),
        ("Prime it!", "prime"),
        ("Before you start", "_before_you_start_2"),
        ("Size and weight", "weight"),
    ];
    assert_eq!(sections(&document), expected);
    let text = visible(&document, Kind::is_language).join(" ");
    assert!(text.contains("This is the manual of the Brook 200. Read priming first."), "{text}");
    assert!(text.contains("See the list of parts or the site.") && !text.contains("A remark"), "{text}");
    assert_eq!(visible(&document, |kind| kind == Kind::Code), ["pump --prime\n== Not a title"]);
    assert_eq!(visible(&document, |kind| kind == Kind::Table).len(), 1);
}

#[test]
fn html_shows_its_content_alone() {
    let document = read("pump.html");
    let expected = [
        ("The pump manual", "-"),
        ("Before you start", "before-you-start"),
        ("Prime it!", "prime"),
        ("The gauge", "gauge"),
        ("Weight", "weight"),
    ];
    assert_eq!(sections(&document), expected);
    assert_eq!(document.title.as_deref(), Some("The pump manual — Pumps"));
    let text = visible(&document, Kind::is_language);
    let expected = [
        "The pump manual",
        "This is the manual of the Brook\u{a0}200.",
        "Read it first.",
        "Before you start",
        "a spanner,",
        "a clean bucket.",
        "It holds ten litres.",
        "Never run the pump dry.",
        "Prime it!",
        "The gauge",
        "Weight",
        "Fourteen kilograms.",
    ];
    assert_eq!(text, expected);
    let whole = ReadOptions { whole_page: true, ..ReadOptions::default() };
    let page = read_path(sample("pump.html"), &whole).unwrap().pop().unwrap();
    let text = visible(&page, Kind::is_language).join(" ");
    assert!(text.contains("Home") && text.contains("Buy our tea.") && text.contains("Copyright"), "{text}");
}

#[cfg(feature = "pdf")]
#[test]
fn pdf_gives_its_text() {
    for name in ["pump.pdf", "owned.pdf"] {
        let document = read(name);
        let text = &*document.source;
        assert!(text.contains("air does not lift water. Fill the housing through the upper plug"), "{text}");
        assert!(!text.contains("handbook") && text.matches('\u{c}').count() == 2, "{text}");
        assert!(text.contains("Priming the pump\n\n"), "{text}");
        assert_eq!(
            visible(&document, |_| true).last().map(String::as_str),
            Some("Replace it together with its spring.")
        );
    }
    let error = |name| read_path(sample(name), &ReadOptions::default()).unwrap_err();
    assert!(matches!(error("scanned.pdf"), ReadError::NoText { .. }));
    assert!(error("scanned.pdf").to_string().contains("no text in this PDF (scanned?)"));
    assert!(matches!(error("locked.pdf"), ReadError::Encrypted { .. }), "{:?}", error("locked.pdf"));
}
