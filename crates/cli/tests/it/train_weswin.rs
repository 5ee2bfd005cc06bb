//! `pericope train weswin`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::common::{root, stderr, stdout, three_questions, without_models};

/// Takes one step on `own.jsonl` and on these questions.
fn train(folder: &Path, questions: &str, more: &[&str]) -> Output {
    let base = root().join("crates/learn/tests/golden/training").display().to_string();
    let mut command = without_models(folder);
    command.args(["train", "weswin", "--data", "own.jsonl", "--questions", questions, "--no-holdout"]);
    command.args(["--base", &base, "--frozen", "0", "--max-steps", "1", "--json"]).args(more).output().unwrap()
}

#[test]
fn questions_about_what_is_held_out_are_not_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    three_questions(folder.path());
    let write = |file: &str, source: &str| {
        let sentences = ["Bread of flour.", "The dough and the oven.", "The ship.", "A sailor.", source];
        let line = json!({"id": file, "source": source, "sentences": sentences, "boundaries": [2]});
        fs::write(folder.path().join(file), format!("{line}\n")).unwrap();
    };
    // The questions name no source: they are of one named as their file.
    write("own.jsonl", "own");
    write("held.jsonl", "questions");
    let train = |more: &[&str]| train(folder.path(), "questions.json", more);
    let output = train(&["--out", "all"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let report: Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(report["questions"]["train"], 3, "{report}");
    let output = train(&["--out", "apart", "--held-out", "held.jsonl"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("no question is left to train on"), "{}", stderr(&output));
    assert!(!folder.path().join("apart").exists());
}

#[test]
fn questions_about_near_copies_of_what_is_held_out_are_not_trained_on() {
    let folder = tempfile::tempdir().unwrap();
    let sentence = |i: usize| (10 * i..10 * i + 10).map(|w| format!("word{w}")).collect::<Vec<_>>().join(" ") + ".";
    let sentences: Vec<String> = (0..12).map(sentence).collect();
    let write = |file: &str, line: Value| fs::write(folder.path().join(file), format!("{line}\n")).unwrap();
    let answer = json!({"text": "word0", "answer_start": 0});
    let asked = json!([{"id": "q", "question": "Which word?", "answers": [answer]}]);
    let paragraphs = json!([{"context": sentences.join(" "), "qas": asked}]);
    write("asked.json", json!({"version": "1.1", "data": [{"title": "t", "paragraphs": paragraphs}]}));
    let others = ["Bread of flour.", "The dough and the oven.", "The ship.", "A sailor."];
    write("own.jsonl", json!({"id": "own", "source": "own", "sentences": others, "boundaries": [2]}));
    write("held.jsonl", json!({"id": "held", "source": "elsewhere", "sentences": &sentences[1..], "boundaries": [5]}));
    let train = |more: &[&str]| train(folder.path(), "asked.json", more);
    let output = train(&["--out", "all"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let output = train(&["--out", "apart", "--held-out", "held.jsonl"]);
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
    assert!(stderr(&output).contains("no question is left to train on"), "{}", stderr(&output));
}
