//! Chunks of whole documents by every segmenter that needs no model, kept under `tests/snapshots`.
//!
//! `INSTA_UPDATE=always cargo test -p pericope-segment --test it snapshots` writes them anew. A difference means that
//! indexes and experiments of existing users change, so it wants a reason.

use std::fmt::Write;
use std::path::Path;

use pericope_api::{Chunk, Document};
use pericope_read::{ReadOptions, read_text};
use pericope_segment::{Standalone, laws, registry, spec::Spec};

/// At least one spec of every segmenter without a model; `same-size` is `fixed` with another segmenter's size.
const SPECS: [&str; 16] = [
    "fixed:words=100",
    "fixed:tokens=100,overlap=20",
    "cogltx-blocks:tokens=40",
    "sentence:min_tokens=12",
    "paragraph",
    "recursive:chars=1000",
    "recursive:tokens=100",
    "structure:overlap=1",
    "texttiling",
    "c99",
    "u00",
    "bayesseg",
    "graph:similarity=jaccard",
    "graph:similarity=sequence-matcher,k=3",
    "random",
    "structure:min_tokens=30,target_tokens=60",
];

/// Tokens of a chunk: one size that most sections exceed, and one that they do not.
const SIZES: [usize; 2] = [64, 256];

fn document(file: &Path) -> Document {
    let source = std::fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let name = file.file_name().unwrap().to_str().unwrap();
    let format = if name.ends_with(".md") { "markdown" } else { "plain" };
    read_text(name, format, source, &ReadOptions::default()).unwrap()
}

/// A chunk's first four words, at most 32 characters of them.
fn beginning(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().take(4).collect();
    words.join(" ").chars().take(32).collect()
}

fn row(out: &mut String, document: &Document, chunk: &Chunk) {
    let (span, text) = (chunk.span, document.text(chunk.span));
    writeln!(out, "{}..{} {} {}", span.start, span.end, chunk.tokens, beginning(text)).unwrap();
}

fn check(file: &Path) {
    let document = document(file);
    let mut out = String::new();
    for spec in SPECS {
        for max in SIZES {
            let spec = Spec::parse(spec).unwrap().with("max_tokens", max).unwrap();
            let chunker = registry::build(&spec, &Standalone::default()).unwrap();
            let chunks = laws::check_chunker(&chunker, &document).unwrap_or_else(|e| panic!("{spec}: {e}"));
            writeln!(out, "## {} ({} chunks)", chunker.spec(), chunks.len()).unwrap();
            chunks.iter().for_each(|chunk| row(&mut out, &document, chunk));
        }
    }
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(document.id.as_str(), out));
}

fn input(name: &str) {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/inputs").join(name));
}

fn article(name: &str) {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora/handbook").join(name));
}

#[test]
fn text_without_spaces() {
    input("cjk.txt");
}

#[test]
fn clusters_of_characters() {
    input("emoji.txt");
}

#[test]
fn windows_line_ends() {
    input("crlf.txt");
}

#[test]
fn code_blocks() {
    input("code.md");
}

#[test]
fn tables() {
    input("table.md");
}

#[test]
fn runs_without_an_end() {
    input("long-runs.txt");
}

#[test]
fn an_article_about_bees() {
    article("a-first-guide-to-keeping-honeybees.md");
}

#[test]
fn an_article_about_a_database() {
    article("running-postgresql-in-production.md");
}

#[test]
fn an_article_about_telescopes() {
    article("first-telescope-and-the-night-sky.md");
}

#[test]
fn every_segmenter_without_a_model_is_here() {
    let here: Vec<Spec> = SPECS.iter().map(|spec| Spec::parse(spec).unwrap()).collect();
    for entry in registry::list().iter().filter(|entry| entry.needs.is_none() && entry.name != "same-size") {
        assert!(here.iter().any(|spec| spec.name == entry.name), "{}", entry.name);
    }
}
