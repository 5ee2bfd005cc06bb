//! Pages without text: they are noted and counted, and are no failure.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::{folder_with, stderr, stdout, without_models};

const FRONT_MATTER: &str = "---\ntitle: Pumps\ndraft: false\n---\n";

fn run(folder: &Path, args: &[&str]) -> Output {
    without_models(folder).args(args).output().unwrap()
}

/// Indexes `docs`, which must end well, and returns the report.
fn index(folder: &Path, extra: &[&str]) -> Value {
    let args = ["index", "docs", "--into", "x.idx", "--embedder", "none", "--tokenizer", "words", "--json"];
    let output = run(folder, &[&args, extra].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_str(&stdout(&output)).unwrap()
}

/// The counts of a report: documents, without text, left out, unchanged, removed.
fn counts(report: &Value) -> [u64; 5] {
    ["documents", "empty", "skipped", "files_unchanged", "documents_removed"].map(|key| report[key].as_u64().unwrap())
}

/// The documents that a search finds.
fn found(folder: &Path, query: &str) -> Vec<String> {
    let output = run(folder, &["search", query, "--in", "x.idx", "--json"]);
    let answer: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["document"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn pages_without_text_are_noted_and_not_read_again() {
    let folder = folder_with(&[
        ("index.md", FRONT_MATTER),
        ("blank.txt", " \n\t\n"),
        ("comment.html", "<!-- nothing --><body></body>"),
        ("heading.md", "# Pumps"),
        ("pump.md", "The pump was primed."),
        ("rows.jsonl", "{\"id\": \"a\", \"text\": \"\"}\n{\"id\": \"b\", \"text\": \"Valves close.\"}\n"),
    ]);
    let folder = folder.path();
    let args = ["index", "docs", "--into", "y.idx", "--embedder", "none", "--tokenizer", "words"];
    let said = run(folder, &args);
    assert_eq!(said.status.code(), Some(0), "{}", stderr(&said));
    assert!(stderr(&said).contains("4 pages hold no text: docs/blank.txt, docs/comment.html, docs/index.md, ..."));
    let quiet = run(folder, &[&args[..3], &["z.idx", "--quiet"], &args[4..]].concat());
    assert_eq!((quiet.status.code(), stderr(&quiet)), (Some(0), String::new()));

    assert_eq!(counts(&index(folder, &[])), [3, 4, 0, 0, 0]);
    assert_eq!(counts(&index(folder, &[])), [3, 4, 0, 6, 0], "nothing is read again, and counted all the same");
    assert_eq!(counts(&index(folder, &["--prune", "--trust-mtime"])), [3, 4, 0, 6, 0]);
    assert_eq!(found(folder, "draft"), [""; 0]);
    assert_eq!(found(folder, "pumps").len(), 2, "a heading is text");
    // What gets text is indexed like any other page.
    fs::write(folder.join("docs/index.md"), FRONT_MATTER.to_owned() + "\nGaskets leak.\n").unwrap();
    assert_eq!(counts(&index(folder, &[])), [4, 3, 0, 5, 0]);
    assert_eq!(found(folder, "gaskets"), ["docs/index.md"]);
}

#[test]
fn what_was_indexed_of_a_page_goes_with_its_text() {
    let rows = "{\"id\": \"a\", \"text\": \"Gaskets leak.\"}\n{\"id\": \"b\", \"text\": \"Valves close.\"}\n";
    let folder = folder_with(&[("a.md", "Foxes dig."), ("b.md", "Hares run."), ("rows.jsonl", rows)]);
    let folder = folder.path();
    let docs = folder.join("docs");
    assert_eq!(counts(&index(folder, &[])), [4, 0, 0, 0, 0]);
    fs::write(docs.join("a.md"), FRONT_MATTER).unwrap();
    fs::write(docs.join("rows.jsonl"), rows.replace("Gaskets leak.", " ")).unwrap();
    assert_eq!(counts(&index(folder, &[])), [2, 2, 0, 1, 2]);
    assert!(found(folder, "foxes").is_empty() && found(folder, "gaskets").is_empty());
    assert_eq!(found(folder, "valves"), ["b"]);
    // A page that is gone was no document: nothing is left to remove, and the others stay.
    fs::remove_file(docs.join("a.md")).unwrap();
    assert_eq!(counts(&index(folder, &["--prune"])), [2, 1, 0, 2, 0]);
    fs::remove_file(docs.join("b.md")).unwrap();
    assert_eq!(counts(&index(folder, &["--prune"])), [1, 1, 0, 1, 1]);
    assert_eq!(run(folder, &["index", "--verify", "x.idx"]).status.code(), Some(0));
}

#[test]
fn every_command_that_reads_documents_notes_them() {
    let page = "# How do foxes dig?\n\nThey dig with their paws, deep into the soft banks of sand beside the old mill, \
        where nobody walks. They begin at dusk. They end at dawn. They sleep all day.\n";
    let folder = folder_with(&[
        ("index.md", FRONT_MATTER),
        ("empty.md", ""),
        ("a.md", page),
        ("b.md", &page.replace("foxes", "hares")),
    ]);
    let folder = folder.path();
    let from_docs = ["dataset", "from-docs", "docs", "--out", "q.json", "--min-answer-words", "3"];
    let synthetic = ["dataset", "synthetic", "docs", "--out", "s.jsonl", "--sentences", "1", "--parts", "2"];
    for args in [&["segment", "docs"][..], &["segment", "docs", "--format", "json"], &from_docs, &synthetic] {
        let output = run(folder, args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("2 pages hold no text: docs/empty.md, docs/index.md"), "{args:?}");
        assert!(!stdout(&output).contains("draft"), "{args:?}");
    }
    for args in [&from_docs[..], &synthetic] {
        let output = run(folder, &[args, &["--json"]].concat());
        let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
        assert_eq!((report["empty"].as_u64(), report["unreadable"].as_u64()), (Some(2), Some(0)), "{report}");
    }
    // A file that cannot be read is still left out.
    fs::write(folder.join("docs/broken.md"), [0u8, 159, 146, 150, 0]).unwrap();
    let output = run(folder, &["segment", "docs"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
}

#[test]
fn standard_input_without_text_has_one_name() {
    let folder = tempfile::tempdir().unwrap();
    for bytes in [&b""[..], b" \n", b"\xff\xfe", b"\xef\xbb\xbf \n", FRONT_MATTER.as_bytes()] {
        let mut command = without_models(folder.path());
        let output = command.args(["segment", "-"]).write_stdin(bytes).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{bytes:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("1 page holds no text: standard input\n"), "{bytes:?}: {}", stderr(&output));
    }
}

#[test]
fn one_of_a_kind_is_told_as_one() {
    let folder = folder_with(&[("a.md", "Pumps.\n"), ("b.png", "no picture")]);
    let cut = run(folder.path(), &["segment", "docs", "--tokenizer", "words"]);
    assert!(stderr(&cut).contains("1 file that holds no document (pictures"), "{}", stderr(&cut));
    let cut = run(folder.path(), &["segment", "docs", "--tokenizer", "words", "--segmenter", "fixed:words=1"]);
    let rules: Vec<String> = stdout(&cut).lines().filter(|line| line.starts_with("──")).map(str::to_owned).collect();
    assert!(!rules.is_empty() && rules.iter().all(|rule| !rule.contains(" 1 tokens")), "{rules:?}");
    fs::write(folder.path().join("docs/c.md"), "Pumps\n").unwrap();
    let cut = run(folder.path(), &["segment", "docs/c.md", "--tokenizer", "words"]);
    assert!(stdout(&cut).contains("docs/c.md #0 · 1 token\n"), "{}", stdout(&cut));
}
